package io.github.lockboot.internal;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The clocks, and tasks to run later on one thread. Tasks must not block. What a task throws is logged and does not affect others.
 * Tasks left at the close do not run.
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

    /** As {@link #schedule}, for what a parked thread does itself in time: nothing, unless time may be skipped. */
    default Task alarm(long delayNanos, Runnable task) {
        return () -> {};
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
        return () -> {
            try {
                task.run();
            } catch (Throwable thrown) {
                Unexpected.failure("on the timer's thread", thrown);
            }
        };
    }
}
