package io.github.lockboot.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** Waits for futures, unwraps their failures, and has threads for their dependent stages. */
public final class Futures {

    /** For what may block, after stages that complete on threads which must not. As many threads as are needed. */
    public static final Executor ELSEWHERE = Futures::runElsewhere;

    /** Not the common pool: its threads may all wait for what happens here. */
    private static final Executor WORKERS = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            10,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> Threads.daemon("lock-async", Thread.currentThread().getContextClassLoader(), task));

    private Futures() {}

    /**
     * As {@link #ELSEWHERE}, after a delay. The thread of the JDK for delays never ends, nor lets go of the class
     * loader it has.
     */
    public static Executor elsewhereAfter(long delayNanos) {
        return task -> Delays.TIMER.schedule(delayNanos, () -> runElsewhere(task));
    }

    /** Loaded at the first use. */
    private static final class Delays {

        static final Timer TIMER = Timer.system(task ->
                Threads.daemon("lock-async-timer", Thread.currentThread().getContextClassLoader(), task));
    }

    private static void runElsewhere(Runnable task) {
        try {
            WORKERS.execute(task);
        } catch (OutOfMemoryError noThread) {
            task.run();
        }
    }

    /** As {@link #await(CompletableFuture)}, but does not request the future if the thread is interrupted. */
    public static <T extends @Nullable Object> T await(Supplier<CompletableFuture<T>> request)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return await(request.get());
    }

    /**
     * Waits for the future. An interrupt cancels it, unless it has completed by then: in that case the result counts,
     * and the thread's interrupt flag is set.
     *
     * @param <T> what the future completes with
     * @param future which fails with unchecked exceptions only
     * @return what it completed with
     * @throws InterruptedException if interrupted during the wait; the future is cancelled then
     */
    public static <T extends @Nullable Object> T await(CompletableFuture<T> future) throws InterruptedException {
        try {
            return future.get();
        } catch (InterruptedException interrupt) {
            if (future.cancel(false)) {
                throw interrupt;
            }
            Thread.currentThread().interrupt();
            return await(future); // it has completed first, so this does not wait
        } catch (ExecutionException failure) {
            throw unchecked(failure);
        }
    }

    /** {@return what a future failed with, to be thrown; an error is thrown here} */
    public static RuntimeException unchecked(Throwable failure) {
        Throwable cause = unwrap(failure);
        if (cause instanceof Error error) {
            throw error;
        }
        return cause instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(cause);
    }

    /** Completes a future as a stage has ended; the failure may be wrapped. */
    public static <T extends @Nullable Object> void complete(
            CompletableFuture<T> future, @Nullable T value, @Nullable Throwable failure) {
        if (failure == null) {
            future.complete(value);
        } else {
            future.completeExceptionally(unwrap(failure));
        }
    }

    /** Cancels the stage when the result completes, which does nothing to a stage that has completed. */
    public static <S extends CompletionStage<?>> S cancelWith(CompletableFuture<?> result, S stage) {
        result.whenComplete((value, failure) -> cancel(stage));
        return stage;
    }

    /** Cancels a stage that can be cancelled. */
    public static void cancel(CompletionStage<?> stage) {
        if (stage instanceof Future<?> future) {
            future.cancel(true);
        }
    }

    /**
     * {@return the failure itself where a stage or a future has wrapped it}
     *
     * @param failure of a stage or future
     */
    public static Throwable unwrap(Throwable failure) {
        Throwable inner = failure;
        Throwable cause = failure.getCause();
        while ((inner instanceof CompletionException || inner instanceof ExecutionException) && cause != null) {
            inner = cause;
            cause = inner.getCause();
        }
        return inner;
    }
}
