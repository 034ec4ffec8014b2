package io.github.lockboot.autoconfigure;

import java.lang.annotation.Annotation;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.RetryConfiguration;
import org.springframework.retry.annotation.Retryable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Retries of Spring Retry and of Spring Framework 7 on methods with a lock. */
class LockRetryTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry);

    /** docs/annotation.md says so, with what to write instead. */
    @Test
    void aRetryOutsideTheLockIsRefusedWhileTheFirstAttemptKeepsIt() {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class, LockAutoConfiguration.class))
                .withUserConfiguration(RetriesFirst.class)
                .withPropertyValues("lock.type=memory")
                .withBean(Kept.class)
                .run(context -> {
                    Kept kept = context.getBean(Kept.class);
                    assertThatThrownBy(kept::run).isInstanceOf(LockNotAcquiredException.class);
                    assertThat(kept.attempts()).isOne();
                });
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
        @DistributedLock(name = "kept", waitTime = "0", keepFor = "1m")
        public void run() {
            throw new IllegalStateException("attempt " + ++attempts);
        }

        public int attempts() {
            return attempts;
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
}
