package io.github.lockboot.leader;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockboot.internal.Timer;

/** Seconds that pass when a test says so, on its own thread. */
final class Ticks implements Timer {

    private record Due(long at, Runnable task) {}

    private final Queue<Due> tasks = new ConcurrentLinkedQueue<>();
    private final List<Runnable> repeated = new CopyOnWriteArrayList<>();
    private volatile long now = 1;

    void tick(int seconds) {
        for (int i = 0; i < seconds; i++) {
            now += Duration.ofSeconds(1).toNanos();
            repeated.forEach(Runnable::run);
            tasks.stream().filter(due -> due.at <= now && tasks.remove(due)).forEach(due -> due.task.run());
        }
    }

    boolean isIdle() {
        return repeated.isEmpty() && tasks.isEmpty();
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public long wallMillis() {
        return 1_800_000_000_000L;
    }

    @Override
    public Task schedule(long delayNanos, Runnable task) {
        Due due = new Due(now + delayNanos, task);
        tasks.add(due);
        return () -> tasks.remove(due);
    }

    @Override
    public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
        repeated.add(task);
        return () -> repeated.remove(task);
    }

    @Override
    public void close() {
        repeated.clear();
    }
}
