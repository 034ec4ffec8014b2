package io.github.lockboot.sample.ticket;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs every window of a sale on a thread of its own. */
final class WindowThreads {

    private WindowThreads() {}

    /** Returns when all have ended. Throws the exception of the first that failed. */
    static void runAll(List<Integer> windows, Window work) throws InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(windows.size());
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int window : windows) {
                running.add(threads.submit(() -> {
                    work.run(window);
                    return window;
                }));
            }
            for (Future<?> future : running) {
                future.get();
            }
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof RuntimeException cause
                    ? cause
                    : new IllegalStateException(failure.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    /** What a window does from opening to closing. */
    @FunctionalInterface
    interface Window {

        void run(int number) throws InterruptedException;
    }
}
