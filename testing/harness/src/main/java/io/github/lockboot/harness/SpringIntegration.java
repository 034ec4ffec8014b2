package io.github.lockboot.harness;

import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * Spring Integration's registry, in one of its two kinds. Its locks do not tell their holder of a loss before the
 * release.
 *
 * @param timing null for its defaults, by which nothing is renewed
 */
public record SpringIntegration(
        String name, RedisLockType type, @Nullable Timing timing) implements Contender {

    @Override
    public String key(String lock) {
        return registryKey() + ":" + lock;
    }

    private String registryKey() {
        return "spring-integration-" + type;
    }

    @Override
    public String settings() {
        return type + (timing == null ? "" : ", renewed: " + timing);
    }

    @Override
    public Client connect(RedisAddress redis) {
        ThreadPoolTaskScheduler renewal = new ThreadPoolTaskScheduler();
        LettuceConnectionFactory factory;
        RedisLockRegistry registry;
        if (timing == null) {
            factory = redis.forSpring();
            registry = new RedisLockRegistry(factory, registryKey());
        } else {
            renewal.setDaemon(true);
            renewal.initialize();
            factory = redis.forSpring(timing.commandTimeout());
            registry = new RedisLockRegistry(factory, registryKey(), timing.lease());
            registry.setRenewalTaskScheduler(renewal);
        }
        registry.setRedisLockType(type);
        return new Client() {

            @Override
            public Lock lock(String name) {
                return registry.obtain(name);
            }

            @Override
            public void close() {
                registry.destroy();
                renewal.shutdown();
                factory.destroy();
            }
        };
    }
}
