package io.github.lockboot.observability;

import java.time.Duration;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockUse;

/**
 * An application event of a lock. {@link Acquired}, {@link NotAcquired} and {@link Released} are published on the thread that
 * uses the lock, which waits for their listeners; {@link Lost} and {@link Stuck} on a thread of the registry, and so is {@code Released}
 * of a release that {@linkplain io.github.lockboot.DistributedLock.Release#SEND is only sent}.
 *
 * <p>An event is published only if the application has a listener for it, for {@code LockEvent}, or for another supertype of it
 * narrower than {@code Object}.
 */
public sealed interface LockEvent {

    /** {@return the use of the lock} Its name may be personal data. */
    LockUse lock();

    /**
     * The lock was acquired.
     *
     * @param origin how it was acquired
     * @param waited since it was requested
     */
    record Acquired(LockUse lock, LockListener.Origin origin, Duration waited) implements LockEvent {}

    /**
     * Another caller held the lock until the wait ended.
     *
     * @param waited since it was requested
     */
    record NotAcquired(LockUse lock, Duration waited) implements LockEvent {}

    /**
     * The lock was released.
     *
     * @param held since it was acquired
     */
    record Released(LockUse lock, Duration held) implements LockEvent {}

    /**
     * The lock was lost before it was released: what runs under it is no longer protected.
     *
     * @param held since it was acquired
     * @param reason for a log, without the name of the lock
     */
    record Lost(LockUse lock, Duration held, String reason) implements LockEvent {}

    /**
     * The lock is held beyond its maximum time. It is no longer renewed and will be lost.
     *
     * @param held since it was acquired
     */
    record Stuck(LockUse lock, Duration held) implements LockEvent {}
}
