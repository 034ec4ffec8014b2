package io.github.lockboot.faults;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Lets time pass that is itself what an experiment is about. */
final class Pause {

    private Pause() {}

    static void of(Duration time) {
        nanos(time.toNanos());
    }

    /** An interrupt neither ends it nor is lost. */
    static void nanos(long nanos) {
        long end = System.nanoTime() + nanos;
        boolean interrupted = false;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
            interrupted |= Thread.interrupted(); // with it, parking would be spinning
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
