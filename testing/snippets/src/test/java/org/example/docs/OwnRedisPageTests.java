package org.example.docs;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.test.context.DynamicPropertyRegistrar;
import org.springframework.test.context.support.DynamicPropertyRegistrarBeanInitializer;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/operations.md shows of a Redis for locks only. */
class OwnRedisPageTests {

    private static RedisServer cache;
    private static RedisServer locks;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RedisAutoConfiguration.class, LockAutoConfiguration.class));

    @BeforeAll
    static void start() {
        cache = RedisServer.start();
        locks = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        cache.close();
        locks.close();
    }

    @Test
    void thePropertiesOfThePageGiveLocksTheirOwn() {
        runner.withPropertyValues(
                        "spring.config.location="
                                + Page.ROOT
                                        .resolve("testing/snippets/src/test/resources/snippets/own-redis.yml")
                                        .toUri(),
                        "CACHE_REDIS=" + cache.uri(),
                        "LOCK_REDIS=" + locks.uri())
                .withInitializer(new ConfigDataApplicationContextInitializer())
                .run(OwnRedisPageTests::assertEachOnItsServer);
    }

    @Test
    void aRegistrarOfATestSetsThem() {
        runner.withPropertyValues("spring.data.redis.url=" + cache.uri())
                .withBean(DynamicPropertyRegistrarBeanInitializer.class)
                .withBean("lockRedis", Container.class, Container::new)
                .withUserConfiguration(LockRedis.class)
                .run(OwnRedisPageTests::assertEachOnItsServer);
    }

    private static void assertEachOnItsServer(ApplicationContext context) {
        context.getBean(StringRedisTemplate.class).opsForValue().set("data", "cached");
        NamedLock lock = context.getBean(LockRegistry.class).get("a");
        lock.lock();
        assertThat(cache.command("EXISTS", "data", "lock:a")).isEqualTo(1L);
        assertThat(locks.command("EXISTS", "data", "lock:a")).isEqualTo(1L);
        assertThat(locks.command("EXISTS", "lock:a")).isEqualTo(1L);
        lock.unlock();
    }

    /** In place of one that needs a Docker engine. */
    static class Container {

        String getHost() {
            return locks.host();
        }

        int getFirstMappedPort() {
            return locks.port();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LockRedis {

        // tag::testcontainers
        @Bean
        DynamicPropertyRegistrar lockRedisAddress(Container lockRedis) { // such as GenericContainer<?>
            return properties -> {
                properties.add("lock.redis.host", lockRedis::getHost);
                properties.add("lock.redis.port", lockRedis::getFirstMappedPort);
            };
        }
        // end::testcontainers
    }
}
