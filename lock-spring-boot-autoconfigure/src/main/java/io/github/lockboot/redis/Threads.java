package io.github.lockboot.redis;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The registry's threads: daemons, named, gone when idle. */
final class Threads {

    private static final long IDLE_SECONDS = 10;

    private Threads() {}

    static ThreadFactory daemons(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** For what may block: callbacks of users, making connections, clients without an asynchronous side. Once shut down, the
     * caller does it. */
    static ExecutorService workers(String name) {
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                daemons(name),
                (task, shutDown) -> task.run());
    }

    /** Runs tasks in order, on at most one thread of the executor at a time. */
    static Executor inTurn(Executor executor) {
        Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        AtomicInteger open = new AtomicInteger();
        Runnable drain = () -> {
            do {
                Objects.requireNonNull(tasks.poll()).run();
            } while (open.decrementAndGet() > 0);
        };
        return task -> {
            tasks.add(task);
            if (open.getAndIncrement() == 0) {
                executor.execute(drain);
            }
        };
    }
}
