package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Several registries in one application. */
class LockRegistryChoiceTests {

    private final RecordingLockRegistry orders = new RecordingLockRegistry();
    private final RecordingLockRegistry reports = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(Work.class);

    private ApplicationContextRunner withBoth() {
        return runner.withPropertyValues("which=reports")
                .withBean("orders", LockRegistry.class, () -> orders, bean -> bean.setPrimary(true))
                .withBean("reports", LockRegistry.class, () -> reports);
    }

    @Test
    void theAnnotationNamesTheRegistry() {
        withBoth().run(context -> context.getBean(Work.class).report());
        assertThat(orders.events()).isEmpty();
        assertThat(reports.events()).containsExactly("lock report", "unlock report");
    }

    @Test
    void withoutANameItIsThePrimaryOne() {
        withBoth().run(context -> context.getBean(Work.class).order());
        assertThat(orders.events()).containsExactly("lock order", "unlock order");
        assertThat(reports.events()).isEmpty();
    }

    @Test
    void theSameNameInTwoRegistriesIsTwoLocks() {
        withBoth().run(context -> context.getBean(Work.class).both());
        assertThat(orders.events()).containsExactly("lock both", "unlock both");
        assertThat(reports.events()).containsExactly("lock both", "unlock both");
    }

    @Test
    void aRegistryThatIsNoDefaultCandidateStandsBesideOurs() {
        runner.withPropertyValues("which=second")
                .withUserConfiguration(SecondRedis.class)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .getBeanNames(LockRegistry.class)
                        .containsExactlyInAnyOrder("distributedLockRegistry", "second", "reports"));
    }

    static class Work {
        @DistributedLock(name = "report", registry = "${which}")
        void report() {
            assertThat(LockContext.current().fencingToken()).isEqualTo(7);
        }

        @DistributedLock(name = "order")
        void order() {}

        @DistributedLock(name = "both")
        @DistributedLock(name = "both", registry = "reports")
        void both() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondRedis {

        @Bean
        @Primary
        LettuceConnectionFactory ordersRedis() {
            return redis();
        }

        @Bean
        LettuceConnectionFactory reportsRedis() {
            return redis();
        }

        @Bean(defaultCandidate = false, destroyMethod = "close")
        RedisLockRegistry second(RedisConnectionFactory reportsRedis) {
            return RedisLockRegistry.builder(reportsRedis).build();
        }

        @Bean(defaultCandidate = false)
        RecordingLockRegistry reports() {
            return new RecordingLockRegistry();
        }

        /** Not started, so it connects to nothing. */
        private static LettuceConnectionFactory redis() {
            LettuceConnectionFactory factory = new LettuceConnectionFactory();
            factory.setAutoStartup(false);
            return factory;
        }
    }
}
