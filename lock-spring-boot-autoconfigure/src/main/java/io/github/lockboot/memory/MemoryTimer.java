package io.github.lockboot.memory;

import java.util.Comparator;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/** A timer that can skip time. Its tasks run one after the other, on its own thread or on the thread that skips time. */
final class MemoryTimer implements Timer {

    /** Almost a century and a half: no delay is longer. */
    private static final long LONGEST = Long.MAX_VALUE / 2;

    private final Timer system;
    private final long start;
    private final AtomicLong orders = new AtomicLong();
    private final ConcurrentSkipListSet<Due> tasks = new ConcurrentSkipListSet<>(
            Comparator.<Due>comparingLong(due -> due.at).thenComparingLong(due -> due.order));
    private final ReentrantLock turn = new ReentrantLock();
    private volatile long skipped;

    MemoryTimer(Timer system) {
        this.system = system;
        this.start = system.nanoTime();
    }

    @Override
    public long nanoTime() {
        return system.nanoTime() - start + skipped;
    }

    @Override
    public long wallMillis() {
        return system.wallMillis() + TimeUnit.NANOSECONDS.toMillis(skipped);
    }

    @Override
    public Task schedule(long delayNanos, Runnable task) {
        Due due = new Due(nanoTime() + Math.min(Math.max(0, delayNanos), LONGEST), task);
        tasks.add(due);
        due.setAlarm();
        return due;
    }

    /** Time can be skipped to the first run only. The others are there in case the first fails. */
    @Override
    public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
        Task first = schedule(delayNanos, task);
        Task others = system.repeat(delayNanos + pauseNanos, pauseNanos, () -> inTurn(task));
        return () -> {
            first.cancel();
            others.cancel();
        };
    }

    @Override
    public Task alarm(long delayNanos, Runnable task) {
        return schedule(delayNanos, task);
    }

    /**
     * Skips time, and runs tasks that become due, in order.
     *
     * @param settle runs before each step of time
     */
    void advance(long nanos, Runnable settle) {
        inTurn(() -> {
            long target = nanoTime() + Math.min(nanos, Math.max(0, LONGEST / 2 - skipped));
            Due next;
            do {
                settle.run();
                next = dueBy(target);
                skipped += Math.max(0, (next == null ? target : next.at) - nanoTime());
                if (next != null) {
                    next.run();
                }
            } while (next != null);
            tasks.forEach(Due::setAlarm);
        });
    }

    private @Nullable Due dueBy(long time) {
        return tasks.stream().findFirst().filter(due -> due.at <= time).orElse(null);
    }

    private void inTurn(Runnable task) {
        turn.lock();
        try {
            Unexpected.attempt("on the timer's thread", task);
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void close() {
        system.close();
    }

    private final class Due implements Task {

        final long at;
        final long order = orders.incrementAndGet();
        private final Runnable task;
        private volatile Task alarm = () -> {};

        Due(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }

        void setAlarm() {
            alarm.cancel();
            alarm = system.schedule(at - nanoTime(), this::run);
        }

        void run() {
            inTurn(() -> {
                if (tasks.remove(this)) {
                    alarm.cancel();
                    task.run();
                }
            });
        }

        @Override
        public void cancel() {
            tasks.remove(this);
            alarm.cancel();
        }
    }
}
