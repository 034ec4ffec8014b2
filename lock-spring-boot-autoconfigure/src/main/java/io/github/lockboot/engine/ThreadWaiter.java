package io.github.lockboot.engine;

import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.LockListener;
import io.github.lockboot.engine.LeaseTime.State;
import org.jspecify.annotations.Nullable;

/**
 * The current thread, which parks until it is decided, interrupted or out of time.
 *
 * <p>In words: while the wait is not decided, the thread parks until its deadline. A decision of the name and an
 * interrupt wake it; it may also wake without a reason. After each wake-up it reads the outcome. It claims an offered
 * hold if the lease still runs; otherwise the name takes the hold back, and the thread waits again as the first in the
 * line. An interrupt makes it leave the line, unless the name has decided by then: in that case the decision counts. At
 * its deadline it asks the name for a decision, and parks for another command timeout, because the last request may
 * still be under way.
 */
final class ThreadWaiter extends Waiter {

    ThreadWaiter(EngineContext context, LockRequest request, @Nullable UseNotifier use) {
        super(context, request, use, Thread.currentThread());
    }

    /**
     * Waits in the line of the name that it has entered.
     *
     * @return whether the thread has the lock now
     * @throws InterruptedException if interrupted while it waited, and {@code interruptible}; else the flag is set
     *     again
     */
    boolean await(boolean interruptible) throws InterruptedException {
        boolean interrupted = false;
        long wakesAt = start + timeToDecide();
        try {
            while (!claimOutcome()) {
                interrupted |= Thread.interrupted();
                if (interrupted && interruptible && decider().leave(this)) {
                    interrupted = false;
                    report(use -> use.ended(LockListener::abandoned));
                    throw new InterruptedException();
                }
                // Taking the name's mutex may have used up the wake-up that came with a decision: look again.
                if (isWaiting()) {
                    wakesAt = park(wakesAt);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return conclude() != null;
    }

    /** Claims the hold that is offered, if any, while its lease runs. {@return whether the wait is over} */
    private boolean claimOutcome() {
        Outcome outcome = outcome();
        if (!(outcome instanceof Hold granted)) {
            return outcome != Plain.WAITING;
        }
        if (granted.lease() != State.RUNNING) {
            decider().settleNow();
            return false;
        }
        granted.begin(); // first: once it is claimed it may be lost, and a listener may end it, on any thread
        boolean claimed = granted.claim();
        if (!claimed) {
            granted.end();
        }
        return claimed;
    }

    /** Parks until that time, or asks the name for a decision if it has passed. {@return until when to park next} */
    private long park(long wakesAt) {
        long left = wakesAt - context.nanoTime();
        if (left > 0) {
            LockSupport.parkNanos(this, left);
            return wakesAt;
        }
        decider().leaveAtDeadline(this);
        return context.nanoTime() + context.commandTimeout();
    }

    @Override
    String whyLost(String whyEnded) {
        return canUseLock() ? whyEnded : "its thread ended without releasing it";
    }

    @Override
    void wake() {
        LockSupport.unpark(thread());
    }
}
