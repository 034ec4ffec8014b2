package io.github.lockboot.faults;

import java.util.concurrent.locks.Lock;

import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Spring Integration's registry, with its spin locks and with renewal, as one application instance. */
final class SpringIntegrationClient implements Contestant.Client {

    static final String REGISTRY_KEY = "spring-integration";

    private final LettuceConnectionFactory factory;
    private final ThreadPoolTaskScheduler renewal = new ThreadPoolTaskScheduler();
    private final RedisLockRegistry registry;

    SpringIntegrationClient(RedisAddress redis) {
        factory = new LettuceConnectionFactory(
                redis.forSpring(),
                LettuceClientConfiguration.builder()
                        .commandTimeout(Terms.COMMAND_TIMEOUT)
                        .build());
        factory.afterPropertiesSet();
        factory.start();
        renewal.setDaemon(true);
        renewal.initialize();
        registry = new RedisLockRegistry(factory, REGISTRY_KEY, Terms.TTL);
        registry.setRenewalTaskScheduler(renewal);
    }

    @Override
    public Lock lock(String name) {
        return registry.obtain(name);
    }

    /** Its locks do not tell their holder of a loss before the release. */
    @Override
    public boolean isHeld(Lock lock) {
        return true;
    }

    @Override
    public void close() {
        registry.destroy();
        renewal.shutdown();
        factory.destroy();
    }
}
