package io.github.lockboot.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

/** Waits for futures and unwraps their failures. */
public final class Futures {

    private Futures() {}

    /**
     * Waits for the future. An interrupt cancels it, unless it has completed by then: in that case the result counts, and the
     * thread's interrupt flag is set.
     *
     * @param <T> what the future completes with
     * @param future which fails with unchecked exceptions only
     * @return what it completed with
     * @throws InterruptedException if interrupted during the wait; the future is cancelled then
     */
    public static <T extends @Nullable Object> T await(CompletableFuture<T> future) throws InterruptedException {
        try {
            try {
                return future.get();
            } catch (InterruptedException interrupt) {
                if (future.cancel(false)) {
                    throw interrupt;
                }
                Thread.currentThread().interrupt(); // it has completed first
                return future.join();
            }
        } catch (ExecutionException | CompletionException failure) {
            throw unchecked(unwrap(failure));
        }
    }

    private static RuntimeException unchecked(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(failure);
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
