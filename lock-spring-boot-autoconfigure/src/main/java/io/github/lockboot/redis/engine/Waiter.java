package io.github.lockboot.redis.engine;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * One who wants a lock: a thread that parks, or a future. Decided once, under the mutex of the queue; only a grant that nobody
 * has claimed yet can be taken back.
 */
public final class Waiter {

    /** How the wait stands: read it once, then decide by what was read. */
    public sealed interface Outcome permits Plain, Failure, Hold {}

    public enum Plain implements Outcome {
        WAITING,
        REFUSED,
        /** A holder has completed what a follower waited for. */
        COMPLETED
    }

    /** The wait ended without the lock because Redis could not be asked. */
    public record Failure(String reason, @Nullable Throwable cause) implements Outcome {}

    /** How long to wait. */
    public enum Patience {
        ONCE,
        LIMITED,
        UNLIMITED
    }

    private final Terms terms;
    private final long maxHoldNanos;
    private final Patience patience;
    private final Watch watch;
    private final @Nullable Thread thread;
    private final boolean follows;
    private final Runnable onDecision;
    private boolean overdue;
    private volatile Outcome outcome = Plain.WAITING;

    /**
     * Whether nobody is there any more for what it wants or holds. Set without a call, because there may be no stack left for
     * one: it is then passed over, and its hold given back.
     */
    public volatile boolean gone;

    private volatile boolean outlivesThread;

    private Waiter(
            Terms terms,
            long maxHoldNanos,
            Patience patience,
            Watch watch,
            @Nullable Thread thread,
            boolean follows,
            Runnable onDecision) {
        this.terms = terms;
        this.maxHoldNanos = maxHoldNanos;
        this.patience = patience;
        this.watch = watch;
        this.thread = thread;
        this.follows = follows;
        this.onDecision = onDecision;
    }

    /** The current thread, whose hold will be its own. */
    public static Waiter thread(Terms terms, long maxHoldNanos, Patience patience, Watch watch) {
        Thread thread = Thread.currentThread();
        return new Waiter(terms, maxHoldNanos, patience, watch, thread, false, () -> LockSupport.unpark(thread));
    }

    /**
     * Somebody who is told, and whose hold will be nobody's own.
     *
     * @param follows whether the wait also ends, without a hold, when a holder has completed
     */
    public static Waiter callback(
            Terms terms, long maxHoldNanos, Patience patience, Watch watch, boolean follows, Runnable onDecision) {
        return new Waiter(terms, maxHoldNanos, patience, watch, null, follows, onDecision);
    }

    public Terms terms() {
        return terms;
    }

    /** Nanoseconds after which its hold is no longer renewed; 0 for never. */
    public long maxHoldNanos() {
        return maxHoldNanos;
    }

    /** The thread that waits and will own the hold; null if it is told instead. */
    @Nullable
    public Thread thread() {
        return thread;
    }

    /** What listeners are told of it, and of its hold. */
    public Watch watch() {
        return watch;
    }

    public boolean follows() {
        return follows;
    }

    public boolean triesOnce() {
        return patience == Patience.ONCE;
    }

    public boolean isUnlimited() {
        return patience == Patience.UNLIMITED;
    }

    public boolean isOverdue() {
        return overdue;
    }

    public void setOverdue() {
        overdue = true;
    }

    /** Whether it would use the lock: whoever asked is there, and has not said otherwise. */
    public boolean isThere() {
        return !gone && (thread == null || outlivesThread || thread.isAlive());
    }

    /** Its hold may be released by any thread, so it does not end with its own. */
    public void outliveThread() {
        outlivesThread = true;
    }

    public boolean isWaiting() {
        return outcome == Plain.WAITING;
    }

    public Outcome outcome() {
        return outcome;
    }

    public void grant(Hold hold) {
        outcome = hold;
    }

    public void refuse() {
        outcome = Plain.REFUSED;
    }

    public void complete() {
        outcome = Plain.COMPLETED;
    }

    public void fail(String reason, @Nullable Throwable cause) {
        outcome = new Failure(reason, cause);
    }

    /** Wakes it to see how it was decided. */
    public void tell() {
        onDecision.run();
    }

    public Waiter waitAgain() {
        outcome = Plain.WAITING;
        return this;
    }
}
