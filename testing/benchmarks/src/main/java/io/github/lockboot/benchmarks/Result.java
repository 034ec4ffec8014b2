package io.github.lockboot.benchmarks;

import java.util.List;
import java.util.function.ToDoubleFunction;

import io.github.lockboot.harness.Contender;
import org.jspecify.annotations.Nullable;

/** What all rounds of a scenario showed of one contender, or why it failed. */
record Result(
        Scenario scenario,
        Contender contender,
        List<Measurement> rounds,
        @Nullable String failure) {

    boolean hasFailed() {
        return failure != null;
    }

    /** The median over the rounds. */
    double median(ToDoubleFunction<Measurement> what) {
        double[] sorted = rounds.stream().mapToDouble(what).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    double max(ToDoubleFunction<Measurement> what) {
        return rounds.stream().mapToDouble(what).max().orElseThrow();
    }
}
