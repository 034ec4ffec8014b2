package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** One application with locks on two real servers. */
class TwoRedisServersTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);

    private static RedisServer orders;
    private static RedisServer reports;

    private final ApplicationContextRunner one = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withUserConfiguration(QualifiedFactory.class);

    private final ApplicationContextRunner two = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withUserConfiguration(TwoRegistries.class)
            .withBean(Work.class);

    @BeforeAll
    static void start() {
        orders = RedisServer.start();
        reports = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        orders.close();
        reports.close();
    }

    @Test
    void withoutARegistryTheKeyLiesOnThePrimaryServer() {
        two.run(context ->
                assertThat(context.getBean(Work.class).onThePrimaryOne("a")).containsExactly("orders"));
    }

    @Test
    void theAnnotationsRegistryDecidesOnWhichServerTheKeyLies() {
        two.run(context ->
                assertThat(context.getBean(Work.class).onReports("b")).containsExactly("reports"));
    }

    @Test
    void twoAnnotationsOfOneNameTakeItOnBothServers() {
        two.run(context -> assertThat(context.getBean(Work.class).onBoth("c")).containsExactly("orders", "reports"));
    }

    @Test
    void nothingStaysOnEitherServerAfterTheCall() {
        two.run(context -> {
            context.getBean(Work.class).onBoth("d");
            assertThat(serversWith("d")).isEmpty();
        });
    }

    @Test
    void aLockOfOneServerDoesNotExcludeTheOther() {
        two.run(context -> {
            LockRegistry registry = context.getBean(Injected.class).byQualifier();
            try (Lease lease = registry.acquire("e", ONCE)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(context.getBean(Work.class).onThePrimaryOne("e")).containsExactly("orders", "reports");
            }
        });
    }

    @Test
    void aLockOfOneServerExcludesItsOwnCallers() {
        two.run(context -> {
            LockRegistry registry = context.getBean(Injected.class).byQualifier();
            try (Lease lease = registry.acquire("f", ONCE)) {
                assertThat(lease.isValid()).isTrue();
                assertThatExceptionOfType(LockNotAcquiredException.class)
                        .isThrownBy(() -> context.getBean(Work.class).onReports("f"));
                assertThatExceptionOfType(LockNotAcquiredException.class)
                        .isThrownBy(() -> context.getBean(Work.class).onBoth("f"));
            }
            assertThat(serversWith("f")).isEmpty();
        });
    }

    @Test
    void anInjectionWithoutQualifierGetsThePrimaryServersRegistry() {
        two.run(context -> {
            try (Lease lease = context.getBean(Injected.class).byType().acquire("g", ONCE)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(serversWith("g")).containsExactly("orders");
            }
        });
    }

    @Test
    void aQualifiedConnectionFactoryIsChosenBeforeThePrimaryOne() {
        one.run(context -> {
            try (Lease lease = context.getBean(LockRegistry.class).acquire("h", ONCE)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(serversWith("h")).containsExactly("reports");
            }
        });
    }

    private static List<String> serversWith(String lock) {
        List<String> servers = new ArrayList<>();
        if (has(orders, lock)) {
            servers.add("orders");
        }
        if (has(reports, lock)) {
            servers.add("reports");
        }
        return servers;
    }

    private static boolean has(RedisServer server, String lock) {
        return Long.valueOf(1).equals(server.command("EXISTS", "lock:" + lock));
    }

    private static LettuceConnectionFactory connectionsTo(RedisServer server) {
        return new LettuceConnectionFactory(server.host(), server.port());
    }

    /** Its methods say where their lock is while they run. */
    static class Work {
        @DistributedLock(key = "#id", waitTime = "0")
        List<String> onThePrimaryOne(String id) {
            return serversWith(id);
        }

        @DistributedLock(key = "#id", waitTime = "0", registry = "reportsLocks")
        List<String> onReports(String id) {
            return serversWith(id);
        }

        @DistributedLock(key = "#id", waitTime = "0")
        @DistributedLock(key = "#id", waitTime = "0", registry = "reportsLocks")
        List<String> onBoth(String id) {
            return serversWith(id);
        }
    }

    record Injected(LockRegistry byType, LockRegistry byQualifier) {}

    @Configuration(proxyBeanMethods = false)
    static class TwoRegistries {

        @Bean
        LettuceConnectionFactory ordersRedis() {
            return connectionsTo(orders);
        }

        @Bean(defaultCandidate = false)
        @Qualifier("reports")
        LettuceConnectionFactory reportsRedis() {
            return connectionsTo(reports);
        }

        @Bean(defaultCandidate = false, destroyMethod = "close")
        @Qualifier("reports")
        RedisLockRegistry reportsLocks(@Qualifier("reports") RedisConnectionFactory redis) {
            return RedisLockRegistry.builder(redis).build();
        }

        @Bean
        Injected injected(LockRegistry byType, @Qualifier("reports") LockRegistry byQualifier) {
            return new Injected(byType, byQualifier);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class QualifiedFactory {

        @Bean
        @Primary
        LettuceConnectionFactory ordersRedis() {
            return connectionsTo(orders);
        }

        @Bean
        @Qualifier("distributedLock")
        LettuceConnectionFactory lockRedis() {
            return connectionsTo(reports);
        }
    }
}
