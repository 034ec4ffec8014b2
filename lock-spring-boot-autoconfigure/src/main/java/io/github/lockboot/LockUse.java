package io.github.lockboot;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * One use of a lock: a wait, and the hold that may follow. A {@link LockListener} gets the same object in all calls. If
 * a thread acquires a lock that it holds, this is not a new use.
 *
 * <p>{@code toString()} has a digest of the name. All methods may be called from any thread, at any time.
 */
public interface LockUse {

    /** {@return the registry of the lock} */
    LockRegistry registry();

    /** {@return the name of the lock, key included} It may be personal data: do not use it in metrics and logs. */
    String name();

    /** {@return the group of the lock ({@link LockOptions#group()}); null if not set} */
    @Nullable
    String group();

    /** {@return whether others may hold the lock at the same time} */
    DistributedLock.Mode mode();

    /** {@return how many may hold the lock at a time ({@link LockOptions#permits()}); null if not limited} */
    @Nullable
    Integer permits();

    /** {@return the thread that waits and then holds the lock; null for a {@link Lease}} */
    @Nullable
    Thread thread();

    /** {@return the id of the holder in the store; null until the lock is held} */
    @Nullable
    String holderId();

    /** {@return the fencing token of the hold; 0 until the lock is held} Also after the end. */
    long fencingToken();

    /** {@return how long the hold lasts for certain unless renewed; zero before and after it} */
    Duration remainingLease();
}
