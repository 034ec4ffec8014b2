package io.github.lockboot.redis.engine;

import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/**
 * One who wants a lock: a thread that parks, or a future. Decided once, under the mutex of the queue; only a grant that has not been
 * claimed yet can be taken back.
 */
public final class Waiter {

    /** How the wait stands: read it once, then decide by what was read. */
    sealed interface Outcome permits Plain, Failure, Hold {}

    enum Plain implements Outcome {
        WAITING,
        REFUSED,
        /** A holder has completed what a follower waited for. */
        COMPLETED
    }

    /** The wait ended without the lock because Redis could not be asked. */
    record Failure(String reason, @Nullable Throwable cause) implements Outcome {}

    private final LockRequest request;
    private final UseNotifier use;
    private final @Nullable Thread thread;
    private final Runnable onDecision;
    private boolean lastCall;
    private volatile Outcome outcome = Plain.WAITING;
    private volatile boolean gone;
    private volatile boolean outlivesThread;

    private Waiter(LockRequest request, UseNotifier use, @Nullable Thread thread, Runnable onDecision) {
        this.request = request;
        this.use = use;
        this.thread = thread;
        this.onDecision = onDecision;
    }

    /** The current thread, which will own the hold. */
    static Waiter thread(LockRequest request, UseNotifier use) {
        Thread thread = Thread.currentThread();
        return new Waiter(request, use, thread, () -> LockSupport.unpark(thread));
    }

    /** One whose hold will belong to no thread; {@code onDecision} runs on any thread and must not block. */
    static Waiter callback(LockRequest request, UseNotifier use, Runnable onDecision) {
        return new Waiter(request, use, null, onDecision);
    }

    LockRequest request() {
        return request;
    }

    /** What listeners are told of it, and of its hold. */
    UseNotifier use() {
        return use;
    }

    /** The thread that waits and will own the hold; null if there is none. */
    @Nullable
    Thread thread() {
        return thread;
    }

    /** Whether it will not wait for a second answer: it tries once, its time is over, or it was cancelled. */
    boolean isLastCall() {
        return lastCall || request.triesOnce();
    }

    void setLastCall() {
        lastCall = true;
    }

    /** Whoever asked is not there any more: it is passed over, and its hold given back. */
    void leaveBehind() {
        gone = true;
    }

    boolean isGone() {
        return gone;
    }

    /** Whether it would use the lock. */
    boolean isThere() {
        return !gone && (thread == null || outlivesThread || thread.isAlive());
    }

    /** Its hold may be released by any thread, so it does not end with its own. */
    void outliveThread() {
        outlivesThread = true;
    }

    // --- how it is decided ------------------------------------------------------------------------------------

    boolean isWaiting() {
        return outcome == Plain.WAITING;
    }

    Outcome outcome() {
        return outcome;
    }

    /** Sets the outcome; the mutex is held. */
    void decide(Outcome decided) {
        outcome = decided;
    }

    Waiter waitAgain() {
        outcome = Plain.WAITING;
        return this;
    }

    /** Wakes it to see how it was decided. */
    void wake() {
        onDecision.run();
    }

    /**
     * Tells listeners and the log how the wait has ended.
     *
     * @return the hold, which the caller has claimed; null if another has the lock
     * @throws LockUnavailableException if Redis could not be asked
     */
    @Nullable
    Hold conclude(LockLog log) {
        Outcome decided = outcome;
        if (decided instanceof Hold granted) {
            use.acquired(granted);
            return granted;
        }
        if (decided instanceof Failure failure) {
            use.unavailable();
            log.unavailable(request.name(), failure.reason);
            throw new LockUnavailableException(request.name(), failure.reason, failure.cause);
        }
        use.notAcquired();
        log.notAcquired(request.name());
        return null;
    }

    /** Tells listeners that it ended with something that was thrown, unless they have been told of an end. */
    void concludeThrown() {
        try {
            use.unavailable();
        } catch (Throwable thrown) {
            Unexpected.failure("when listeners were told of a failure", thrown);
        }
    }
}
