package io.github.lockboot;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Is told what becomes of the locks of a registry, in this JVM: for metrics, events and displays. It is made known by
 * {@link LockRegistry#addListener}; Spring Boot does so with every bean of this type, once all singletons exist. A registry
 * without listeners does nothing for them, not even look at the clock.
 *
 * <p>A use of a lock is {@link #requested}, and its wait ends in one of {@link #acquired}, {@link #notAcquired},
 * {@link #abandoned} and {@link #unavailable}. After {@code acquired} the hold ends in one of {@link #released} and {@link #lost}.
 *
 * <p><b>Threads.</b> What a caller does is told on the caller's own thread, before its call returns; for a {@link Lease} that
 * is the thread which asks, a thread of the registry for the answer, and the one which closes. What happens by itself is told
 * in order on one thread of the registry: {@link #lost}, {@link #stuck}, {@link #renewed}, {@link #renewalFailed}. So {@code lost}
 * may come while {@code acquired} is still being told. No mutex of a lock is held meanwhile: a listener that takes its time
 * delays its caller and other listeners, but no other thread's lock. What it throws is logged and goes no further.
 */
public interface LockListener {

    /** How a hold came about. */
    enum Origin {

        /** Handed over by another thread of this JVM, without asking Redis. */
        LOCAL,

        /** Redis was asked and gave it. */
        ASKED,

        /** Another JVM's release, or the end of its lease, gave it to this one, which was waiting in the queue. */
        GRANTED
    }

    /**
     * Somebody asks for a lock that the thread does not hold, and may have to wait.
     *
     * @param use what it is about
     */
    default void requested(LockUse use) {}

    /**
     * The wait ended with the lock.
     *
     * @param use what it is about
     * @param origin how the hold came about
     * @param waited since it was requested
     */
    default void acquired(LockUse use, Origin origin, Duration waited) {}

    /**
     * Another held it until the wait ended.
     *
     * @param use what it is about
     * @param waited since it was requested
     */
    default void notAcquired(LockUse use, Duration waited) {}

    /**
     * The wait was given up: its thread was interrupted, its future was cancelled, or a flight was completed by another.
     *
     * @param use what it is about
     * @param waited since it was requested
     */
    default void abandoned(LockUse use, Duration waited) {}

    /**
     * The wait ended because Redis could not be asked, or the registry was closing.
     *
     * @param use what it is about
     * @param waited since it was requested
     */
    default void unavailable(LockUse use, Duration waited) {}

    /**
     * Something begins to run under the hold on this thread: a locked method, or an action of a {@link LockTemplate}. For what
     * sets the thread up, such as a logging context.
     *
     * @param use what it is about
     * @return what to do on this thread when it has returned, the last one entered first; null for nothing
     */
    default @Nullable Runnable entering(LockUse use) {
        return null;
    }

    /**
     * The hold was given back.
     *
     * @param use what it is about
     * @param held since it was acquired, the answer to the release included
     * @param known whether Redis, or the next thread, has it for certain; if not, it is settled in the background, at the latest
     *     by the end of the lease
     */
    default void released(LockUse use, Duration held, boolean known) {}

    /**
     * The hold ended although nobody gave it back: what still runs under it is no longer protected.
     *
     * @param use what it is about
     * @param held since it was acquired
     * @param reason for a log, without the lock's name
     */
    default void lost(LockUse use, Duration held, String reason) {}

    /**
     * The hold has passed its {@link LockOptions#maxHold()}; it is not renewed any more and will be lost. Noticed when a
     * renewal is due, so up to a third of the ttl late.
     *
     * @param use what it is about
     * @param held since it was acquired
     */
    default void stuck(LockUse use, Duration held) {}

    /**
     * Redis has prolonged the lease.
     *
     * @param use what it is about
     */
    default void renewed(LockUse use) {}

    /**
     * Redis did not answer a renewal; it is tried again while the lease lasts.
     *
     * @param use what it is about
     */
    default void renewalFailed(LockUse use) {}
}
