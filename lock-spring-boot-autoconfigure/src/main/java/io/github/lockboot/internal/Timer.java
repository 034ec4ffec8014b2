package io.github.lockboot.internal;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The clocks, and tasks to run later on one thread. Tasks must not block. What a task throws is logged and does not
 * affect others. Tasks left at the close do not run.
 */
public interface Timer extends AutoCloseable {

    /** After so long without a task the thread ends; the next task starts another. */
    long IDLE_SECONDS = 10;

    /** A scheduled task. */
    interface Task {
        void cancel();
    }

    /** As {@link System#nanoTime()}: only differences have a meaning. May stand still while the machine sleeps. */
    long nanoTime();

    /** As {@link System#currentTimeMillis()}: may be set at any time. Goes on while the machine sleeps. */
    long wallMillis();

    /** Runs the task after the delay; if that is not positive, as soon as possible, but never on the calling thread. */
    Task schedule(long delayNanos, Runnable task);

    /** Runs the task after the delay, and again a pause after each end of it, until cancelled, even if it throws. */
    Task repeat(long delayNanos, long pauseNanos, Runnable task);

    /**
     * {@return a check that is repeated with pauses, once started, for as long as there is something to check}
     *
     * @param check returns whether there still is; an exception does not end it
     */
    default Check check(long pauseNanos, BooleanSupplier check) {
        return new Check(this, pauseNanos, check);
    }

    /** A check that is repeated while there is something to check. */
    final class Check {

        private final Timer timer;
        private final long pauseNanos;
        private final BooleanSupplier check;
        private final AtomicBoolean going = new AtomicBoolean();
        private volatile @Nullable Task task;

        private Check(Timer timer, long pauseNanos, BooleanSupplier check) {
            this.timer = timer;
            this.pauseNanos = pauseNanos;
            this.check = check;
        }

        /** Starts the check unless it is going on; to be called whenever there is something to check. */
        public void start() {
            if (!going.get() && going.compareAndSet(false, true)) {
                try {
                    task = timer.repeat(pauseNanos, pauseNanos, this::round);
                } catch (Throwable notScheduled) {
                    going.set(false);
                    throw notScheduled;
                }
            }
        }

        private void round() {
            Task current = task;
            if (!check.getAsBoolean() && current != null) {
                current.cancel();
                task = null;
                going.set(false);
                if (check.getAsBoolean()) { // something came while this ended
                    start();
                }
            }
        }
    }

    @Override
    void close();

    /** {@link System#nanoTime()}, for code without a timer of its own. */
    static long systemNanoTime() {
        return System.nanoTime();
    }

    /** The system's clocks and one daemon thread, started at the first use. */
    static Timer system(String threadName) {
        return system(Threads.daemons(threadName));
    }

    static Timer system(ThreadFactory threads) {
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, threads);
        thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        thread.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        thread.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        return new Timer() {

            @Override
            public long nanoTime() {
                return systemNanoTime();
            }

            @Override
            public long wallMillis() {
                return System.currentTimeMillis();
            }

            @Override
            public Task schedule(long delayNanos, Runnable task) {
                return cancelling(thread.schedule(guarded(task), delayNanos, TimeUnit.NANOSECONDS));
            }

            @Override
            public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
                return cancelling(
                        thread.scheduleWithFixedDelay(guarded(task), delayNanos, pauseNanos, TimeUnit.NANOSECONDS));
            }

            private Task cancelling(Future<?> future) {
                return () -> future.cancel(false);
            }

            @Override
            public void close() {
                thread.shutdown();
            }
        };
    }

    private static Runnable guarded(Runnable task) {
        return () -> Failures.runAndLog("on the timer's thread", task);
    }
}
