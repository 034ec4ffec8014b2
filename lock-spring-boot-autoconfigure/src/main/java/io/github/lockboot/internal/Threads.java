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

    /** The largest number of tasks that run at a time. */
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

    /**
     * It inherits no thread-bound state, because a task of one request may need a new thread for the task of another.
     */
    static Thread daemon(String name, @Nullable ClassLoader classes, Runnable task) {
        Thread thread = new Thread(null, task, name, 0, false);
        thread.setContextClassLoader(classes);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Threads for tasks that may block: callbacks of users, making connections, clients that only block. Tasks that
     * find no free thread wait in order. After shutdown, every further task runs on a new thread: the submitting thread
     * may hold a mutex, or belong to a client.
     */
    public static ExecutorService workers(ThreadFactory threads) {
        Line line = new Line();
        return new ThreadPoolExecutor(0, AT_MOST, IDLE_SECONDS, TimeUnit.SECONDS, line, threads, (task, pool) -> {
            if (pool.isShutdown()) {
                threads.newThread(task).start();
            } else {
                line.append(task);
            }
        });
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
