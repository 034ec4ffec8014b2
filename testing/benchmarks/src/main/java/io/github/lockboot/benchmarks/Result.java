package io.github.lockboot.benchmarks;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

import io.github.lockboot.harness.Contender;
import org.jspecify.annotations.Nullable;

/**
 * What all rounds of a scenario showed of one contender, or why it failed.
 *
 * @param load what its processes did
 */
record Result(
        Scenario scenario,
        Load load,
        Contender contender,
        List<Measurement> rounds,
        @Nullable String failure) {

    boolean hasFailed() {
        return failure != null;
    }

    Figure figure(ToDoubleFunction<Measurement> what) {
        return Figure.of(rounds.stream().mapToDouble(what).toArray());
    }

    /** As a multiple of another's in the round beside it. */
    Figure figure(ToDoubleFunction<Measurement> what, Result base) {
        return Figure.of(IntStream.range(0, Math.min(rounds.size(), base.rounds.size()))
                .mapToDouble(
                        round -> what.applyAsDouble(rounds.get(round)) / what.applyAsDouble(base.rounds.get(round)))
                .toArray());
    }
}
