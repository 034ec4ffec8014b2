package io.github.lockboot.schedules;

import io.github.lockboot.internal.Timer;

/** The time stands still, and nothing is ever due. */
public final class StillTimer implements Timer {

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
