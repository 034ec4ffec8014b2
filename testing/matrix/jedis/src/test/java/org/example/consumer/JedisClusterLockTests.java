package org.example.consumer;


import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.RedisCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** The contract with Jedis on a Redis Cluster of three masters. */
class JedisClusterLockTests extends LockRegistryContract {

    private static RedisCluster redis;
    private static JedisRegistries registries;

    @BeforeAll
    static void start() {
        redis = RedisCluster.start();
        registries = JedisRegistries.on(new JedisConnectionFactory(
                new RedisClusterConfiguration(redis.nodes())));
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
