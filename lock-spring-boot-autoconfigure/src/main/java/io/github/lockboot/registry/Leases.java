package io.github.lockboot.registry;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;

/** Blocking variants of asynchronous requests for leases. */
public final class Leases {

    private Leases() {}

    /**
     * Waits for the answer. An interrupt cancels the request, unless it has been answered first.
     *
     * @param request the request
     * @return the lease
     * @throws InterruptedException if interrupted; nothing is held then
     */
    public static Lease await(CompletableFuture<Lease> request) throws InterruptedException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return request.get();
                } catch (InterruptedException interrupt) {
                    if (request.cancel(false)) {
                        throw interrupt;
                    }
                    interrupted = true;
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

    /**
     * As {@link #await}, but empty if another caller held the lock.
     *
     * @param request the request
     * @return the lease, or empty
     * @throws InterruptedException if interrupted; nothing is held then
     */
    public static Optional<Lease> awaitIfFree(CompletableFuture<Lease> request) throws InterruptedException {
        try {
            return Optional.of(await(request));
        } catch (LockNotAcquiredException held) {
            return Optional.empty();
        }
    }
}
