package io.github.lockboot.memory;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockOptions;

/**
 * How long a lease lasts, known from its start, because a live holder renews in time. It is renewed every third of its ttl:
 * without end, never, or until the maximum time of a hold.
 *
 * @param ttl the lease, in nanoseconds
 * @param lastRenewal when the last renewal happens, from the start
 */
record Lifetime(long ttl, long lastRenewal) {

    /** A time that never comes. */
    static final long NEVER = Long.MAX_VALUE;

    static Lifetime of(LockOptions options) {
        long ttl = nanos(Objects.requireNonNull(options.ttl()));
        Duration maxHold = options.maxHold();
        if (!Objects.requireNonNull(options.renew())) {
            return new Lifetime(ttl, 0);
        }
        return new Lifetime(ttl, maxHold == null ? NEVER : lastBefore(nanos(maxHold), ttl / 3));
    }

    static long nanos(Duration duration) {
        return TimeUnit.NANOSECONDS.convert(duration);
    }

    /** The sum of two times, or never if it is too large. */
    static long plus(long time, long more) {
        return more > NEVER - time ? NEVER : time + more;
    }

    /** How long the lease lasts, renewals included. */
    long length() {
        return plus(lastRenewal, ttl);
    }

    /** The time until the next renewal, after the given time. */
    long untilRenewal(long elapsed) {
        return ttl / 3 - elapsed % (ttl / 3);
    }

    /** What is left of the lease until the next renewal counts, after the given time. */
    long remaining(long elapsed) {
        long renewal = Math.min(elapsed - elapsed % (ttl / 3), lastRenewal);
        return Math.max(0, renewal + ttl - elapsed);
    }

    private static long lastBefore(long time, long interval) {
        return (time - 1) / interval * interval;
    }
}
