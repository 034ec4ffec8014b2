package io.github.lockboot.faults;

import java.util.List;

import io.github.lockboot.fixture.RedisServer;

/** A Redis with replicas, one of which takes over when a master is gone. */
interface Replicated extends Deployment {

    List<RedisServer> replicasOf(RedisServer master);

    /** Has a replica promoted while the master that has the key is well; returns when all know, that master too. */
    void failOver(String key);

    /** Waits until all know another server than this as the master that has the key. */
    void awaitSuccessor(RedisServer old, String key);

    /** Waits until all servers are there, the replicas are in step and another failover may begin. */
    void awaitWhole();
}
