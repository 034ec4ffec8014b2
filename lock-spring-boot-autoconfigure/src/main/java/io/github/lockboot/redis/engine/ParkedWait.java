package io.github.lockboot.redis.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.StackReserve;

/**
 * A wait by a thread. It enters the queue of the name and parks until it is decided, interrupted or out of time.
 *
 * <p>It is woken when it is decided, but also looks now and then, since a wake-up may be lost with something that was thrown. If
 * it has no outcome long after it must have had one, it waits no longer.
 */
final class ParkedWait {

    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final EngineContext context;
    private final Waiter waiter;
    private final LocalQueue queue;
    private final long deadline;
    private boolean passed;
    private int silences;

    private ParkedWait(EngineContext context, Waiter waiter, LocalQueue queue, long deadline) {
        this.context = context;
        this.waiter = waiter;
        this.queue = queue;
        this.deadline = deadline;
        this.passed = waiter.request().triesOnce();
    }

    /**
     * {@return whether the current thread has the lock now}
     *
     * @throws InterruptedException if interrupted while it waited, and {@code interruptible}; else the flag is set again
     */
    static boolean acquire(LockEngine engine, LockRequest request, boolean interruptible) throws InterruptedException {
        StackReserve.check();
        EngineContext context = engine.context();
        Waiter waiter = Waiter.thread(request, engine.requested(request, Thread.currentThread()));
        try {
            long deadline = request.isUnlimited() ? 0 : context.nanoTime() + request.waitNanos();
            LocalQueue queue = engine.enter(waiter);
            new ParkedWait(context, waiter, queue, deadline).await(interruptible);
            return waiter.conclude(context.log()) != null;
        } catch (Throwable thrown) { // whatever it is, and whatever had become of it: the caller has no lock
            waiter.leaveBehind();
            engine.withdraw(waiter, thrown);
            waiter.concludeThrown();
            throw thrown;
        }
    }

    private void await(boolean interruptible) throws InterruptedException {
        boolean interrupted = false;
        try {
            while (!isDecided()) {
                interrupted |= Thread.interrupted();
                if (interrupted && interruptible && queue.leave(waiter)) {
                    interrupted = false;
                    waiter.use().abandoned();
                    throw new InterruptedException();
                }
                // Taking the queue's mutex may have used up the wake-up that came with a decision: look again.
                if (waiter.isWaiting()) {
                    park();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether the wait is over; a grant counts once it is claimed, with its lease still running. */
    private boolean isDecided() {
        Waiter.Outcome outcome = waiter.outcome();
        if (!(outcome instanceof Hold granted)) {
            return outcome != Waiter.Plain.WAITING;
        }
        if (!granted.isCertain()) {
            queue.takeBackOverdue(waiter, granted);
            return false;
        }
        return granted.claim();
    }

    /** Waits until something happens. */
    private void park() {
        if (passed) {
            parkForAnswer();
        } else if (waiter.request().isUnlimited()) {
            LockSupport.parkNanos(this, LOOK_NANOS);
        } else {
            long left = deadline - context.nanoTime();
            if (left > 0) {
                Timer.Task alarm = context.timer().alarm(left, () -> queue.leaveAtDeadline(waiter));
                LockSupport.parkNanos(this, Math.min(left, LOOK_NANOS));
                alarm.cancel();
            } else {
                passed = true;
                queue.leaveAtDeadline(waiter);
            }
        }
    }

    private void parkForAnswer() {
        long timeout = context.commandTimeout();
        long before = context.nanoTime();
        LockSupport.parkNanos(this, timeout);
        if (context.nanoTime() - before >= timeout && ++silences == 2) {
            queue.giveUp(waiter);
        }
    }
}
