package io.github.lockboot.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

/** Waiting for futures, and what they wrap failures in. */
public final class Futures {

    private Futures() {}

    /**
     * Waits for what the future completes with. An interrupt cancels it, unless it is completed by then.
     *
     * @throws InterruptedException if interrupted before it was completed
     */
    public static <T extends @Nullable Object> T await(CompletableFuture<T> future) throws InterruptedException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException interrupt) {
                    if (future.cancel(false)) {
                        throw interrupt;
                    }
                    interrupted = true; // it was completed first
                } catch (ExecutionException failure) {
                    if (failure.getCause() instanceof Error cause) {
                        throw cause;
                    }
                    throw failure.getCause() instanceof RuntimeException cause
                            ? cause
                            : new IllegalStateException(failure.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** {@return the failure itself, out of the wrappers that futures add} */
    public static @Nullable Throwable unwrap(@Nullable Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
