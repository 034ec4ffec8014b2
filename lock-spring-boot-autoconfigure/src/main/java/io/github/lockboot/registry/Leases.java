package io.github.lockboot.registry;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;

/** Blocking variants of asynchronous requests for leases. */
public final class Leases {

    private Leases() {}

    /**
     * Makes a request and waits for the answer. An interrupt cancels the request, unless it has been answered first.
     *
     * @param asynchronous makes the request
     * @return the lease
     * @throws InterruptedException if interrupted before or meanwhile; nothing is held then
     */
    public static Lease await(Supplier<CompletableFuture<Lease>> asynchronous) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        CompletableFuture<Lease> request = asynchronous.get();
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
     * @param asynchronous makes the request
     * @return the lease, or empty
     * @throws InterruptedException if interrupted before or meanwhile; nothing is held then
     */
    public static Optional<Lease> awaitIfFree(Supplier<CompletableFuture<Lease>> asynchronous)
            throws InterruptedException {
        try {
            return Optional.of(await(asynchronous));
        } catch (LockNotAcquiredException held) {
            return Optional.empty();
        }
    }
}
