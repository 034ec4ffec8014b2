package io.github.lockboot.redis.engine;

import java.util.concurrent.TimeUnit;

import io.github.lockboot.internal.Timer;

/**
 * A moment on both clocks. The monotonic one decides. The time of day, which somebody may set, only ever makes a lease less
 * certain: it goes on while the machine sleeps, where the other may stand still.
 */
record Moment(long wallMillis, long nanos) {

    /** The time of day is read first: a pause in between then makes it too early, and what is counted from it shorter. */
    static Moment now(Timer timer) {
        long wallMillis = timer.wallMillis();
        return new Moment(wallMillis, timer.nanoTime());
    }

    /** How long a lease from then on may be relied on, clocks not running at quite the same rate. */
    private static long certain(long leaseMillis) {
        return leaseMillis - leaseMillis / 100 - 2;
    }

    /** The end of a lease from then on, in monotonic nanoseconds. */
    long deadline(long leaseMillis) {
        return nanos + TimeUnit.MILLISECONDS.toNanos(certain(leaseMillis));
    }

    /**
     * The end of a lease from then on by the time of day. Half the margin, so that on a machine that has not slept the monotonic
     * clock is first to say so, although the time of day is in whole milliseconds and is now and then corrected.
     */
    long wallDeadline(long leaseMillis) {
        return wallMillis + (certain(leaseMillis) + leaseMillis) / 2;
    }
}
