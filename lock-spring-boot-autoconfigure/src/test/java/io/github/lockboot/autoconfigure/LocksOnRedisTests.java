package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.redis.RedisLockRegistry;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What the beans do on two real Redis servers. */
class LocksOnRedisTests {

    private static RedisServer server;
    private static RedisServer reportServer;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("lock.startup-check=off") // has connections of its own for a moment
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class));

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        reportServer = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
        reportServer.close();
    }

    @BeforeEach
    void empty() {
        server.command("FLUSHALL");
        reportServer.command("FLUSHALL");
    }

    private static LettuceConnectionFactory connectionsTo(RedisServer redis) {
        return new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(redis.host(), redis.port()),
                LettuceClientConfiguration.builder().clientName("application").build());
    }

    private static long connectionsOfTheApplication() {
        return String.valueOf(server.command("CLIENT", "LIST"))
                .lines()
                .filter(client -> client.contains("name=application"))
                .count();
    }

    private static boolean exists(RedisServer redis, String key) {
        return Long.valueOf(1).equals(redis.command("EXISTS", key));
    }

    /** The application talks to Redis, then locks. */
    private static long connectionsUsedBy(ApplicationContext context) {
        new StringRedisTemplate(context.getBean(RedisConnectionFactory.class)).hasKey("anything");
        return context.getBean(LockTemplate.class).execute("a", LocksOnRedisTests::connectionsOfTheApplication);
    }

    @Test
    void propertiesReachTheLocks() {
        runner.withUserConfiguration(OneRedis.class)
                .withPropertyValues("lock.key-prefix=app:", "lock.ttl=20s", "lock.wait-time=0")
                .run(context -> {
                    LockTemplate template = context.getBean(LockTemplate.class);
                    template.execute("a", () -> {
                        assertThat(StoredLock.at(server, "app:a").holders())
                                .extracting(StoredLock.Holder::ttl)
                                .containsExactly(20_000L);
                        assertThat((Long) server.command("PTTL", "app:a")).isBetween(10_000L, 20_000L);
                        assertThat(context.getBean(LockRegistry.class).get("a").remainingLease())
                                .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
                        return null;
                    });
                    server.command("SET", "app:b", "somebody's");
                    assertThatExceptionOfType(LockNotAcquiredException.class)
                            .isThrownBy(() -> template.execute("b", () -> null));
                });
    }

    @Test
    void locksHaveAConnectionOfTheirOwn() {
        runner.withUserConfiguration(OneRedis.class)
                .run(context -> assertThat(connectionsUsedBy(context)).isEqualTo(2));
    }

    @Test
    void whatARegistrySharesWithTheApplicationsClientOutlivesIt() {
        ClientResources resources = DefaultClientResources.create();
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(server.host(), server.port()),
                LettuceClientConfiguration.builder().clientResources(resources).build());
        connections.afterPropertiesSet();
        connections.start();
        for (int i = 0; i < 2; i++) {
            try (RedisLockRegistry registry =
                    RedisLockRegistry.builder(connections).build()) {
                registry.get("a").lock();
                registry.get("a").unlock();
            }
            resources.timer().newTimeout(timeout -> {}, 1, TimeUnit.MINUTES).cancel();
            assertThat(resources.eventExecutorGroup().isShuttingDown()).isFalse();
        }
        connections.destroy();
        resources.shutdown();
    }

    @Test
    void aFactoryQualifiedForLocksIsUsedAsItIs() {
        runner.withUserConfiguration(RedisForLocks.class)
                .run(context -> assertThat(connectionsUsedBy(context)).isEqualTo(1));
    }

    @Test
    void aSecondRegistryStandsBesideTheFirst() {
        runner.withUserConfiguration(OneRedis.class, SecondRegistry.class, Reports.class)
                .run(context -> {
                    assertThat(context).getBeans(LockRegistry.class).hasSize(2);
                    context.getBean(Reports.class).template.execute("a", () -> {
                        assertThat(exists(reportServer, "lock:a")).isTrue();
                        assertThat(exists(server, "lock:a")).isFalse();
                        return null;
                    });
                    context.getBean("lockbootLockTemplate", LockTemplate.class).execute("b", () -> {
                        assertThat(exists(server, "lock:b")).isTrue();
                        assertThat(exists(reportServer, "lock:b")).isFalse();
                        return null;
                    });
                });
    }

    @Test
    void ofTwoRegistriesOfTheApplicationThePrimaryIsTheTemplates() {
        runner.withUserConfiguration(TwoRegistries.class).run(context -> {
            assertThat(context).doesNotHaveBean("lockbootLockRegistry");
            context.getBean(LockTemplate.class).execute("a", () -> {
                assertThat(exists(reportServer, "lock:a")).isTrue();
                return null;
            });
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class OneRedis {

        @Bean
        LettuceConnectionFactory redisConnectionFactory() {
            return connectionsTo(server);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RedisForLocks {

        @Bean
        @Qualifier("distributedLock")
        LettuceConnectionFactory connectionFactory() {
            return connectionsTo(server);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondRegistry {

        @Bean(defaultCandidate = false)
        @Qualifier("reports")
        LettuceConnectionFactory reportsConnectionFactory() {
            return connectionsTo(reportServer);
        }

        @Bean(defaultCandidate = false)
        @Qualifier("reports")
        RedisLockRegistry reportsLockRegistry(@Qualifier("reports") RedisConnectionFactory connectionFactory) {
            return RedisLockRegistry.builder(connectionFactory).build();
        }

        @Bean(defaultCandidate = false)
        @Qualifier("reports")
        LockTemplate reportsLockTemplate(@Qualifier("reports") LockRegistry registry) {
            return new LockTemplate(registry, Duration.ZERO);
        }
    }

    static class Reports {

        final LockTemplate template;

        Reports(@Qualifier("reports") LockTemplate template) {
            this.template = template;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoRegistries {

        @Bean
        LettuceConnectionFactory one() {
            return connectionsTo(server);
        }

        @Bean
        LettuceConnectionFactory other() {
            return connectionsTo(reportServer);
        }

        @Bean
        RedisLockRegistry oneRegistry(@Qualifier("one") RedisConnectionFactory factory) {
            return RedisLockRegistry.builder(factory).build();
        }

        @Bean
        @Primary
        RedisLockRegistry otherRegistry(@Qualifier("other") RedisConnectionFactory factory) {
            return RedisLockRegistry.builder(factory).build();
        }
    }
}
