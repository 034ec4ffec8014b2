package io.github.lockboot.autoconfigure;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.FencingToken;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.RecordingLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Methods that return a stage: the lock is held until it completes. */
class LockAsyncTests {

    private final RecordingLockRegistry registry = new RecordingLockRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(RecordingLockRegistry.class, () -> registry)
            .withBean(Work.class);

    private interface WorkTest {
        void accept(Work work);
    }

    private void run(WorkTest test) {
        runner.run(context -> test.accept(context.getBean(Work.class)));
    }

    @Test
    void theLockIsHeldUntilTheStageCompletes() {
        run(work -> {
            CompletionStage<String> result = work.stage();
            assertThat(registry.events()).containsExactly("lock x", "body");
            assertThat(result.toCompletableFuture()).isNotDone();
            work.underWay().complete("done");
            assertThat(registry.events()).containsExactly("lock x", "body", "unlock x");
            assertThat(result.toCompletableFuture()).isCompletedWithValue("done");
        });
    }

    @Test
    void theCallersThreadDoesNotWaitForTheLock() {
        registry.answerLater();
        run(work -> {
            CompletableFuture<String> result = work.future(0);
            assertThat(registry.events()).isEmpty();
            registry.answer("x");
            assertThat(registry.events()).containsExactly("lock x", "token 101");
            work.underWay().complete("done");
            assertThat(result).isCompletedWithValue("done");
        });
    }

    @Test
    void theLockIsReleasedWhenTheStageFails() {
        run(work -> {
            CompletableFuture<String> result = work.future(0);
            work.underWay().completeExceptionally(new IllegalStateException("body"));
            assertThat(registry.events()).endsWith("unlock x");
            assertThatThrownBy(result::get)
                    .hasCauseInstanceOf(IllegalStateException.class)
                    .hasRootCauseMessage("body");
        });
    }

    @Test
    void theLockIsReleasedWhenTheMethodFailsBeforeItReturns() {
        run(work -> {
            assertThatThrownBy(() -> work.failing().get()).hasRootCauseMessage("body");
            assertThat(registry.events()).containsExactly("lock x", "unlock x");
        });
    }

    @Test
    void theLockIsReleasedWhenTheResultIsCancelled() {
        run(work -> {
            CompletableFuture<String> result = work.future(0);
            result.cancel(true);
            assertThat(work.underWay()).isCancelled();
            assertThat(registry.events()).containsExactly("lock x", "token 101", "unlock x");
        });
    }

    @Test
    void cancellingWhileItWaitsLeavesTheQueueAndTheBodyDoesNotRun() {
        registry.answerLater();
        run(work -> {
            CompletableFuture<String> result = work.future(0);
            CompletableFuture<?> request = registry.request("x");
            result.cancel(true);
            assertThat(request).isCancelled();
            assertThat(registry.events()).isEmpty();
        });
    }

    @Test
    void cancellingWhileItWaitsForTheSecondGivesTheFirstBack() {
        registry.answerLater();
        run(work -> {
            CompletableFuture<Void> result = work.both("a", "b");
            registry.answer("a");
            CompletableFuture<?> request = registry.request("b");
            result.cancel(true);
            assertThat(request).isCancelled();
            assertThat(registry.events()).containsExactly("lock a", "unlock a");
        });
    }

    @Test
    void aGrantThatMeetsItsCancellationIsGivenBack() {
        registry.answerLater();
        run(work -> {
            for (int i = 0; i < 1_000; i++) {
                CompletableFuture<String> result = work.future(0);
                CompletableFuture<?> grant = CompletableFuture.runAsync(() -> registry.answer("x"));
                result.cancel(false);
                grant.join();
            }
        });
        assertThat(Collections.frequency(registry.events(), "unlock x"))
                .isEqualTo(Collections.frequency(registry.events(), "lock x"));
    }

    @Test
    void contentionFailsTheResult() {
        registry.take("b");
        run(work ->
                assertThatThrownBy(() -> work.both("a", "b").get()).hasCauseInstanceOf(LockNotAcquiredException.class));
        assertThat(registry.events()).containsExactly("lock a", "unlock a");
    }

    @Test
    void aMissingKeyFailsTheResult() {
        run(work -> assertThatThrownBy(() -> work.both(null, "b").get())
                .hasCauseInstanceOf(IllegalArgumentException.class));
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void aLossFailsTheResult() {
        run(work -> {
            CompletableFuture<String> result = work.future(0);
            registry.lose("x");
            work.underWay().complete("done");
            assertThatThrownBy(result::get).hasCauseInstanceOf(LockLostException.class);
        });
    }

    @Test
    void aFailureWinsOverALoss() {
        run(work -> {
            CompletableFuture<String> result = work.future(0);
            registry.lose("x");
            IllegalStateException failure = new IllegalStateException("body");
            work.underWay().completeExceptionally(failure);
            assertThatThrownBy(result::get).hasCause(failure);
            assertThat(failure.getSuppressed()).hasExactlyElementsOfTypes(LockLostException.class);
        });
    }

    @Test
    void aLockIsKeptAfterTheStageHasCompleted() {
        run(work -> {
            CompletableFuture<String> result = work.kept();
            work.underWay().complete("done");
            assertThat(result).isCompletedWithValue("done");
        });
        assertThat(registry.events()).containsExactly("lock kept", "keep kept");
    }

    @Test
    void withoutTheConditionTheMethodRunsWithoutLock() {
        run(work -> assertThat(work.sometimes(false)).isCompletedWithValue("done"));
        assertThat(registry.events()).isEmpty();
    }

    @Test
    void withAsyncTheLockCoversTheWorkAndNotTheSubmit() {
        runner.withUserConfiguration(AsyncConfiguration.class).run(context -> {
            AsyncWork work = context.getBean(AsyncWork.class);
            SubmittedTasks tasks = context.getBean(SubmittedTasks.class);
            work.nothing();
            CompletableFuture<String> result = work.stage();
            assertThat(registry.events()).isEmpty();
            tasks.run();
            assertThat(registry.events())
                    .containsExactly("lock nothing", "body", "unlock nothing", "lock stage", "body", "unlock stage");
            assertThat(result).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
        });
    }

    @Test
    void withAnAnnotationOfTheApplicationForAsyncTheBodyRunsOnTheExecutorsThread() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withPropertyValues("lock.type=memory")
                .withUserConfiguration(BackgroundConfiguration.class)
                .run(context -> assertThat(context.getBean(BackgroundWork.class).stage())
                        .succeedsWithin(Duration.ofSeconds(60))
                        .asString()
                        .startsWith("background-"));
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface Background {}

    static class BackgroundWork {
        @Background
        @DistributedLock(name = "stage")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(annotation = Background.class)
    static class BackgroundConfiguration {

        @Bean
        BackgroundWork backgroundWork() {
            return new BackgroundWork();
        }

        @Bean
        TaskExecutor taskExecutor() {
            return new SimpleAsyncTaskExecutor("background-");
        }
    }

    static class Work {

        private final RecordingLockRegistry registry;
        private final CompletableFuture<String> underWay = new CompletableFuture<>();

        Work(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        CompletableFuture<String> underWay() {
            return underWay;
        }

        @DistributedLock(name = "x")
        CompletionStage<String> stage() {
            registry.record("body");
            return underWay;
        }

        @DistributedLock(name = "x")
        CompletableFuture<String> future(@FencingToken long token) {
            assertThat(LockContext.current().fencingToken()).isEqualTo(token);
            registry.record("token " + token);
            return underWay;
        }

        @DistributedLock(name = "x")
        CompletableFuture<String> failing() {
            throw new IllegalStateException("body");
        }

        @DistributedLock(key = "#one")
        @DistributedLock(key = "#other")
        CompletableFuture<Void> both(String one, String other) {
            registry.record("body");
            return CompletableFuture.completedFuture(null);
        }

        @DistributedLock(name = "kept", keepFor = "1m")
        CompletableFuture<String> kept() {
            return underWay;
        }

        @DistributedLock(name = "sometimes", condition = "#locked")
        CompletableFuture<String> sometimes(boolean locked) {
            return CompletableFuture.completedFuture("done");
        }
    }

    static class AsyncWork {

        private final RecordingLockRegistry registry;

        AsyncWork(RecordingLockRegistry registry) {
            this.registry = registry;
        }

        @Async
        @DistributedLock(name = "nothing")
        public void nothing() {
            registry.record("body");
        }

        @Async
        @DistributedLock(name = "stage")
        public CompletableFuture<String> stage() {
            registry.record("body");
            return CompletableFuture.completedFuture("done");
        }
    }

    /** Runs what was submitted when told to. */
    static class SubmittedTasks implements TaskExecutor {

        private final List<Runnable> tasks = new ArrayList<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void run() {
            tasks.forEach(Runnable::run);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncConfiguration {

        @Bean
        AsyncWork asyncWork(RecordingLockRegistry registry) {
            return new AsyncWork(registry);
        }

        @Bean
        SubmittedTasks taskExecutor() {
            return new SubmittedTasks();
        }
    }
}
