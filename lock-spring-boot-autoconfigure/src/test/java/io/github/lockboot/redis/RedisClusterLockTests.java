package io.github.lockboot.redis;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.RedisCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

/** The contract on a Redis Cluster of three masters. */
@Tag("full")
class RedisClusterLockTests extends LockRegistryContract {

    private static RedisCluster cluster;
    private static TestRegistries registries;
    private static RedisLockRegistry one;
    private static RedisLockRegistry other;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(0);
        registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
        one = GrantChannels.open(registries.connected());
        other = GrantChannels.open(registries.connected());
    }

    @AfterAll
    static void stop() {
        registries.close();
        cluster.close();
    }

    @Override
    protected LockRegistry registry() {
        return one;
    }

    @Override
    protected LockRegistry otherRegistry() {
        return other;
    }
}
