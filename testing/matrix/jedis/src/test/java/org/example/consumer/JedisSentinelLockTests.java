package org.example.consumer;

import java.util.Set;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.RedisSentinel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The contract with Jedis on a master that Sentinels watch. */
class JedisSentinelLockTests extends LockRegistryContract {

    private static RedisSentinel redis;
    private static JedisRegistries registries;

    @BeforeAll
    static void start() {
        redis = RedisSentinel.start();
        registries = JedisRegistries.on(new JedisConnectionFactory(
                new RedisSentinelConfiguration(redis.masterName(), Set.copyOf(redis.nodes()))));
    }

    @AfterAll
    static void stop() {
        registries.close();
        redis.close();
    }

    @Override
    protected LockRegistry registry() {
        return registries.one();
    }

    @Override
    protected LockRegistry otherRegistry() {
        return registries.other();
    }
}
