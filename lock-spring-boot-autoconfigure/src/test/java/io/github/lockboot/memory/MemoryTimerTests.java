package io.github.lockboot.memory;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.internal.Timer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryTimerTests {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    /** Time that passes only if it is skipped. */
    private static final class StillTimer implements Timer {

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

    @Test
    void timeIsSkippedWhileAnotherThreadCancelsTasks() {
        MemoryTimer timer = new MemoryTimer(new StillTimer());
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Void> cancelling = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                timer.schedule(Long.MAX_VALUE, () -> {}).cancel();
            }
        });
        for (int skips = 0; skips < 5_000_000; skips++) {
            timer.advance(MILLI, () -> {});
        }
        over.set(true);
        cancelling.join();
        assertThat(timer.nanoTime()).isEqualTo(5_000_000 * MILLI);
    }
}
