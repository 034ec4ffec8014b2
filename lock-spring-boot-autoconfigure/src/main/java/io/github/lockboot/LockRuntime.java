package io.github.lockboot;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * What {@link LockTemplate} and the annotation need beyond {@link LockRegistry}. The registries of this library implement it. With
 * another registry, such as one that wraps one of them, a follower of a flight acquires the lock.
 *
 * <p>Its locks and leases are {@link LockScope}s. Not for applications.
 */
public interface LockRuntime extends LockRegistry {

    /** {@return a function from names to handles with these options, which are completed once} */
    Function<String, NamedLock> handles(LockOptions options);

    /** Makes handles of any registry. */
    static Function<String, NamedLock> handles(LockRegistry registry, LockOptions options) {
        return registry instanceof LockRuntime runtime ? runtime.handles(options) : name -> registry.get(name, options);
    }

    /**
     * As {@link #acquireAsync(String, LockOptions)}, with the options of the handle.
     *
     * @param wait how long to wait at most; zero or less tries once
     */
    CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait);

    /** Acquires a lock of any registry. */
    static CompletableFuture<Lease> acquireAsync(LockRegistry registry, NamedLock lock, Duration wait) {
        return registry instanceof LockRuntime runtime
                ? runtime.acquireAsync(lock, wait)
                : registry.acquireAsync(lock.getName(), lock.options().withWaitTime(wait));
    }

    /**
     * As {@link #acquireAsync(NamedLock, Duration)}, but the wait also ends, with nothing, when a holder of that lock
     * {@linkplain #complete completes} it, because its work is then done. The result may be empty for a holder that completed shortly
     * before, so check whether the work is done. It completes on a shared thread of the registry: what depends on it must not block.
     */
    CompletableFuture<Optional<Lease>> acquireOrFollowAsync(NamedLock lock, Duration wait);

    /**
     * Releases a lease as {@link Lease#close} does, and ends the wait of all followers, here and in other instances, without the
     * lock. For other waiters the lock is free.
     *
     * @throws LockLostException if the lease was lost before; nothing was deleted, and no wait ends
     */
    void complete(Lease lease);

    /** A listener that distinguishes the waits of followers from waits that were cancelled. */
    interface Listener extends LockListener {

        /**
         * A holder has completed the flight: the wait ended without the lock.
         *
         * @param use the use of the lock
         * @param waited since it was requested
         */
        void followed(LockUse use, Duration waited);
    }
}
