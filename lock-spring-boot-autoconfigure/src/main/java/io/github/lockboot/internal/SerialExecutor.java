package io.github.lockboot.internal;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks in order, on one thread of the executor at a time. What a task throws is logged and does not affect
 * others.
 */
public final class SerialExecutor implements Executor {

    private final Executor executor;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicBoolean running = new AtomicBoolean();
    private final Runnable runAll = this::runAll; // made now: with a task in the queue, a lack of memory must not throw

    public SerialExecutor(Executor executor) {
        this.executor = executor;
    }

    /** The number of tasks that have not begun. */
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
                executor.execute(runAll);
            } catch (Throwable noThread) { // the next one tries again
                running.set(false);
                throw noThread;
            }
        }
    }

    private void runAll() {
        try {
            for (Runnable next = tasks.poll(); next != null; next = tasks.poll()) {
                waiting.decrementAndGet();
                Failures.runAndLog("in a task", next);
            }
        } finally {
            running.set(false);
            if (!tasks.isEmpty()) {
                start();
            }
        }
    }
}
