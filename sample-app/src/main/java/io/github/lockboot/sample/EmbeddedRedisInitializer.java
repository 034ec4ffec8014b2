package io.github.lockboot.sample;

import java.util.Map;
import java.util.Set;

import io.github.lockboot.fixture.RedisServer;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/**
 * Starts a Redis server for the application unless its configuration names one, and stops it after every bean of the
 * application is gone.
 */
class EmbeddedRedisInitializer implements ApplicationContextInitializer<GenericApplicationContext> {

    static final String NAME = "embeddedRedis";

    private static final Set<String> ADDRESSES = Set.of("url", "host", "port", "sentinel", "cluster");

    @Override
    public void initialize(GenericApplicationContext context) {
        ConfigurableEnvironment environment = context.getEnvironment();
        if (namesRedis(environment)) {
            return;
        }
        // Ended after every bean, also at Ctrl-C: locks are still released at shutdown.
        RedisServer redis = RedisServer.builder().endedByCaller().start();
        SpringApplication.getShutdownHandlers().add(redis::close);
        context.getDefaultListableBeanFactory().registerDisposableBean(NAME, redis::close);
        environment
                .getPropertySources()
                .addLast(new MapPropertySource(NAME, Map.of("spring.data.redis.url", redis.uri())));
    }

    private static boolean namesRedis(ConfigurableEnvironment environment) {
        return Binder.get(environment)
                .bind("spring.data.redis", Bindable.mapOf(String.class, Object.class))
                .map(redis -> redis.keySet().stream().anyMatch(ADDRESSES::contains))
                .orElse(false);
    }
}
