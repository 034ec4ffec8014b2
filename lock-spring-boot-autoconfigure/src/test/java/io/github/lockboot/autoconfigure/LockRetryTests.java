package io.github.lockboot.autoconfigure;

import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.aop.InvalidLockDefinitionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.CircuitBreaker;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.RetryConfiguration;
import org.springframework.retry.annotation.Retryable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Retries of Spring Retry and of Spring Framework 7 on methods with a lock. */
class LockRetryTests {

    private static final String KEEPS =
            ": has keepFor and is retried outside its lock, so a failed call keeps the lock and refuses its own retry:"
                    + " write keepOn = KeepOn.SUCCESS, or put @Retryable on a method of another bean that this one calls";
    private static final String KEEPS_JOB =
            ": has atLeastFor and is retried outside its lock, so a failed run keeps the lock and skips its own retry:"
                    + " put @Retryable on a method of another bean that this one calls";

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    /** The retry finds the lock kept by the attempt before, and a skipped job returns as if it had run. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                Kept.class,
                KeptJob.class,
                OfClass.class,
                OfInterface.class,
                Composed.class,
                OneOfSeveral.class,
            })
    void aLockThatIsKeptInsideARetryIsRefused(Class<?> bean) {
        runner.withUserConfiguration(RetriesFirst.class).withBean(bean).run(context -> assertRefused(context, bean));
    }

    @Test
    void aLazyOneIsRefused() {
        runner.withUserConfiguration(RetriesFirst.class)
                .withBean(Kept.class, Kept::new, definition -> definition.setLazyInit(true))
                .run(context -> assertRefused(context, Kept.class));
    }

    @Test
    void aLockThatTheApplicationMovesBehindRetriesIsRefused() {
        runner.withUserConfiguration(RetriesLast.class)
                .withPropertyValues("lock.aop.order=" + Ordered.LOWEST_PRECEDENCE)
                .withBean(Kept.class)
                .run(context -> assertRefused(context, Kept.class));
    }

    @ParameterizedTest
    @ValueSource(classes = {KeptBySpring.class, JobOfSpring.class})
    void aLockThatIsKeptInsideARetryOfSpringFramework7IsRefused(Class<?> bean) {
        Class<? extends Annotation> retryable = Framework7.annotation("Retryable");
        runner.withBean(Framework7.postProcessorOf(retryable))
                .withBean(Framework7.subclass(bean, "run", Framework7.plain(retryable)))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidLockDefinitionException.class)
                        .hasMessageContaining(bean == KeptBySpring.class ? KEEPS : KEEPS_JOB));
    }

    private static void assertRefused(AssertableApplicationContext context, Class<?> bean) {
        assertThat(context)
                .getFailure()
                .isInstanceOf(InvalidLockDefinitionException.class)
                .hasMessageContaining(bean.getName() + ".run()" + (bean == KeptJob.class ? KEEPS_JOB : KEEPS));
    }

    @Test
    void aLockThatAFailureReleasesIsTakenAgainByTheRetry() {
        runner.withUserConfiguration(RetriesFirst.class)
                .withBean(KeptOnSuccess.class)
                .run(context -> context.getBean(KeptOnSuccess.class).run());
        assertThat(registry.events()).containsExactly("lock kept", "unlock kept", "lock kept", "keep kept");
    }

    @Test
    void aLockThatIsNotKeptIsTakenAgainByTheRetry() {
        runner.withUserConfiguration(RetriesFirst.class)
                .withBean(NotKept.class)
                .run(context -> context.getBean(NotKept.class).run());
        assertThat(registry.events()).containsExactly("lock plain", "unlock plain", "lock plain", "unlock plain");
    }

    @Test
    void aLockThatIsNotKeptIsTakenAgainByTheRetryOfSpringFramework7() {
        Class<? extends Annotation> retryable = Framework7.annotation("Retryable");
        runner.withBean(Framework7.postProcessorOf(retryable))
                .withBean(Framework7.subclass(FailsOnce.class, "run", Framework7.plain(retryable)))
                .run(context -> context.getBean(FailsOnce.class).run());
        assertThat(registry.events()).containsExactly("lock once", "unlock once", "lock once", "unlock once");
    }

    /** As by default. */
    @Test
    void aRetryInsideTheLockKeepsIt() {
        runner.withUserConfiguration(RetriesLast.class).withBean(Kept.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThatThrownBy(context.getBean(Kept.class)::run).hasMessage("attempt 3");
        });
        assertThat(registry.events()).containsExactly("lock kept", "keep kept");
    }

    /** Its retry is a later call of its caller. */
    @ParameterizedTest
    @ValueSource(classes = {Stateful.class, StatefulInARetriedClass.class, Broken.class})
    void whatIsNotRetriedAtOnceIsNotRefused(Class<?> bean) {
        runner.withUserConfiguration(RetriesFirst.class)
                .withBean(bean)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void anAnnotationWithoutEffectIsNotRefused() {
        runner.withBean(Kept.class).run(context -> assertThat(context).hasNotFailed());
    }

    @EnableRetry(order = Ordered.HIGHEST_PRECEDENCE)
    private static final class First {}

    @EnableRetry
    private static final class Last {}

    @Configuration(proxyBeanMethods = false)
    static class RetriesFirst {
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static RetryConfiguration retries() {
            return Retries.of(First.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class RetriesLast {
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static RetryConfiguration retries() {
            return Retries.of(Last.class);
        }
    }

    static class Kept {

        private int attempts;

        @Retryable(backoff = @Backoff(delay = 1))
        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {
            throw new IllegalStateException("attempt " + ++attempts);
        }
    }

    static class KeptOnSuccess {

        private int attempts;

        @Retryable(backoff = @Backoff(delay = 1))
        @DistributedLock(name = "kept", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        public void run() {
            if (++attempts == 1) {
                throw new IllegalStateException("attempt 1");
            }
        }
    }

    static class NotKept {

        private int attempts;

        @Retryable(backoff = @Backoff(delay = 1))
        @DistributedLock(name = "plain")
        public void run() {
            if (++attempts == 1) {
                throw new IllegalStateException("attempt 1");
            }
        }
    }

    public static class FailsOnce {

        private int attempts;

        @DistributedLock(name = "once")
        public void run() {
            if (++attempts == 1) {
                throw new IllegalStateException("attempt 1");
            }
        }
    }

    static class KeptJob {
        @Retryable
        @ScheduledLock(name = "job", atLeastFor = "1m")
        public void run() {}
    }

    @Retryable
    static class OfClass {
        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {}
    }

    interface Retried {
        @Retryable
        void run();
    }

    static class OfInterface implements Retried {
        @Override
        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {}
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Retryable
    @DistributedLock(name = "composed", keepFor = "1m")
    @interface OnceAMinute {}

    static class Composed {
        @OnceAMinute
        public void run() {}
    }

    static class OneOfSeveral {
        @Retryable
        @DistributedLock(name = "kept", keepFor = "1m")
        @DistributedLock(name = "plain")
        public void run() {}
    }

    static class Stateful {
        @Retryable(stateful = true)
        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {}
    }

    /** The annotation of the method is the one that counts. */
    @Retryable
    static class StatefulInARetriedClass {
        @Retryable(stateful = true)
        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {}
    }

    static class Broken {
        @CircuitBreaker
        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {}
    }

    public static class KeptBySpring {
        @DistributedLock(name = "kept", keepFor = "1m")
        public void run() {}
    }

    public static class JobOfSpring {
        @ScheduledLock(name = "job", atLeastFor = "1m")
        public void run() {}
    }
}
