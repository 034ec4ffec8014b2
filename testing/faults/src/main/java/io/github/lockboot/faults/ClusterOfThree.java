package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.RedisAddress;

/** Three masters with a replica each. */
final class ClusterOfThree implements Replicated {

    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final RedisCluster cluster = RedisCluster.start(1);

    @Override
    public RedisAddress address(int worker) {
        return RedisAddress.cluster(cluster.nodes());
    }

    @Override
    public RedisServer serverOf(String key) {
        return cluster.ownerOf(key);
    }

    @Override
    public List<RedisServer> masters() {
        return cluster.masters();
    }

    /** Moves the slot of the key to the next master. */
    void moveSlotOf(String key) {
        List<RedisServer> masters = cluster.masters();
        cluster.moveSlotOf(key, masters.get((masters.indexOf(cluster.ownerOf(key)) + 1) % masters.size()));
    }

    @Override
    public List<RedisServer> replicasOf(RedisServer master) {
        return cluster.replicasOf(master);
    }

    @Override
    public void failOver(String key) {
        cluster.failOver(cluster.ownerOf(key), key, PATIENCE);
    }

    @Override
    public void awaitSuccessor(RedisServer old, String key) {
        cluster.awaitOwnerOtherThan(old, key, PATIENCE);
    }

    @Override
    public void awaitWhole() {
        cluster.awaitWhole(PATIENCE);
    }

    @Override
    public void close() {
        cluster.close();
    }
}
