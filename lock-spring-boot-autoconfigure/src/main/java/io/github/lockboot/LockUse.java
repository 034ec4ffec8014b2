package io.github.lockboot;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * One use of a lock, from the request to its end: a wait, and the hold it may lead to. A {@link LockListener} receives the
 * same object with each step. Taking the lock again on the thread that holds it is no use of its own.
 *
 * <p>Its text form holds a digest of the name. All methods may be called from any thread, at any time.
 */
public interface LockUse {

    /** {@return the name of the lock, key included} It may be personal data: tag no metric with it, and keep it out of logs. */
    String name();

    /** {@return what kind of lock it is ({@link LockOptions#group()}); null when not set} */
    @Nullable
    String group();

    /** {@return the thread that waits and will own the hold; null for a {@link Lease}} */
    @Nullable
    Thread thread();

    /** {@return the id under which Redis knows the holder; null until the lock is held} */
    @Nullable
    String ownerId();

    /** {@return the fencing token of the hold; 0 until the lock is held} Stays readable after the end. */
    long fencingToken();

    /** {@return how long the hold lasts for certain unless renewed; zero before and after it} */
    Duration remainingLease();
}
