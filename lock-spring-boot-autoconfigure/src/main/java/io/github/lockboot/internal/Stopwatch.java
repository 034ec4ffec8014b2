package io.github.lockboot.internal;

import java.time.Duration;

/** The time since a moment. Here alone the API and the annotation read a clock, the monotonic one. */
public final class Stopwatch {

    private final long start = System.nanoTime();

    private Stopwatch() {}

    /** {@return one that begins now} */
    public static Stopwatch start() {
        return new Stopwatch();
    }

    /** {@return the time that has passed} */
    public Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    /**
     * {@return what is left of a time that began with this; zero when it is over}
     *
     * @param whole the time
     */
    public Duration leftOf(Duration whole) {
        Duration left = whole.minus(elapsed());
        return left.isNegative() ? Duration.ZERO : left;
    }
}
