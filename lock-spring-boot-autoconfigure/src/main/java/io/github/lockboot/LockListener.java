package io.github.lockboot;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Is notified of events of the locks of a registry in this JVM: for metrics, events and displays. Register it with
 * {@link LockRegistry#addListener}. Spring Boot registers every bean of this type when all singletons exist.
 *
 * <p>A use of a lock is {@link #requested}, and its wait ends with one of {@link #acquired}, {@link #notAcquired},
 * {@link #abandoned} and {@link #unavailable}. After {@code acquired} the hold ends with one of {@link #released} and
 * {@link #lost}.
 *
 * <p><b>Threads.</b> The actions of a caller are reported on its own thread, before its call returns. For a
 * {@link Lease}, the request is reported on the requesting thread, the result on a thread of the registry, and the
 * release on the closing thread. Events in the background ({@link #lost}, {@link #takenInBothOrders}, {@link #stuck},
 * {@link #renewed}, {@link #renewalFailed}, and {@link #released} of a release that
 * {@linkplain DistributedLock.Release#SEND is only sent}) are reported in order on one thread of the registry, so
 * {@code lost} may come while {@code acquired} is still running. A slow listener delays its caller and other listeners,
 * but no other thread's lock. Exceptions of a listener are logged.
 */
public interface LockListener {

    /** How a hold began. */
    enum Origin {

        /** Another thread of this JVM passed it on, or it lingered in this JVM. No command was sent. */
        LOCAL,

        /** Redis granted it at once. */
        ASKED,

        /** This JVM waited in the queue, and got it when another JVM released it or lost its lease. */
        GRANTED
    }

    /**
     * A caller requests a lock that its thread does not hold, and may have to wait. If several locks are requested at
     * once, each is reported when it is acquired or when the wait for it begins.
     *
     * @param use the use of the lock
     */
    default void requested(LockUse use) {}

    /**
     * The wait ended with the lock.
     *
     * @param use the use of the lock
     * @param origin how the hold began
     * @param waited since it was requested
     */
    default void acquired(LockUse use, Origin origin, Duration waited) {}

    /**
     * Another caller held the lock until the wait ended.
     *
     * @param use the use of the lock
     * @param waited since it was requested
     */
    default void notAcquired(LockUse use, Duration waited) {}

    /**
     * The wait was cancelled: its thread was interrupted, its future was cancelled, or its flight found the value in
     * the cache.
     *
     * @param use the use of the lock
     * @param waited since it was requested
     */
    default void abandoned(LockUse use, Duration waited) {}

    /**
     * The wait ended because Redis is not available, or the registry was closing.
     *
     * @param use the use of the lock
     * @param waited since it was requested
     */
    default void unavailable(LockUse use, Duration waited) {}

    /**
     * A locked method, or an action of a {@link LockTemplate}, begins to run under the hold on this thread. Use it to
     * prepare the thread, such as its logging context.
     *
     * @param use the use of the lock
     * @return what to run on this thread when the action has returned, in reverse order; null for nothing
     */
    default @Nullable Runnable entering(LockUse use) {
        return null;
    }

    /**
     * The hold was released.
     *
     * @param use the use of the lock
     * @param held since it was acquired, including the answer to the release
     * @param known whether the release is confirmed; if not, it is repeated in the background until it is answered, at
     *     the latest until the lease ends
     */
    default void released(LockUse use, Duration held, boolean known) {}

    /**
     * The hold ended without a release: code that still runs under it is no longer protected.
     *
     * @param use the use of the lock
     * @param held since it was acquired
     * @param reason for a log; it does not contain the name of the lock
     */
    default void lost(LockUse use, Duration held, String reason) {}

    /**
     * The waiting thread holds another lock, and a thread of this process has requested the two locks in the opposite
     * order: a possible deadlock. Reported once for each pair of groups and order of their names.
     *
     * @param use the use of the lock
     */
    default void takenInBothOrders(LockUse use) {}

    /**
     * The hold has passed its {@link LockOptions#maxHold()}; it is no longer renewed and will be lost.
     *
     * @param use the use of the lock
     * @param held since it was acquired
     */
    default void stuck(LockUse use, Duration held) {}

    /**
     * Redis has prolonged the lease.
     *
     * @param use the use of the lock
     */
    default void renewed(LockUse use) {}

    /**
     * Redis did not answer a renewal, which is repeated while the lease lasts.
     *
     * @param use the use of the lock
     */
    default void renewalFailed(LockUse use) {}
}
