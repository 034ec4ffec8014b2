package io.github.lockboot.registry;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Runs tasks in order, on at most one thread of another executor at a time. What a task throws is logged and does not affect
 * the others.
 */
public final class SerialExecutor implements Executor {

    private static final Log log = LogFactory.getLog(SerialExecutor.class);

    private final Executor executor;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicBoolean running = new AtomicBoolean();

    /** @param executor provides the threads */
    public SerialExecutor(Executor executor) {
        this.executor = executor;
    }

    /** {@return the number of tasks that have not begun} */
    public int waiting() {
        return waiting.get();
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        waiting.incrementAndGet();
        start();
    }

    private void start() {
        if (!running.get() && running.compareAndSet(false, true)) {
            try {
                executor.execute(this::runAll);
            } catch (Throwable noThread) { // the next task tries again
                running.set(false);
                throw noThread;
            }
        }
    }

    private void runAll() {
        try {
            for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
                waiting.decrementAndGet();
                run(next);
            }
        } finally {
            running.set(false);
            if (!tasks.isEmpty()) {
                start();
            }
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable thrown) {
            try {
                log.error("Unexpected failure in a task", thrown);
            } catch (Throwable notLogged) {
                // There may be no memory left to log with.
            }
        }
    }
}
