package io.github.lockboot.observability;

import java.time.Duration;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;

/** A listener that gets every end of a wait or hold as an {@link Outcome}. Not for applications. */
public interface LockOutcomeListener extends LockRuntime.Listener {

    /** How a wait or a hold ends. */
    enum Outcome {

        /** The wait ended with the lock. */
        ACQUIRED,

        /** Another held the lock until the wait ended. */
        NOT_ACQUIRED,

        /** The wait was interrupted or cancelled. */
        ABANDONED,

        /** A holder completed what the lock was wanted for. */
        FOLLOWED,

        /** The wait ended because Redis was unavailable. */
        UNAVAILABLE,

        /** The hold was released. */
        RELEASED,

        /** The hold was lost before it was released. */
        LOST;

        boolean endsWait() {
            return compareTo(RELEASED) < 0;
        }
    }

    /**
     * A wait ended without the lock, or a hold ended.
     *
     * @param use the use of the lock
     * @param outcome any but {@link Outcome#ACQUIRED}
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
    default void followed(LockUse use, Duration waited) {
        ended(use, Outcome.FOLLOWED, waited);
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
