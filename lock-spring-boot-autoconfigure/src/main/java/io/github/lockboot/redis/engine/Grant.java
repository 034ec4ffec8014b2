package io.github.lockboot.redis.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.redis.protocol.LockStore;

/**
 * What Redis granted to an acquisition: a fencing token to count on from, and a lease, dated by our own clock from before the
 * command was sent that Redis answered. Guarded by the mutex of the queue, but for the deadline.
 */
final class Grant {

    private final long token;
    private final boolean pushed;
    private long lastToken;
    private long began;
    private long leaseNanos;
    private volatile long deadline;
    private volatile long wallDeadline;

    Grant(long token, long leaseMillis, Moment askedAt, boolean pushed) {
        this.token = token;
        this.pushed = pushed;
        this.lastToken = token - 1;
        this.began = askedAt.nanos();
        this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.deadline = askedAt.deadline(leaseMillis);
        this.wallDeadline = askedAt.wallDeadline(leaseMillis);
    }

    /** A renewed lease; it never makes the deadline earlier. */
    void prolong(long leaseMillis, Moment askedAt) {
        began = askedAt.nanos();
        leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        long renewed = askedAt.deadline(leaseMillis);
        if (renewed - deadline >= 0) {
            deadline = renewed;
            wallDeadline = askedAt.wallDeadline(leaseMillis);
        }
    }

    /** Whether Redis gave the lock unasked, when another gave it back. */
    boolean isPushed() {
        return pushed;
    }

    /** The token of the grant itself. */
    long token() {
        return token;
    }

    long lastToken() {
        return lastToken;
    }

    /** The token for the next local hold. */
    long nextToken() {
        return ++lastToken;
    }

    /** Whether another local hold may begin under it, rather than after a new grant. */
    boolean canServeAnother(long now) {
        return deadline - now >= leaseNanos / 3 && lastToken - token < LockStore.TOKENS_PER_GRANT - 1;
    }

    /** Until when the lease is certain. May be read without the mutex. */
    long deadline() {
        return deadline;
    }

    boolean isOver(long now) {
        return deadline - now <= 0;
    }

    /**
     * Whether the lease has run out by the time of day: the machine may have slept, or somebody set the clock. Only Redis can
     * tell. May be read without the mutex.
     */
    boolean isInDoubt(long wallMillis) {
        return wallMillis >= wallDeadline;
    }

    long renewalDue() {
        return began + leaseNanos / 3;
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
