package io.github.lockboot.autoconfigure;

import java.time.Duration;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
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
    void oneRegistryByTwoNamesIsOneLock() {
        withBoth()
                .withInitializer(context -> context.getBeanFactory().registerAlias("reports", "archive"))
                .withBean(TwoNames.class)
                .run(context -> {
                    context.getBean(TwoNames.class).order();
                    context.getBean(TwoNames.class).report();
                });
        assertThat(orders.events()).containsExactly("lock order", "unlock order");
        assertThat(reports.events()).containsExactly("lock report", "unlock report");
    }

    /** The property is for the registry that is made of properties. */
    @Test
    void eachHasADefaultWaitTimeOfItsOwn() {
        withBoth().withPropertyValues("lock.wait-time=1s").run(context -> {
            context.getBean(Work.class).order();
            context.getBean(LockTemplate.class).executeWithoutResult("template", () -> {});
            context.getBean(LockTemplate.class).singleFlight("flight", () -> null, () -> "value");
            context.getBean(Work.class).report();
        });
        assertThat(orders.waits().subList(0, 2)).containsOnly(RecordingLockRegistry.WAIT_TIME);
        assertThat(orders.waits().get(2)).isGreaterThan(Duration.ofSeconds(1));
        assertThat(reports.waits()).containsExactly(RecordingLockRegistry.WAIT_TIME);
    }

    @Test
    void aTemplateOfTheApplicationHasTheWaitTimeThatItSays() {
        withBoth()
                .withBean(LockTemplate.class, () -> new LockTemplate(orders, Duration.ofSeconds(1)))
                .run(context -> {
                    context.getBean(Work.class).order();
                    context.getBean(Work.class).report();
                });
        assertThat(orders.waits()).containsExactly(Duration.ofSeconds(1));
        assertThat(reports.waits()).containsExactly(RecordingLockRegistry.WAIT_TIME);
    }

    @Test
    void aRegistryThatIsNoDefaultCandidateStandsBesideOurs() {
        runner.withPropertyValues("which=second")
                .withUserConfiguration(SecondRedis.class)
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .getBeanNames(LockRegistry.class)
                        .containsExactlyInAnyOrder("lockbootLockRegistry", "second", "reports"));
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

    static class TwoNames {
        @DistributedLock(name = "order")
        @DistributedLock(name = "order", registry = "orders")
        void order() {}

        @DistributedLock(name = "report", registry = "reports")
        @DistributedLock(name = "report", registry = "archive")
        void report() {}
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
