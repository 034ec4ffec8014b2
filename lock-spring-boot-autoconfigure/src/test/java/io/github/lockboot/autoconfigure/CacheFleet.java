package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Instances of an application with a cache on one Redis, and threads that use them; ended together. */
final class CacheFleet implements AutoCloseable {

    static final String PRODUCTS = "lock.cache.sync=products";

    private final RedisServer server = RedisServer.start();
    private final List<ConfigurableApplicationContext> instances = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();

    RedisServer server() {
        return server;
    }

    ConfigurableApplicationContext instance(String... properties) {
        return instance(Application.class, properties);
    }

    /** One that has connected: its first command loads classes. */
    ConfigurableApplicationContext instance(Class<?> application, String... properties) {
        ConfigurableApplicationContext instance = start(application, server.host(), server.port(), properties);
        Actor.await("connected", () -> canLock(instance.getBean(LockRegistry.class)));
        return instance;
    }

    ConfigurableApplicationContext start(Class<?> application, String host, int port, String... properties) {
        ConfigurableApplicationContext instance = new SpringApplicationBuilder(application)
                .properties(
                        "spring.main.web-application-type=none",
                        "spring.main.banner-mode=off",
                        "spring.main.log-startup-info=false",
                        "lock.startup-check=off",
                        "lock.shutdown-grace-period=0")
                .run(Stream.concat(Stream.of("test.host=" + host, "test.port=" + port), Stream.of(properties))
                        .map(property -> "--" + property)
                        .toArray(String[]::new));
        instances.add(instance);
        return instance;
    }

    private static boolean canLock(LockRegistry registry) {
        try {
            registry.get("first").lock();
            registry.get("first").unlock();
            return true;
        } catch (LockUnavailableException notYet) {
            return false;
        }
    }

    static Cache products(ConfigurableApplicationContext instance) {
        return cache(instance, "products");
    }

    static Cache cache(ConfigurableApplicationContext instance, String name) {
        return instance.getBean(CacheManager.class).getCache(name);
    }

    Actor actor() {
        Actor actor = new Actor();
        actors.add(actor);
        return actor;
    }

    long count(String... commands) {
        Map<String, Long> calls;
        try (RedisProbe probe = server.probe()) {
            calls = probe.commandCalls();
        }
        return Stream.of(commands)
                .mapToLong(command -> calls.getOrDefault(command, 0L))
                .sum();
    }

    /** The commands of locks. */
    long scripts() {
        return count("evalsha", "eval");
    }

    void awaitQueued(String lock, int count) {
        Actor.await(
                count + " queued for " + lock,
                () -> StoredLock.at(server, "lock:" + lock).queue().size() == count);
    }

    @Override
    public void close() {
        actors.forEach(Actor::close);
        instances.forEach(ConfigurableApplicationContext::close);
        server.close();
    }

    /** The caches of these tests, in memory of nobody but Redis. */
    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @ImportAutoConfiguration(LockAutoConfiguration.class)
    static class Application {

        @Bean
        LettuceConnectionFactory connectionFactory(Environment environment) {
            return new LettuceConnectionFactory(
                    environment.getRequiredProperty("test.host"),
                    environment.getRequiredProperty("test.port", Integer.class));
        }

        /** Where a test has locks of another way to Redis than the cache. */
        @Bean(defaultCandidate = false)
        @Qualifier("distributedLock")
        @ConditionalOnProperty("test.lock-port")
        LettuceConnectionFactory lockConnectionFactory(Environment environment) {
            return new LettuceConnectionFactory(
                    environment.getRequiredProperty("test.host"),
                    environment.getRequiredProperty("test.lock-port", Integer.class));
        }

        @Bean
        RedisCacheManager cacheManager(RedisConnectionFactory connections, Environment environment) {
            RedisCacheManager.RedisCacheManagerBuilder caches = RedisCacheManager.builder(connections)
                    .cacheDefaults(RedisCacheConfiguration.defaultCacheConfig().entryTtl(Duration.ofMinutes(10)));
            return environment.getProperty("test.transaction-aware", Boolean.class, false)
                    ? caches.transactionAware().build()
                    : caches.build();
        }
    }
}
