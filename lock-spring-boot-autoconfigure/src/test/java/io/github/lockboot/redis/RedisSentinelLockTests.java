package io.github.lockboot.redis;

import java.util.Set;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.RedisSentinel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;

/** The contract on a master that Sentinels watch. */
@Tag("full")
class RedisSentinelLockTests extends LockRegistryContract {

    private static RedisSentinel sentinel;
    private static TestRegistries registries;
    private static RedisLockRegistry one;
    private static RedisLockRegistry other;

    @BeforeAll
    static void start() {
        sentinel = RedisSentinel.start(1);
        registries =
                TestRegistries.on(new RedisSentinelConfiguration(sentinel.masterName(), Set.copyOf(sentinel.nodes())));
        one = GrantChannels.open(registries.connected());
        other = GrantChannels.open(registries.connected());
    }

    @AfterAll
    static void stop() {
        registries.close();
        sentinel.close();
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
