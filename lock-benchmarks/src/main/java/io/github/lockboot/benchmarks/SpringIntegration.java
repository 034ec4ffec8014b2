package io.github.lockboot.benchmarks;

import java.util.concurrent.locks.Lock;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Spring Integration's registry, with its defaults, in one of its two kinds. */
record SpringIntegration(String name, RedisLockType type) implements Contender {

    @Override
    public Client connect(String host, int port) {
        LettuceConnectionFactory factory = SpringRedis.connect(host, port);
        RedisLockRegistry registry = new RedisLockRegistry(factory, "spring-integration-" + type);
        registry.setRedisLockType(type);
        return new Client() {

            @Override
            public Lock lock(String name) {
                return registry.obtain(name);
            }

            @Override
            public void close() {
                registry.destroy();
                factory.destroy();
            }
        };
    }
}
