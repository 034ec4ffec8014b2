package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

import io.github.lockboot.internal.Timer;

/** Time that passes when a test says so. */
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
    public long nanoTime() {
        reads++;
        if (--readsUntilClockFails == 0) {
            throw new OutOfMemoryError("Java heap space");
        }
        return now;
    }

    /** The number of tasks that are planned. */
    int planned() {
        return tasks.size();
    }

    /** How often the clock has been read. */
    long reads() {
        return reads;
    }

    @Override
    public long wallMillis() {
        return 1_800_000_000_000L + (now + wallAhead) / 1_000_000;
    }

    @Override
    public Task schedule(long delayNanos, Runnable task) {
        if (lacking > 0) {
            lacking--;
            throw new OutOfMemoryError("Java heap space");
        }
        return plan(delayNanos, task);
    }

    private Task plan(long delayNanos, Runnable task) {
        Due due = new Due(now + Math.max(0, delayNanos), order++, task);
        tasks.add(due);
        return () -> tasks.remove(due);
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
    public void lack(boolean memory) {
        lacking = memory ? Integer.MAX_VALUE : 0;
    }

    /** There is no memory for the next task, but for those after it. */
    public void lackOnce() {
        lacking = 1;
    }

    /** The clock cannot be read that one time. */
    public void failClockAt(int nthRead) {
        readsUntilClockFails = nthRead;
    }

    /** Lets time pass; what becomes due on the way runs at its time. */
    public void tick(Duration time) {
        long end = now + time.toNanos();
        while (!tasks.isEmpty() && tasks.peek().at <= end) {
            Due due = tasks.poll();
            now = Math.max(now, due.at);
            runGuarded(due.task);
        }
        now = end;
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
    public void stopFor(Duration time) {
        now += time.toNanos();
    }

    /** Somebody sets the clock; or, forwards, the machine sleeps. */
    public void setWallForwardBy(Duration time) {
        wallAhead += time.toNanos();
    }

    @Override
    public void close() {
        tasks.clear();
    }
}
