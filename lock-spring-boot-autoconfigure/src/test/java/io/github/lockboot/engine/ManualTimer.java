package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

import io.github.lockboot.internal.Timer;

/** Time that passes when a test says so. Thread-safe; tasks run on the thread that lets the time pass. */
public final class ManualTimer implements Timer {

    private record Due(long at, long order, Runnable task) {}

    private final PriorityQueue<Due> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Due::at).thenComparingLong(Due::order));
    private long now = 1_000_000_000_000L;
    private long wallAhead;
    private long order;
    private int lacking;
    private int readsUntilClockFails;
    private long reads;

    @Override
    public synchronized long nanoTime() {
        reads++;
        if (--readsUntilClockFails == 0) {
            throw new OutOfMemoryError("Java heap space");
        }
        return now;
    }

    /** The number of tasks that are planned. */
    public synchronized int planned() {
        return tasks.size();
    }

    /** How often the clock has been read. */
    synchronized long reads() {
        return reads;
    }

    @Override
    public synchronized long wallMillis() {
        return 1_800_000_000_000L + (now + wallAhead) / 1_000_000;
    }

    @Override
    public synchronized Task schedule(long delayNanos, Runnable task) {
        if (lacking > 0) {
            lacking--;
            throw new OutOfMemoryError("Java heap space");
        }
        return plan(delayNanos, task);
    }

    private synchronized Task plan(long delayNanos, Runnable task) {
        Due due = new Due(now + Math.max(0, delayNanos), order++, task);
        tasks.add(due);
        return () -> cancel(due);
    }

    private synchronized void cancel(Due due) {
        tasks.remove(due);
    }

    @Override
    public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
        Task[] next = new Task[1];
        boolean[] cancelled = {false};
        Runnable again = new Runnable() {

            @Override
            public void run() {
                runGuarded(task);
                if (!cancelled[0]) {
                    next[0] = plan(pauseNanos, this);
                }
            }
        };
        next[0] = schedule(delayNanos, again);
        return () -> {
            cancelled[0] = true;
            next[0].cancel();
        };
    }

    /** Whether there is no memory for further tasks. */
    public synchronized void lack(boolean memory) {
        lacking = memory ? Integer.MAX_VALUE : 0;
    }

    /** There is no memory for the next task, but for those after it. */
    public synchronized void lackOnce() {
        lacking = 1;
    }

    /** The clock cannot be read that one time. */
    public synchronized void failClockAt(int nthRead) {
        readsUntilClockFails = nthRead;
    }

    /** Lets time pass; what becomes due on the way runs at its time. */
    public void tick(Duration time) {
        long end = after(time);
        for (Due due = nextUntil(end); due != null; due = nextUntil(end)) {
            runGuarded(due.task);
        }
    }

    private synchronized long after(Duration time) {
        return now + time.toNanos();
    }

    /**
     * The first that is due by then, and time has passed to it; null if there is none, and time has passed to the end.
     */
    private synchronized Due nextUntil(long end) {
        if (tasks.isEmpty() || tasks.peek().at > end) {
            now = end;
            return null;
        }
        Due due = tasks.poll();
        now = Math.max(now, due.at);
        return due;
    }

    /** What a lack of memory throws ends only the one run, as on the timer of the system. */
    private static void runGuarded(Runnable task) {
        try {
            task.run();
        } catch (OutOfMemoryError lack) {
            // the next run may have more
        }
    }

    /** Time passes while nothing runs, as in a process that is stopped. */
    public synchronized void stopFor(Duration time) {
        now += time.toNanos();
    }

    /** Somebody sets the clock; or, forwards, the machine sleeps. */
    public synchronized void setWallForwardBy(Duration time) {
        wallAhead += time.toNanos();
    }

    @Override
    public synchronized void close() {
        tasks.clear();
    }
}
