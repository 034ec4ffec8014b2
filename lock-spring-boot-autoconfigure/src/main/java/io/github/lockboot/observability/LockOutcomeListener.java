package io.github.lockboot.observability;

import java.time.Duration;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;

/** A listener that gets every end of a wait without the lock, and of a hold, by one callback. Not for applications. */
public interface LockOutcomeListener extends LockRuntime.Listener {

    /**
     * A wait ended without the lock, or a hold ended.
     *
     * @param use the use of the lock
     * @param outcome {@code not_acquired}, {@code abandoned}, {@code followed} or {@code unavailable} for a wait,
     *     {@code released} or {@code lost} for a hold
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
    default void followed(LockUse use, Duration waited) {
        ended(use, "followed", waited);
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
