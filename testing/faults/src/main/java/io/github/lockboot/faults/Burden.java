package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** What makes a JVM slow from within. */
final class Burden {

    private static final int OBJECTS = 1_500_000;
    private static final int TASKS = 1_000;

    private Burden() {}

    /**
     * Full collections of a heap of small objects, one right after the other: everybody stands still for most of that
     * time.
     */
    static void collectFor(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        List<Object> live = new ArrayList<>();
        for (int i = 0; i < OBJECTS; i++) {
            live.add(new long[4]);
        }
        while (System.nanoTime() - end < 0) {
            System.gc();
        }
        if (live.size() != OBJECTS) {
            throw new IllegalStateException("the list has to stay alive until here");
        }
    }

    /** Fills an executor with tasks that block. */
    static void saturate(Executor executor, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (int i = 0; i < TASKS; i++) {
            executor.execute(() -> Pause.nanos(end - System.nanoTime()));
        }
    }
}
