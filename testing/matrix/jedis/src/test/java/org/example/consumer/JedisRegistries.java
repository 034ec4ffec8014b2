package org.example.consumer;

import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Two registries that listen, on a Jedis connection factory as Spring Boot makes it. */
record JedisRegistries(JedisConnectionFactory factory, RedisLockRegistry one, RedisLockRegistry other) {

    static JedisRegistries on(JedisConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return new JedisRegistries(factory, listening(factory), listening(factory));
    }

    private static RedisLockRegistry listening(JedisConnectionFactory factory) {
        return GrantChannels.open(RedisLockRegistry.builder(factory).build());
    }

    void close() {
        one.close();
        other.close();
        factory.destroy();
    }
}
