package io.github.lockboot.internal;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The registry's threads: daemons, named, gone when idle. */
public final class Threads {

    /** So many tasks run at a time. */
    public static final int USUALLY = 64;

    /** So many may, where those that run wait for others. */
    public static final int AT_MOST = 512;

    private static final long IDLE_SECONDS = 10;

    private Threads() {}

    public static ThreadFactory daemons(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /**
     * For what may block: callbacks of users, making connections, clients without an asynchronous side. Tasks that find no thread
     * free wait in order. Once shut down, the caller does it.
     *
     * @param timer looks after tasks that wait
     */
    public static ExecutorService workers(ThreadFactory threads, Timer timer) {
        return new Workers(threads, timer);
    }

    /** Where none has come to its end for a second, what runs may wait for what does not: then there may be more. */
    private static final class Workers extends ThreadPoolExecutor {

        private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
        private static final int MORE = 16;

        private final PeriodicCheck check;
        private long ended;

        Workers(ThreadFactory threads, Timer timer) {
            super(0, USUALLY, IDLE_SECONDS, TimeUnit.SECONDS, new Line(), threads);
            this.check = new PeriodicCheck(timer, LOOK_NANOS, this::lookAfter);
            setRejectedExecutionHandler((task, pool) -> {
                if (isShutdown()) {
                    task.run();
                } else {
                    check.start();
                    ((Line) getQueue()).append(task);
                }
            });
        }

        /** @return whether any task waits */
        private boolean lookAfter() {
            boolean waiting = !getQueue().isEmpty();
            long before = ended;
            ended = getCompletedTaskCount();
            if (!waiting) {
                setMaximumPoolSize(USUALLY);
            } else if (ended == before) {
                setMaximumPoolSize(Math.min(AT_MOST, getMaximumPoolSize() + MORE));
                for (int i = 0; i < MORE && getPoolSize() < getMaximumPoolSize(); i++) {
                    execute(() -> {}); // the thread that is made for it goes on with the others
                }
            }
            return waiting;
        }
    }

    /** Is offered a task only for a thread that is free, so that otherwise one is made. */
    private static final class Line extends LinkedTransferQueue<Runnable> {

        private static final long serialVersionUID = 1L;

        @Override
        public boolean offer(Runnable task) {
            return tryTransfer(task);
        }

        void append(Runnable task) {
            super.offer(task);
        }
    }
}
