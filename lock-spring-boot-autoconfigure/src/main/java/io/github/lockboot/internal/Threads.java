package io.github.lockboot.internal;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/** The threads of a registry: daemons with names that end when idle. */
public final class Threads {

    /** The usual number of tasks that run at a time. */
    public static final int USUALLY = 64;

    /** The largest number, reached only if running tasks wait for others. */
    public static final int AT_MOST = 512;

    private static final long IDLE_SECONDS = 10;

    private Threads() {}

    /** They have the context class loader of the current thread. */
    public static ThreadFactory daemons(String name) {
        return daemons(name, Thread.currentThread().getContextClassLoader());
    }

    public static ThreadFactory daemons(String name, @Nullable ClassLoader classes) {
        AtomicInteger count = new AtomicInteger();
        return task -> daemon(name + "-" + count.incrementAndGet(), classes, task);
    }

    /** It inherits no thread-bound state, because a task of one request may need a new thread for the task of another. */
    static Thread daemon(String name, @Nullable ClassLoader classes, Runnable task) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setContextClassLoader(classes);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Threads for tasks that may block: callbacks of users, making connections, clients that only block. Tasks that find no free
     * thread wait in order. From the shutdown on each has a thread of its own, also those that wait in line then: the calling one may
     * hold a mutex, or be a client's, and what runs may wait for what does not.
     *
     * @param timer checks on tasks that wait
     */
    public static ExecutorService workers(ThreadFactory threads, Timer timer) {
        return new Workers(threads, timer);
    }

    /** If no task has ended for a second, those that run may wait for those that do not, so threads are added. */
    private static final class Workers extends ThreadPoolExecutor {

        private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
        private static final int MORE = 16;

        private final Timer.Check check;
        private long ended;

        Workers(ThreadFactory threads, Timer timer) {
            super(0, USUALLY, IDLE_SECONDS, TimeUnit.SECONDS, new Line(), threads);
            this.check = timer.check(LOOK_NANOS, this::lookAfter);
            setRejectedExecutionHandler((task, pool) -> {
                if (isShutdown()) {
                    threads.newThread(task).start();
                    return;
                }
                ((Line) getQueue()).append(task);
                check.start();
                if (isShutdown()) {
                    runAllInLine();
                }
            });
        }

        @Override
        public void shutdown() {
            super.shutdown();
            runAllInLine();
        }

        private void runAllInLine() {
            Line line = (Line) getQueue();
            for (Runnable next = line.poll(); next != null; next = line.poll()) {
                try {
                    getThreadFactory().newThread(next).start();
                } catch (Throwable noThread) {
                    line.append(next); // the next thread that is free takes it
                    return;
                }
            }
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
                    execute(() -> {}); // its new thread then takes tasks from the queue
                }
            }
            return waiting;
        }
    }

    /** Accepts an offered task only if a thread is free, so that the pool makes a thread otherwise. */
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
