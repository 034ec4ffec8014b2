package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Timer;

/**
 * The time and the workers of a schedule: time stands still unless a thread of the schedule advances it, and what is
 * due, workers' tasks too, runs in any order. Each call is a step of the schedule.
 */
final class ScheduledTime extends ManualWorkers implements Timer {

    private record Due(long at, Runnable task) {}

    private static final long LONGEST = Long.MAX_VALUE / 4;

    private final Schedule schedule;
    private final List<Due> tasks = new ArrayList<>();
    private volatile long now = TimeUnit.HOURS.toNanos(1);

    ScheduledTime(Schedule schedule) {
        this.schedule = schedule;
    }

    /** Not a step. */
    long now() {
        return now;
    }

    @Override
    public long nanoTime() {
        schedule.step();
        return now;
    }

    @Override
    public long wallMillis() {
        schedule.step();
        return 1_800_000_000_000L + TimeUnit.NANOSECONDS.toMillis(now);
    }

    @Override
    public Task schedule(long delayNanos, Runnable task) {
        schedule.step();
        return plan(delayNanos, task);
    }

    /** Not a step: the caller may have a monitor. */
    void soon(Runnable task) {
        plan(0, task);
    }

    private Task plan(long delayNanos, Runnable task) {
        // Two that are planned alike are not the same one.
        Due due = new Due(now + Math.min(Math.max(0, delayNanos), LONGEST), () -> task.run());
        synchronized (tasks) {
            tasks.add(due);
        }
        return () -> {
            schedule.step();
            synchronized (tasks) {
                tasks.remove(due);
            }
        };
    }

    /** Runs once: no schedule is long enough for more. */
    @Override
    public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
        return schedule(delayNanos, task);
    }

    @Override
    public void execute(Runnable task) {
        schedule(0, task);
    }

    void advance(Duration by) {
        schedule.step();
        now += by.toNanos();
        schedule.wakeThreads();
    }

    boolean isAnyDue() {
        synchronized (tasks) {
            return tasks.stream().anyMatch(task -> task.at <= now);
        }
    }

    /** Runs one of the tasks that are due. {@return whether there was one} */
    boolean runOne() {
        Due taken = null;
        synchronized (tasks) {
            List<Due> due = tasks.stream().filter(task -> task.at <= now).toList();
            if (!due.isEmpty()) {
                taken = due.get(schedule.chooseBelow(due.size()));
                tasks.remove(taken);
            }
        }
        if (taken != null) {
            taken.task.run();
        }
        return taken != null;
    }

    @Override
    public void close() {}
}
