package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.harness.RedisAddress;

/** One master, two replicas and three Sentinels. */
final class SentinelGroup implements Replicated {

    private static final int REPLICAS = 2;
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final RedisSentinel group = RedisSentinel.start(REPLICAS);

    @Override
    public RedisAddress address(int worker) {
        return RedisAddress.sentinel(group.masterName(), group.nodes());
    }

    @Override
    public RedisServer serverOf(String key) {
        return group.master();
    }

    @Override
    public List<RedisServer> masters() {
        return List.of(group.master());
    }

    @Override
    public List<RedisServer> replicasOf(RedisServer master) {
        return group.replicas();
    }

    @Override
    public void failOver(String key) {
        group.failOver(PATIENCE);
        group.awaitWhole(PATIENCE); // with the old master as a replica
    }

    @Override
    public void awaitSuccessor(RedisServer old, String key) {
        group.awaitMasterOtherThan(old, PATIENCE);
    }

    @Override
    public void awaitWhole() {
        group.awaitWhole(PATIENCE);
    }

    @Override
    public void close() {
        group.close();
    }
}
