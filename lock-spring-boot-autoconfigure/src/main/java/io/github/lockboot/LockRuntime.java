package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.internal.Mocks;

/**
 * Operations that {@link LockTemplate} and the annotation need in addition to {@link LockRegistry}. The registries of
 * this library implement it. With any other registry, such as a wrapper, nothing is announced, and each caller of a
 * flight acquires the lock.
 *
 * <p>Its locks and leases are {@link LockScope}s. Not for applications.
 */
public interface LockRuntime extends LockRegistry {

    /** {@return a function from names to handles with these options, which are completed once} */
    Function<String, NamedLock> handles(LockOptions options);

    /**
     * Refuses what {@link #handles} would refuse.
     *
     * @throws IllegalArgumentException if the options contradict those of this registry
     */
    default void check(LockOptions options) {}

    /** Makes handles of any registry. */
    static Function<String, NamedLock> handles(LockRegistry registry, LockOptions options) {
        return registry instanceof LockRuntime runtime
                ? Mocks.nonNull(runtime.handles(options), Mocks.NO_LOCK)
                : name -> get(registry, name, options);
    }

    /** Makes a handle of any registry. */
    static NamedLock get(LockRegistry registry, String name, LockOptions options) {
        return Mocks.nonNull(registry.get(name, options), Mocks.NO_LOCK);
    }

    /**
     * As {@link #acquireAsync(String, LockOptions)}, with the options of the handle.
     *
     * @param wait how long to wait at most; zero or less tries once
     */
    CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait);

    /** Acquires a lock of any registry. */
    static CompletableFuture<Lease> acquireAsync(LockRegistry registry, NamedLock lock, Duration wait) {
        return Mocks.nonNull(
                registry instanceof LockRuntime runtime
                        ? runtime.acquireAsync(lock, wait)
                        : registry.acquireAsync(lock.getName(), lock.options().withWaitTime(wait)),
                Mocks.NO_LOCK);
    }

    /**
     * {@return the ids of the holders, in the order of their grants} For display: the answer may be outdated when it
     * arrives.
     *
     * @param name the name of the lock
     * @throws LockUnavailableException if the store did not answer
     */
    List<String> holders(String name);

    /**
     * Announces to all listeners of this name, here and in other instances, that its value is loaded. Does not block.
     *
     * @param name the name of the lock
     */
    void announce(String name);

    /**
     * Registers a listener for announcements of this name. Announcements may be lost or repeated.
     *
     * @param name the name of the lock
     * @param listener is called on a shared thread, or on the announcing one; must not block
     * @return ends the listening
     */
    Runnable onAnnounced(String name, Runnable listener);

    /** A listener with one callback for every end of a hold, and of a wait without the lock. */
    interface Listener extends LockListener {

        /** How a wait or a hold ends. */
        enum Outcome {
            /** The wait ended with the lock. */
            ACQUIRED,
            /** Another caller held the lock until the wait ended. */
            NOT_ACQUIRED,
            /** The wait was cancelled. */
            ABANDONED,
            /** The wait ended with a failure. */
            UNAVAILABLE,
            /** The hold was released. */
            RELEASED,
            /** The hold ended without a release. */
            LOST
        }

        /**
         * A wait ended without the lock, or a hold ended.
         *
         * @param use the use of the lock
         * @param outcome any but {@code ACQUIRED}
         * @param time since the lock was requested or, for a hold, acquired
         */
        void ended(LockUse use, Outcome outcome, Duration time);

        @Override
        default void notAcquired(LockUse use, Duration waited) {
            ended(use, Outcome.NOT_ACQUIRED, waited);
        }

        @Override
        default void abandoned(LockUse use, Duration waited) {
            ended(use, Outcome.ABANDONED, waited);
        }

        @Override
        default void unavailable(LockUse use, Duration waited) {
            ended(use, Outcome.UNAVAILABLE, waited);
        }

        @Override
        default void released(LockUse use, Duration held, boolean known) {
            ended(use, Outcome.RELEASED, held);
        }

        @Override
        default void lost(LockUse use, Duration held, String reason) {
            ended(use, Outcome.LOST, held);
        }
    }
}
