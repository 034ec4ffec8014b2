package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.internal.Timer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

class ThreadWaiterTests {

    /** A wait for a lock uses up the permit of the thread, and the alarm of locks in memory takes a lock. */
    @Test
    void aWakeUpThatIsUsedUpWhileTheAlarmIsSetIsNotMissed() {
        boolean served = assertTimeoutPreemptively(Duration.ofSeconds(8), () -> {
            AtomicReference<ThreadWaiter> waiter = new AtomicReference<>();
            Timer timer = new DecidingTimer(waiter);
            EngineContext context = new EngineContext(
                    new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64),
                    timer,
                    ForkJoinPool.commonPool(),
                    () -> 0);
            LockRequest request =
                    new LockRequest("name", null, new Terms(0, 30_000, true), LockRequest.WITHOUT_LIMIT, 0);
            UseNotifier use = new UseNotifier.Listeners(context).requested(request, Thread.currentThread());
            waiter.set(new ThreadWaiter(context, request, use));
            return waiter.get().await(false);
        });
        assertThat(served).isFalse();
    }

    /** The queue decides the waiter while this sets the alarm. */
    private record DecidingTimer(AtomicReference<ThreadWaiter> waiter) implements Timer {

        @Override
        public Task alarm(long delayNanos, Runnable task) {
            waiter.get().decide(Waiter.Plain.REFUSED);
            waiter.get().wake();
            LockSupport.parkNanos(1);
            return () -> {};
        }

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public long wallMillis() {
            return 0;
        }

        @Override
        public Task schedule(long delayNanos, Runnable task) {
            return () -> {};
        }

        @Override
        public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
            return () -> {};
        }

        @Override
        public void close() {}
    }
}
