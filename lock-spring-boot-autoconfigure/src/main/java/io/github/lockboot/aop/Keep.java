package io.github.lockboot.aop;

import java.time.Duration;

/**
 * How long a lock stays at least.
 *
 * @param time counted from when it was taken
 * @param onlyOnSuccess whether a method that fails gives it back at once
 */
record Keep(Duration time, boolean onlyOnSuccess) {

    /** What is left of the time; zero when there is no reason to keep the lock. */
    Duration left(long sinceNanos, boolean succeeded) {
        if (onlyOnSuccess && !succeeded) {
            return Duration.ZERO;
        }
        Duration left = time.minusNanos(System.nanoTime() - sinceNanos);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
