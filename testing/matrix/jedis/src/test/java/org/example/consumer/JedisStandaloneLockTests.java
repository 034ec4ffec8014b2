package org.example.consumer;


import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The contract with Jedis on a single server. */
class JedisStandaloneLockTests extends LockRegistryContract {

    private static RedisServer redis;
    private static JedisRegistries registries;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        registries = JedisRegistries.on(new JedisConnectionFactory(
                new RedisStandaloneConfiguration(redis.host(), redis.port())));
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
