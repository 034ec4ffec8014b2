package io.github.lockboot.leader;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.internal.Timer;

/** Seconds that pass when a test says so, on its own thread. */
final class Ticks implements Timer {

    private record Due(long at, Runnable task) {}

    private final Queue<Due> tasks = new ConcurrentLinkedQueue<>();
    private final List<Runnable> repeated = new CopyOnWriteArrayList<>();
    private final AtomicReference<Error> failure = new AtomicReference<>();
    private volatile long now = 1;

    void tick(int seconds) {
        for (int i = 0; i < seconds; i++) {
            now += Duration.ofSeconds(1).toNanos();
            repeated.forEach(Runnable::run);
            tasks.stream().filter(due -> due.at <= now && tasks.remove(due)).forEach(due -> due.task.run());
        }
    }

    /** The next one to ask for the time of day, or to schedule a task, gets this. */
    void failOnce(Error error) {
        failure.set(error);
    }

    private void failIfTold() {
        Error told = failure.getAndSet(null);
        if (told != null) {
            throw told;
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
        failIfTold();
        return 1_800_000_000_000L;
    }

    @Override
    public Task schedule(long delayNanos, Runnable task) {
        failIfTold();
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
