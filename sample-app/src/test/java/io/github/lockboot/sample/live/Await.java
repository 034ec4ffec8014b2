package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits until something is so. */
final class Await {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Await() {}

    static void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("waited " + PATIENCE.toSeconds() + " s in vain for: " + what);
            }
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted while waiting for: " + what, e);
            }
        }
    }
}
