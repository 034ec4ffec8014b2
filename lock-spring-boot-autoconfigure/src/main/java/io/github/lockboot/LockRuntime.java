package io.github.lockboot;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.internal.Troubleshooting;
import org.jspecify.annotations.Nullable;

/**
 * What {@link LockTemplate} and the annotation need beyond {@link LockRegistry}. The registries of this library implement it. With
 * another registry, such as one that wraps one of them, a follower of a flight acquires the lock.
 *
 * <p>Its locks and leases are {@link LockScope}s. Not for applications.
 */
public interface LockRuntime extends LockRegistry {

    /** The problem with a mock of a registry. */
    String NO_LOCK = "LockRegistry gave no lock";

    /** {@return a function from names to handles with these options, which are completed once} */
    Function<String, NamedLock> handles(LockOptions options);

    /** Makes handles of any registry. */
    static Function<String, NamedLock> handles(LockRegistry registry, LockOptions options) {
        return registry instanceof LockRuntime runtime
                ? given(runtime.handles(options), NO_LOCK)
                : name -> get(registry, name, options);
    }

    /** Makes a handle of any registry. */
    static NamedLock get(LockRegistry registry, String name, LockOptions options) {
        return given(registry.get(name, options), NO_LOCK);
    }

    /**
     * {@return what a bean has given} A mock gives null.
     *
     * @throws IllegalStateException with the problem, if it has given nothing
     */
    static <T> T given(@Nullable T given, String problem) {
        if (given == null) {
            throw new IllegalStateException(
                    problem + ", as a mock does that is not told what to return: set lock.type=memory in"
                            + " the test instead, or have the mock return one; see " + Troubleshooting.PAGE
                            + "it-compiles-and-does-not-lock");
        }
        return given;
    }

    /**
     * As {@link #acquireAsync(String, LockOptions)}, with the options of the handle.
     *
     * @param wait how long to wait at most; zero or less tries once
     */
    CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait);

    /** Acquires a lock of any registry. */
    static CompletableFuture<Lease> acquireAsync(LockRegistry registry, NamedLock lock, Duration wait) {
        return given(
                registry instanceof LockRuntime runtime
                        ? runtime.acquireAsync(lock, wait)
                        : registry.acquireAsync(lock.getName(), lock.options().withWaitTime(wait)),
                NO_LOCK);
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

    /** A listener that gets every end of a wait without the lock, and of a hold, by one callback. */
    interface Listener extends LockListener {

        /**
         * A wait ended without the lock, or a hold ended.
         *
         * @param use the use of the lock
         * @param outcome for a wait {@code not_acquired}, {@code abandoned}, {@code unavailable}, or {@code followed} if a holder has
         *     completed the flight; for a hold {@code released} or {@code lost}
         * @param time since the lock was requested or, for a hold, acquired
         */
        void ended(LockUse use, String outcome, Duration time);

        @Override
        default void notAcquired(LockUse use, Duration waited) {
            ended(use, "not_acquired", waited);
        }

        @Override
        default void abandoned(LockUse use, Duration waited) {
            ended(use, "abandoned", waited);
        }

        @Override
        default void unavailable(LockUse use, Duration waited) {
            ended(use, "unavailable", waited);
        }

        @Override
        default void released(LockUse use, Duration held, boolean known) {
            ended(use, "released", held);
        }

        @Override
        default void lost(LockUse use, Duration held, String reason) {
            ended(use, "lost", held);
        }
    }
}
