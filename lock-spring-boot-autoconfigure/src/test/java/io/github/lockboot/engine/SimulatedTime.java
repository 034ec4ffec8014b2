package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Supplier;

/** The one thread of a simulation: what is to happen, in the order of the time it happens at. */
final class SimulatedTime {

    private record Due(long at, long order, Runnable task) {}

    private final PriorityQueue<Due> tasks =
            new PriorityQueue<>(Comparator.comparingLong(Due::at).thenComparingLong(Due::order));
    private final boolean tracing;
    private final List<String> trace = new ArrayList<>();
    private long now;
    private long order;

    SimulatedTime(boolean tracing) {
        this.tracing = tracing;
    }

    /** Nanoseconds since the simulation began. */
    long now() {
        return now;
    }

    void after(long nanos, Runnable task) {
        tasks.add(new Due(now + Math.max(0, nanos), order++, task));
    }

    /** Runs what is due until then, and the check after each of it. */
    void runUntil(long end, Runnable check) {
        while (!tasks.isEmpty() && tasks.peek().at <= end) {
            Due due = tasks.remove();
            now = due.at;
            due.task.run();
            check.run();
        }
        now = end;
    }

    void trace(Supplier<String> what) {
        if (tracing) {
            trace.add("%10.3f ms  %s".formatted(now / 1e6, what.get()));
        }
    }

    List<String> trace() {
        return trace;
    }
}
