package io.github.lockboot.registry;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.lockboot.LockListener.Origin;
import org.jspecify.annotations.Nullable;

/**
 * Notifies listeners of one use of a lock, from its request on. Of several outcomes of the wait, or ends of the hold, only the
 * first is reported. {@link #lost} and what follows it never block; the other methods run the listeners on the calling thread.
 */
public interface UseNotifier {

    /** The notifier of a use without listeners. */
    UseNotifier NONE = new UseNotifier() {};

    /**
     * The wait ended with the lock.
     *
     * @param ownerId the id of the holder in Redis; null without Redis
     * @param token the fencing token
     * @param origin how the lock was acquired
     * @param remaining the remaining lease at any later time
     */
    default void acquired(@Nullable String ownerId, long token, Origin origin, Supplier<Duration> remaining) {}

    /** Another caller held the lock until the wait ended. */
    default void notAcquired() {}

    /** The wait was interrupted or cancelled. */
    default void abandoned() {}

    /** A holder completed what the lock was requested for. */
    default void followed() {}

    /** The registry was not available. */
    default void unavailable() {}

    /**
     * Code begins to run under the hold.
     *
     * @return what to run afterwards; null for nothing
     */
    default @Nullable Runnable enter() {
        return null;
    }

    /**
     * The hold was released.
     *
     * @param known false if the outcome is not certain yet
     */
    default void released(boolean known) {}

    /**
     * The hold was lost.
     *
     * @param reason why, without the name of the lock
     */
    default void lost(String reason) {}

    /** The hold exceeded its maximum time. */
    default void stuck() {}

    /** The lease was renewed. */
    default void renewed() {}

    /** A renewal was not answered. */
    default void renewalFailed() {}
}
