package io.github.lockboot.redis;

import java.util.concurrent.TimeUnit;

/**
 * What Redis granted to an acquisition: a fencing token to count on from, and a lease, dated by our own clock from before the
 * command was sent that Redis answered. Guarded by the mutex of the queue, but for the deadline.
 */
final class Grant {

    /** Tokens that one grant may be counted on to, its own included; common.lua leaves as many after an expiry. */
    private static final long LOCAL_TOKENS = 65_536;

    private final long token;
    private long lastToken;
    private long began;
    private long leaseNanos;
    private volatile long deadline;

    Grant(long token, long leaseMillis, long askedAt) {
        this.token = token;
        this.lastToken = token - 1;
        this.began = askedAt;
        this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.deadline = deadlineOf(leaseMillis, askedAt);
    }

    /** Until when a lease may be relied on, clocks not running at quite the same rate. */
    static long deadlineOf(long leaseMillis, long askedAt) {
        return askedAt + TimeUnit.MILLISECONDS.toNanos(leaseMillis - leaseMillis / 100 - 2);
    }

    /** A renewed lease; it never makes the deadline earlier. */
    void prolong(long leaseMillis, long askedAt) {
        began = askedAt;
        leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        deadline = Math.max(deadline, deadlineOf(leaseMillis, askedAt));
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
        return deadline - now >= leaseNanos / 3 && lastToken - token < LOCAL_TOKENS - 1;
    }

    /** Until when the lease is certain. May be read without the mutex. */
    long deadline() {
        return deadline;
    }

    boolean isOver(long now) {
        return deadline - now <= 0;
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
