package io.github.lockboot.redis;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Monotonic time and things to do later, on one thread. Tasks must not block; those left at the close never run. */
interface Timer extends AutoCloseable {

    /** A scheduled task. */
    interface Task {
        void cancel();
    }

    /** As {@link System#nanoTime()}: only differences mean something. */
    long nanoTime();

    /** Runs the task once the time has passed; zero or less: as soon as possible, never on the calling thread. */
    Task schedule(long delayNanos, Runnable task);

    @Override
    void close();

    /** The system's clock and one daemon thread, started at the first use. */
    static Timer system(String threadName) {
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, Threads.daemons(threadName));
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        thread.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        return new Timer() {

            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public Task schedule(long delayNanos, Runnable task) {
                ScheduledFuture<?> future = thread.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
                return () -> future.cancel(false);
            }

            @Override
            public void close() {
                thread.shutdown();
            }
        };
    }
}
