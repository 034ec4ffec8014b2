package io.github.lockboot.observability;

import java.time.Duration;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockUse;

/**
 * What becomes of a lock, as an application event. {@link Acquired}, {@link NotAcquired} and {@link Released} are published on the
 * thread that uses the lock, which goes on when their listeners have returned; {@link Lost} and {@link Stuck} on one of the registry.
 *
 * <p>An event is published only if the application has a listener that asks for it, for {@code LockEvent}, or for another
 * supertype of it narrower than {@code Object}.
 */
public sealed interface LockEvent {

    /** {@return the use of the lock} Its name may be personal data. */
    LockUse lock();

    /**
     * The lock is held now.
     *
     * @param origin how that came about
     * @param waited since it was requested
     */
    record Acquired(LockUse lock, LockListener.Origin origin, Duration waited) implements LockEvent {}

    /**
     * Another held it until the wait ended.
     *
     * @param waited since it was requested
     */
    record NotAcquired(LockUse lock, Duration waited) implements LockEvent {}

    /**
     * The lock was given back.
     *
     * @param held since it was acquired
     */
    record Released(LockUse lock, Duration held) implements LockEvent {}

    /**
     * The hold ended although nobody gave it back: what runs under it is no longer protected.
     *
     * @param held since it was acquired
     * @param reason for a log, without the name of the lock
     */
    record Lost(LockUse lock, Duration held, String reason) implements LockEvent {}

    /**
     * The hold has passed its maximal time, is renewed no more and will be lost.
     *
     * @param held since it was acquired
     */
    record Stuck(LockUse lock, Duration held) implements LockEvent {}
}
