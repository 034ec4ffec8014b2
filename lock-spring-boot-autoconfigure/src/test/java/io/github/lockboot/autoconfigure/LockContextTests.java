package io.github.lockboot.autoconfigure;

import java.time.Duration;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockLostException;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.internal.Troubleshooting;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a method is told about its lock. */
class LockContextTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(Inner.class)
            .withBean(Told.class);

    @Test
    void theLockIsToldInsideTheMethodAndForgottenAfterwards() {
        runner.run(context -> context.getBean(Told.class).plain());
        assertThat(LockContext.find()).isEmpty();
    }

    @Test
    void theLockIsForgottenAfterAFailure() {
        runner.run(context ->
                assertThatThrownBy(() -> context.getBean(Told.class).failing()).hasMessage("body"));
        assertThat(LockContext.find()).isEmpty();
    }

    @Test
    void aKeptLockIsToldToo() {
        runner.run(
                context -> assertThatThrownBy(() -> context.getBean(Told.class).kept())
                        .isInstanceOf(KeptException.class)
                        .hasSuppressedException(new LockLostException("kept", 101, "test")));
    }

    @Test
    void theInnermostLockIsTheCurrentOneAndOthersAreFoundByName() {
        runner.run(context -> context.getBean(Told.class).outer());
    }

    @Test
    void allElementsAreFoundByName() {
        runner.run(context -> context.getBean(Told.class).elements("b", "a"));
    }

    @Test
    void outsideThereIsNone() {
        assertThatIllegalStateException()
                .isThrownBy(LockContext::current)
                .withMessageStartingWith("no @DistributedLock method runs on thread ");
        assertThatIllegalStateException()
                .isThrownBy(() -> LockContext.current("x"))
                .withMessageEndingWith(
                        "the call bypassed the proxy, as a call within the same bean does, or locking is disabled (lock.enabled=false)");
        assertThatIllegalStateException().isThrownBy(LockAssert::assertLocked);
    }

    @Test
    void theTokenReplacesTheArgument() {
        runner.run(context -> {
            Told told = context.getBean(Told.class);
            assertThat(told.token("id", 0)).isEqualTo(7);
            assertThat(told.tokenOfLease("id", null)).isGreaterThan(100);
        });
    }

    @Test
    void theParameterMayBeMarkedInTheInterface() {
        runner.withBean(Writing.class)
                .run(context ->
                        assertThat(context.getBean(Writer.class).write(0)).isEqualTo(7));
    }

    @Test
    void theCallersArgumentsAreLeftAsTheyAre() {
        Object[] args = {"id", 0L};
        runner.run(context -> Told.class
                .getDeclaredMethod("token", String.class, long.class)
                .invoke(context.getBean(Told.class), args));
        assertThat(args).containsExactly("id", 0L);
    }

    @Test
    void withoutALockThereIsNoToken() {
        runner.run(context -> {
            Told told = context.getBean(Told.class);
            assertThat(told.tokenIf(true, 1L)).isEqualTo(7);
            assertThat(told.tokenIf(false, 1L)).isNull();
        });
    }

    @Test
    void aMethodCanInsistOnItsLock() {
        runner.run(context -> {
            context.getBean(Told.class).insisting();
            assertThatIllegalStateException()
                    .isThrownBy(() -> context.getBean(Told.class).insistingWithoutAnnotation())
                    .withMessageContaining(
                            "the call bypassed the proxy, as a call within the same bean does, or locking is disabled (lock.enabled=false)");
            assertThatIllegalStateException()
                    .isThrownBy(() -> context.getBean(Told.class).insistingAfterALoss())
                    .withMessage("lock 'lost\\u000aname' is no longer held, because it was lost: end the method; see "
                            + Troubleshooting.PAGE + "locklostexception");
        });
    }

    interface Writer {
        @DistributedLock(name = "write")
        long write(@FencingToken long token);
    }

    static class Writing implements Writer {
        @Override
        public long write(long token) {
            return token;
        }
    }

    static class Inner {
        @DistributedLock(name = "inner")
        void run() {
            assertThat(LockContext.current().name()).isEqualTo("inner");
            assertThat(LockContext.current("outer").name()).isEqualTo("outer");
            LockAssert.assertLocked("outer");
        }
    }

    static class Told {

        private final RecordingLockRegistry registry;
        private final Inner inner;

        Told(RecordingLockRegistry registry, Inner inner) {
            this.registry = registry;
            this.inner = inner;
        }

        @DistributedLock(name = "plain")
        void plain() {
            LockContext context = LockContext.current();
            assertThat(context.name()).isEqualTo("plain");
            assertThat(context.fencingToken()).isEqualTo(7);
            assertThat(context.remainingLease()).isEqualTo(Duration.ofSeconds(20));
            assertThat(context.isValid()).isTrue();
        }

        @DistributedLock(name = "failing")
        void failing() {
            throw new IllegalStateException("body");
        }

        @DistributedLock(name = "kept", keepFor = "1m")
        void kept() {
            assertThat(LockContext.current().name()).isEqualTo("kept");
            assertThat(LockContext.current().fencingToken()).isEqualTo(101);
            assertThat(LockContext.current().remainingLease()).isEqualTo(Duration.ofSeconds(20));
            registry.lose("kept");
            assertThat(LockContext.current().isValid()).isFalse();
            assertThat(LockContext.current().remainingLease()).isZero();
            throw new KeptException();
        }

        @DistributedLock(name = "outer")
        void outer() {
            inner.run();
            assertThat(LockContext.current().name()).isEqualTo("outer");
        }

        @DistributedLock(key = "#ids", perElement = true)
        void elements(String... ids) {
            assertThat(LockContext.current().name()).isEqualTo("b");
            assertThat(LockContext.current("a").fencingToken()).isEqualTo(7);
            assertThatIllegalStateException()
                    .isThrownBy(() -> LockContext.current("c"))
                    .withMessageStartingWith("no @DistributedLock method runs under lock 'c' on thread ")
                    .withMessageEndingWith(", but under 'b': pass the whole lock name, key included");
        }

        @DistributedLock(key = "#id")
        long token(String id, @FencingToken long token) {
            return token;
        }

        @DistributedLock(key = "#id", keepFor = "1m")
        Long tokenOfLease(String id, @FencingToken @Nullable Long token) {
            return token;
        }

        @DistributedLock(name = "if", condition = "#locked")
        @Nullable
        Long tokenIf(boolean locked, @FencingToken @Nullable Long token) {
            return token;
        }

        @DistributedLock(name = "insisting")
        void insisting() {
            LockAssert.assertLocked();
            LockAssert.assertLocked("insisting");
        }

        void insistingWithoutAnnotation() {
            LockAssert.assertLocked();
        }

        @DistributedLock(name = "lost\nname")
        void insistingAfterALoss() {
            registry.lose("lost\nname");
            LockAssert.assertLocked();
        }
    }

    static class KeptException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
