package io.github.lockboot.benchmarks;

import java.time.Duration;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** This library, with one hand-off limit. */
record ThisLibrary(String name, int localHandoffLimit) implements Contender {

    /** Long enough for the first connection of many processes that start at once on few cores. */
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(10);

    @Override
    public Client connect(String host, int port) {
        LettuceConnectionFactory factory = SpringRedis.connect(host, port);
        RedisLockRegistry registry = RedisLockRegistry.builder(factory)
                .commandTimeout(COMMAND_TIMEOUT)
                .localHandoffLimit(localHandoffLimit)
                .build();
        return new Client() {

            @Override
            public Lock lock(String name) {
                return registry.get(name);
            }

            @Override
            public void close() {
                registry.close();
                factory.destroy();
            }
        };
    }
}
