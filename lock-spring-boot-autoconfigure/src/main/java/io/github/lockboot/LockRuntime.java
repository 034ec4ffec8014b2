package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.internal.Mocks;

/**
 * What {@link LockTemplate} and the annotation need beyond {@link LockRegistry}. The registries of this library implement it. With
 * another registry, such as one that wraps one of them, nothing is announced, and each caller of a flight acquires the lock.
 *
 * <p>Its locks and leases are {@link LockScope}s. Not for applications.
 */
public interface LockRuntime extends LockRegistry {

    /** {@return a function from names to handles with these options, which are completed once} */
    Function<String, NamedLock> handles(LockOptions options);

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

    /** Announces to all listeners of this name, here and in other instances, that its value is loaded. Does not block. */
    void announce(String name);

    /**
     * Listens to announcements of this name. Some may be lost, and some may come twice.
     *
     * @param listener is called on a shared thread, or on the announcing one; must not block
     * @return ends the listening
     */
    Runnable onAnnounced(String name, Runnable listener);

    /** A listener that gets every end of a wait without the lock, and of a hold, by one callback. */
    interface Listener extends LockListener {

        /**
         * A wait ended without the lock, or a hold ended.
         *
         * @param use the use of the lock
         * @param outcome for a wait {@code not_acquired}, {@code abandoned} or {@code unavailable}; for a hold {@code released} or
         *     {@code lost}
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
