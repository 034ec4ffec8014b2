package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A lease as it was granted or renewed last, with its ends by both clocks. It is read as one, so that the ends belong
 * together.
 *
 * @param began when the command was sent whose answer grants or renews the lease
 * @param nanos its length
 * @param deadline until when it is certain, by the monotonic clock
 * @param wallDeadline until when it is certain, by the time of day
 */
record LeaseTime(long began, long nanos, long deadline, long wallDeadline) {

    /** A time that does not come. */
    static final long NEVER = Long.MAX_VALUE;

    /** What the clocks say of a lease. */
    enum State {
        RUNNING,
        /** By the time of day only: the machine may have slept, or the clock was set. Only the store can tell. */
        EXPIRED_BY_WALL_CLOCK,
        /** It may have run out. */
        OVER
    }

    /**
     * A reading of both clocks. The monotonic one decides. The time of day, which anybody may set, only ever makes a
     * lease less certain: it goes on while the machine sleeps, where the other may stand still.
     */
    record Moment(long wallMillis, long nanos) {}

    /**
     * {@return a lease of this length}
     *
     * <p>It ends 1 % and 2 ms early, because clocks may run at different rates. By the time of day it ends half of that
     * early: on a machine that has not slept the monotonic clock comes first, although the time of day is in whole
     * milliseconds and is now and then corrected.
     */
    static LeaseTime of(long millis, Moment from) {
        long certain = millis - millis / 100 - 2;
        return new LeaseTime(
                from.nanos,
                TimeUnit.MILLISECONDS.toNanos(millis),
                from.nanos + TimeUnit.MILLISECONDS.toNanos(certain),
                from.wallMillis + (certain + millis) / 2);
    }

    State at(Moment moment) {
        if (isOver(moment.nanos)) {
            return State.OVER;
        }
        return moment.wallMillis >= wallDeadline ? State.EXPIRED_BY_WALL_CLOCK : State.RUNNING;
    }

    boolean isOver(long nanoTime) {
        return deadline - nanoTime <= 0;
    }

    /** {@return what is left of it; zero or more} */
    Duration left(long nanoTime) {
        return Duration.ofNanos(Math.max(0, deadline - nanoTime));
    }

    /** Whether enough is left for another holder in this process, of any kind. */
    boolean isWorthSharing(long nanoTime) {
        return deadline - nanoTime >= third();
    }

    /** How often it is renewed. */
    long third() {
        return nanos / 3;
    }

    /** How long to wait before a renewal that failed is tried again. */
    long tenth() {
        return nanos / 10;
    }

    /** How much earlier than due it may be renewed, to go together with others. */
    long tolerance() {
        return Math.max(1, nanos / 60);
    }

    // --- times of the monotonic clock, which may be negative and overflow -----------------------------------------

    static boolean hasCome(long time, long now) {
        return time != NEVER && time - now <= 0;
    }

    static long earlier(long one, long other) {
        return one == NEVER || other != NEVER && other - one < 0 ? other : one;
    }

    static long later(long one, long other) {
        return one - other < 0 ? other : one;
    }
}
