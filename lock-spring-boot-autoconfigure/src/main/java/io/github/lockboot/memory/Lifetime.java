package io.github.lockboot.memory;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockOptions;

/**
 * When a lease ends, known from its beginning: whoever is alive renews in time. Renewals come every third of the ttl, without
 * end, or never, or for as long as a hold may last at most.
 *
 * @param ttl the lease, in nanoseconds
 * @param lastRenewal how long after the beginning the last renewal comes
 */
record Lifetime(long ttl, long lastRenewal) {

    /** The time of what never happens. */
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

    /** The sum of two times, or never if there is no such time. */
    static long plus(long time, long more) {
        return more > NEVER - time ? NEVER : time + more;
    }

    /** How long the lease lasts in all. */
    long length() {
        return plus(lastRenewal, ttl);
    }

    /** How long it is until a renewal would come, some time after the beginning. */
    long untilRenewal(long elapsed) {
        return ttl / 3 - elapsed % (ttl / 3);
    }

    /** How much of the lease is certain some time after the beginning. */
    long remaining(long elapsed) {
        long renewal = Math.min(elapsed - elapsed % (ttl / 3), lastRenewal);
        return Math.max(0, renewal + ttl - elapsed);
    }

    private static long lastBefore(long time, long interval) {
        return (time - 1) / interval * interval;
    }
}
