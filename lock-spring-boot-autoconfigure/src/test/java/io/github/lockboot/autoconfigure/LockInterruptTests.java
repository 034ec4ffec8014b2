package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.IfNotAcquired;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An interrupt is no contention: nobody needs to hold the lock, so the call is neither skipped nor answered by its
 * fallback.
 */
class LockInterruptTests {

    private final MemoryLockRegistry registry = new MemoryLockRegistry();
    private final Actor caller = new Actor();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(MemoryLockRegistry.class, () -> registry)
            .withBean(Work.class);

    enum Kind {
        PLAIN {
            @Override
            void call(Work work) {
                work.plain();
            }
        },
        SKIPPED {
            @Override
            void call(Work work) {
                work.skipped();
            }
        },
        FALLBACK {
            @Override
            void call(Work work) {
                work.elsewhere();
            }
        },
        KEPT {
            @Override
            void call(Work work) {
                work.kept();
            }
        },
        ELEMENTS {
            @Override
            void call(Work work) {
                work.elements(List.of("a", "x"));
            }
        };

        abstract void call(Work work);
    }

    private interface WorkTest {
        void accept(Work work) throws Exception;
    }

    @AfterEach
    void leave() {
        caller.close();
    }

    private void run(WorkTest test) {
        runner.run(context -> test.accept(context.getBean(Work.class)));
    }

    /** @return whether the flag was set, which it is not any more */
    private static boolean isToldAsInterrupt(Kind kind, Work work) {
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> kind.call(work))
                .withMessageMatching("interrupted after waiting \\d+ ms for lock '[ax]'; see https://.*")
                .withCauseInstanceOf(InterruptedException.class);
        return Thread.interrupted();
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptBeforeTheCallIsToldAsOneAlthoughTheLockIsFree(Kind kind) {
        run(work -> assertThat(caller.<Boolean>call(() -> {
                    Thread.currentThread().interrupt();
                    return isToldAsInterrupt(kind, work);
                }))
                .isTrue());
        assertThat(registry.get("a").isLocked()).isFalse();
        assertThat(registry.get("x").isLocked()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void anInterruptDuringTheWaitIsToldAsOne(Kind kind) {
        Lease other = registry.newInstance().steal("x");
        run(work -> {
            CompletableFuture<Boolean> waiting = caller.start(() -> isToldAsInterrupt(kind, work));
            Actor.await("it waits", caller::isWaiting);
            caller.interrupt();
            assertThat(Actor.get(waiting)).isTrue();
        });
        other.close();
        assertThat(registry.get("a").isLocked()).isFalse();
    }

    @Test
    void anInterruptOfAnExecutorsThreadIsToldAsOne() {
        Lease other = registry.newInstance().steal("x");
        RecordingLockListener listener = new RecordingLockListener();
        registry.addListener(listener);
        runner.withBean(TaskExecutor.class, () -> task -> caller.begin(task::run))
                .withBean(AsyncWork.class)
                .withUserConfiguration(AsyncConfiguration.class)
                .run(context -> {
                    CompletableFuture<String> result =
                            context.getBean(AsyncWork.class).run();
                    Actor.await(
                            "it waits with the first",
                            () -> listener.told.contains("requested x") && caller.isWaiting());
                    caller.interrupt();
                    assertThat(result)
                            .failsWithin(Duration.ofSeconds(60))
                            .withThrowableThat()
                            .isInstanceOf(ExecutionException.class)
                            .havingCause()
                            .isInstanceOf(LockNotAcquiredException.class)
                            .withMessageMatching("interrupted after waiting \\d+ ms for lock 'x'; see https://.*")
                            .withCauseInstanceOf(InterruptedException.class);
                    Actor.await("the first is free", () -> !registry.get("a").isLocked());
                });
        other.close();
        Actor.await("nobody takes it", () -> !registry.get("x").isLocked());
    }

    static class Work {

        @DistributedLock(name = "x")
        void plain() {
            throw new AssertionError("it runs");
        }

        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        void skipped() {
            throw new AssertionError("it runs");
        }

        @DistributedLock(name = "x", fallback = "other")
        void elsewhere() {
            throw new AssertionError("it runs");
        }

        void other() {
            throw new AssertionError("it is answered by the fallback");
        }

        @DistributedLock(name = "x", keepFor = "1s", ifNotAcquired = IfNotAcquired.SKIP)
        void kept() {
            throw new AssertionError("it runs");
        }

        @DistributedLock(key = "#names", perElement = true, ifNotAcquired = IfNotAcquired.SKIP)
        void elements(List<String> names) {
            throw new AssertionError("it runs");
        }
    }

    static class AsyncWork {

        @Async
        @DistributedLock(name = "a", ifNotAcquired = IfNotAcquired.SKIP)
        @DistributedLock(name = "x", ifNotAcquired = IfNotAcquired.SKIP)
        public CompletableFuture<String> run() {
            throw new AssertionError("it runs");
        }
    }

    @EnableAsync
    static class AsyncConfiguration {}
}
