package io.github.lockboot.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.engine.LockRequest.Terms;

/**
 * What the store granted to an acquisition: a fencing token to count on from, a lease, dated by our own clock from
 * before the command was sent that the store answered. Guarded by the mutex of the queue, but for the deadline.
 */
final class Grant {

    /**
     * A moment on both clocks. The monotonic one decides. The time of day, which anybody may set, only ever makes a
     * lease less certain: it goes on while the machine sleeps, where the other may stand still.
     */
    record Moment(long wallMillis, long nanos) {

        /** How long a lease from then on may be relied on, as clocks do not run at quite the same rate. */
        private static long certain(long leaseMillis) {
            return leaseMillis - leaseMillis / 100 - 2;
        }

        /** The end of a lease from then on, in monotonic nanoseconds. */
        long deadline(long leaseMillis) {
            return nanos + TimeUnit.MILLISECONDS.toNanos(certain(leaseMillis));
        }

        /**
         * The end of a lease from then on by the time of day. Half the margin, so that on a machine that has not slept
         * the monotonic clock comes first, although the time of day is in whole milliseconds and is now and then
         * corrected.
         */
        long wallDeadline(long leaseMillis) {
            return wallMillis + (certain(leaseMillis) + leaseMillis) / 2;
        }
    }

    /** What the clocks say of a lease. */
    enum LeaseState {
        RUNNING,
        /** By the time of day only: the machine may have slept, or the clock was set. Only the store can tell. */
        EXPIRED_BY_WALL_CLOCK,
        /** It may have run out. */
        OVER
    }

    /**
     * A lease as it was granted or renewed last, with its ends by both clocks: read as one, so that they belong
     * together.
     */
    private record Lease(long began, long nanos, long deadline, long wallDeadline) {

        static Lease of(long millis, Moment askedAt) {
            return new Lease(
                    askedAt.nanos(),
                    TimeUnit.MILLISECONDS.toNanos(millis),
                    askedAt.deadline(millis),
                    askedAt.wallDeadline(millis));
        }
    }

    /** How many more waiters are served: no number until other JVMs are known to wait. */
    private static final int UNLIMITED = -1;

    private final Terms terms;
    private final long grantNumber;
    private final boolean pushed;
    private final long firstToken;
    private long lastToken;
    private int handOversLeft = UNLIMITED;

    /** The latest time until which a holder wants the lock to stay taken after its end. */
    private long keptUntil;

    private volatile Lease lease;

    /**
     * @param grantNumber by which the store knows the grant
     * @param token the first fencing token; the only one if it is shared
     * @param pushed whether the store gave the lock unasked, when another gave it back
     */
    Grant(Terms terms, long grantNumber, long token, long leaseMillis, Moment askedAt, boolean pushed) {
        this.terms = terms;
        this.grantNumber = grantNumber;
        this.pushed = pushed;
        this.firstToken = token;
        this.lastToken = token - 1;
        this.keptUntil = askedAt.nanos();
        this.lease = Lease.of(leaseMillis, askedAt);
    }

    /** A renewed lease; it never makes the deadline earlier. */
    void prolong(long leaseMillis, Moment askedAt) {
        Lease renewed = Lease.of(leaseMillis, askedAt);
        if (renewed.deadline - lease.deadline >= 0) {
            lease = renewed;
        }
    }

    Terms terms() {
        return terms;
    }

    long grantNumber() {
        return grantNumber;
    }

    /**
     * The last fencing token that a hold of this grant has, for the store to count on from; 0 if holds have no tokens
     * of their own.
     */
    long lastToken() {
        return terms.kind() == LockKind.SHARED ? 0 : lastToken;
    }

    // --- its holds --------------------------------------------------------------------------------------------

    /** How the next hold comes about. */
    Origin nextOrigin() {
        return lastToken >= firstToken ? Origin.LOCAL : pushed ? Origin.GRANTED : Origin.ASKED;
    }

    /** The token for the next hold. Readers share one. */
    long nextToken() {
        lastToken = terms.kind() == LockKind.SHARED ? firstToken : lastToken + 1;
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

    /** Whether other JVMs are known to wait, so that only so many waiters are still served here. */
    boolean countsHandOvers() {
        return handOversLeft != UNLIMITED;
    }

    /** Whether another local hold may begin under it, rather than under a new grant. */
    boolean canServeAnother(long now) {
        return handOversLeft != 0
                && keptFor(now) <= 0
                && deadline() - now >= third()
                && (terms.kind() == LockKind.SHARED
                        || lastToken - firstToken < terms.kind().tokens() - 1);
    }

    /** A holder wants the lock to stay taken until then, also after its end. */
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
        return lease.deadline;
    }

    /** What the clocks say of the lease at that moment. May be read without the mutex. */
    LeaseState leaseAt(Moment moment) {
        Lease current = lease;
        if (current.deadline - moment.nanos <= 0) {
            return LeaseState.OVER;
        }
        return moment.wallMillis >= current.wallDeadline ? LeaseState.EXPIRED_BY_WALL_CLOCK : LeaseState.RUNNING;
    }

    long renewalDue() {
        return lease.began + third();
    }

    /** How often it is renewed. */
    long third() {
        return lease.nanos / 3;
    }

    /** How long to wait before a renewal that failed is tried again. */
    long retryDelay() {
        return lease.nanos / 10;
    }

    /** How much earlier than due it may be renewed, to go together with others. */
    long tolerance() {
        return lease.nanos / 60;
    }
}
