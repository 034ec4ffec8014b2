package io.github.lockboot.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.internal.Timer;

/**
 * What Redis granted to an acquisition: a fencing token to count on from, a lease, dated by our own clock from before the
 * command was sent that Redis answered. Guarded by the mutex of the queue, but for the deadline.
 */
final class Grant {

    /**
     * A moment on both clocks. The monotonic one decides. The time of day, which anybody may set, only ever makes a lease less
     * certain: it goes on while the machine sleeps, where the other may stand still.
     */
    record Moment(long wallMillis, long nanos) {

        /** The time of day is read first: a pause in between then makes it too early, and what is counted from it shorter. */
        static Moment now(Timer timer) {
            long wallMillis = timer.wallMillis();
            return new Moment(wallMillis, timer.nanoTime());
        }

        /** How long a lease from then on may be relied on, as clocks do not run at quite the same rate. */
        private static long certain(long leaseMillis) {
            return leaseMillis - leaseMillis / 100 - 2;
        }

        /** The end of a lease from then on, in monotonic nanoseconds. */
        long deadline(long leaseMillis) {
            return nanos + TimeUnit.MILLISECONDS.toNanos(certain(leaseMillis));
        }

        /**
         * The end of a lease from then on by the time of day. Half the margin, so that on a machine that has not slept the monotonic
         * clock comes first, although the time of day is in whole milliseconds and is now and then corrected.
         */
        long wallDeadline(long leaseMillis) {
            return wallMillis + (certain(leaseMillis) + leaseMillis) / 2;
        }
    }

    /** How many more waiters are served: no number until other JVMs are known to wait. */
    private static final int UNLIMITED = -1;

    private final Terms terms;
    private final long fence;
    private final boolean pushed;
    private final long firstToken;
    private long lastToken;
    private int handOversLeft = UNLIMITED;
    private long began;
    private long leaseNanos;

    /** The latest time until which a holder wants the lock to stay taken after its end. */
    private long keptUntil;

    private volatile long deadline;
    private volatile long wallDeadline;

    /**
     * @param fence by which Redis knows the grant
     * @param token the first fencing token; the only one if it is shared
     * @param pushed whether Redis gave the lock unasked, when another gave it back
     */
    Grant(Terms terms, long fence, long token, long leaseMillis, Moment askedAt, boolean pushed) {
        this.terms = terms;
        this.fence = fence;
        this.pushed = pushed;
        this.firstToken = token;
        this.lastToken = token - 1;
        this.began = askedAt.nanos();
        this.keptUntil = began;
        this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.deadline = askedAt.deadline(leaseMillis);
        this.wallDeadline = askedAt.wallDeadline(leaseMillis);
    }

    /** A renewed lease; it never makes the deadline earlier. */
    void prolong(long leaseMillis, Moment askedAt) {
        long renewed = askedAt.deadline(leaseMillis);
        if (renewed - deadline >= 0) {
            began = askedAt.nanos();
            leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
            deadline = renewed;
            wallDeadline = askedAt.wallDeadline(leaseMillis);
        }
    }

    Terms terms() {
        return terms;
    }

    long fence() {
        return fence;
    }

    /** The last fencing token that a hold of this grant has, for Redis to count on from; 0 if holds have no tokens of their own. */
    long lastToken() {
        return terms.isShared() ? 0 : lastToken;
    }

    // --- its holds --------------------------------------------------------------------------------------------

    /** How the next hold comes about. */
    Origin nextOrigin() {
        return lastToken >= firstToken ? Origin.LOCAL : pushed ? Origin.GRANTED : Origin.ASKED;
    }

    /** The token for the next hold. Readers share one. */
    long nextToken() {
        lastToken = terms.isShared() ? firstToken : lastToken + 1;
        if (handOversLeft > 0) {
            handOversLeft--;
        }
        return lastToken;
    }

    /** From now on, only so many waiters are served. Another call changes nothing. */
    void limitHandOvers(int left) {
        if (handOversLeft < 0) {
            handOversLeft = left;
        }
    }

    /** Whether other JVMs are known to wait. */
    boolean isLimited() {
        return handOversLeft != UNLIMITED;
    }

    /** Whether another local hold may begin under it, rather than under a new grant. */
    boolean canServeAnother(long now) {
        long tokens = terms.isExclusive() ? LockStore.TOKENS_PER_GRANT : LockStore.TOKENS_PER_PERMIT;
        return handOversLeft != 0
                && keptFor(now) <= 0
                && deadline - now >= third()
                && (terms.isShared() || lastToken - firstToken < tokens - 1);
    }

    /** A holder that has ended wants the lock to stay taken until then. */
    void keepUntil(long nanoTime) {
        if (nanoTime - keptUntil > 0) {
            keptUntil = nanoTime;
        }
    }

    /** For how long the lock is to stay taken once no hold is left; zero or less if it is not. */
    long keptFor(long now) {
        return keptUntil - now;
    }

    // --- its lease --------------------------------------------------------------------------------------------

    /** Until when the lease is certain. May be read without the mutex. */
    long deadline() {
        return deadline;
    }

    boolean isOver(long now) {
        return deadline - now <= 0;
    }

    /**
     * Whether the lease has run out by the time of day: the machine may have slept, or the clock was set. Only Redis can
     * tell. May be read without the mutex.
     */
    boolean isInDoubt(long wallMillis) {
        return wallMillis >= wallDeadline;
    }

    long renewalDue() {
        return began + third();
    }

    /** How often it is renewed. */
    long third() {
        return leaseNanos / 3;
    }

    /** How long to wait before a renewal that failed is tried again. */
    long retryDelay() {
        return leaseNanos / 10;
    }

    /** How much earlier than due it may be renewed, to go together with others. */
    long tolerance() {
        return leaseNanos / 60;
    }
}
