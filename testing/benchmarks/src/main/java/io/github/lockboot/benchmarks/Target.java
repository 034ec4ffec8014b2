package io.github.lockboot.benchmarks;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

import io.github.lockboot.harness.Contender;
import org.jspecify.annotations.Nullable;

import static io.github.lockboot.benchmarks.Contenders.JDK;
import static io.github.lockboot.benchmarks.Contenders.OURS;
import static io.github.lockboot.benchmarks.Contenders.OURS_ACKNOWLEDGED;
import static io.github.lockboot.benchmarks.Contenders.OURS_LINGERING;
import static io.github.lockboot.benchmarks.Contenders.OURS_SENT;
import static io.github.lockboot.benchmarks.Contenders.OURS_STRICT;
import static io.github.lockboot.benchmarks.Contenders.RAW;
import static io.github.lockboot.benchmarks.Contenders.RFAIR;
import static io.github.lockboot.benchmarks.Contenders.RLOCK;
import static io.github.lockboot.benchmarks.Contenders.RMULTI;
import static io.github.lockboot.benchmarks.Contenders.RREAD_WRITE;
import static io.github.lockboot.benchmarks.Contenders.RSEMAPHORE;
import static io.github.lockboot.benchmarks.Scenario.COLD;
import static io.github.lockboot.benchmarks.Scenario.COPIED;
import static io.github.lockboot.benchmarks.Scenario.DISTINCT;
import static io.github.lockboot.benchmarks.Scenario.FOUR_JVMS;
import static io.github.lockboot.benchmarks.Scenario.NESTED;
import static io.github.lockboot.benchmarks.Scenario.ONE_JVM;
import static io.github.lockboot.benchmarks.Scenario.ONE_JVM_REMOTE;
import static io.github.lockboot.benchmarks.Scenario.PERMITS;
import static io.github.lockboot.benchmarks.Scenario.READERS;
import static io.github.lockboot.benchmarks.Scenario.SEVERAL;
import static io.github.lockboot.benchmarks.Scenario.SEVERAL_REMOTE;
import static io.github.lockboot.benchmarks.Scenario.TAKE_OVER;
import static io.github.lockboot.benchmarks.Scenario.UNCONTENDED;
import static io.github.lockboot.benchmarks.Scenario.UNCONTENDED_REMOTE;
import static io.github.lockboot.benchmarks.Scenario.VIRTUAL;
import static io.github.lockboot.benchmarks.Scenario.WARMING;
import static io.github.lockboot.benchmarks.Scenario.WRITER;

/** A figure this library is to reach, alone or as a multiple of another's. */
record Target(
        Scenario scenario,
        Metric metric,
        Contender of,
        @Nullable Contender against,
        Bound bound,
        double value) {

    /** Which side of the value is good. */
    enum Bound {
        AT_LEAST,
        AT_MOST
    }

    /** What is compared. */
    enum Metric {
        SPEED("turns/s", Measurement::turnsPerSecond),
        P99("p99 of waiting, ms", measured -> measured.p99() / 1e3),
        FAIRNESS("Jain fairness", Measurement::fairness),
        COMMANDS("commands per turn", Measurement::commands),
        REDIS("Redis µs per turn", Measurement::redis),
        EXCESS("p99 of waiting beyond twice the longest read, ms", Measurement::excess);

        private final String title;
        private final ToDoubleFunction<Measurement> value;

        Metric(String title, ToDoubleFunction<Measurement> value) {
            this.title = title;
            this.value = value;
        }
    }

    static final List<Target> ALL = List.of(
            speed(COLD, OURS, RAW, 1 / 1.5),
            speed(WARMING, OURS, RAW, 0.8),
            speed(UNCONTENDED, OURS, RAW, 0.95),
            atMost(UNCONTENDED, Metric.COMMANDS, OURS, null, 2.004),
            speed(UNCONTENDED, OURS_SENT, RAW, 1.3),
            speed(UNCONTENDED_REMOTE, OURS_SENT, RAW, 1.7),
            speed(UNCONTENDED, OURS_LINGERING, RAW, 100),
            atMost(UNCONTENDED, Metric.COMMANDS, OURS_LINGERING, null, 0.004),
            speed(NESTED, OURS, RLOCK, 4),
            speed(DISTINCT, OURS, RAW, 1.2),
            speed(DISTINCT, OURS_SENT, RAW, 1.2),
            atMost(DISTINCT, Metric.REDIS, OURS, RAW, 1.4),
            speed(COPIED, OURS_ACKNOWLEDGED, OURS, 0.7),
            speed(ONE_JVM, OURS, JDK, 0.9),
            speed(ONE_JVM_REMOTE, OURS, JDK, 0.9),
            speed(ONE_JVM, OURS, RLOCK, 20),
            speed(ONE_JVM_REMOTE, OURS, RLOCK, 20),
            atMost(ONE_JVM, Metric.P99, OURS, RLOCK, 1 / 20.0),
            atMost(ONE_JVM, Metric.COMMANDS, OURS, null, 0.01),
            speed(FOUR_JVMS, OURS, RLOCK, 7),
            speed(FOUR_JVMS, OURS, RFAIR, 8),
            atLeast(FOUR_JVMS, Metric.FAIRNESS, OURS, 0.99),
            atMost(FOUR_JVMS, Metric.P99, OURS, RLOCK, 1 / 10.0),
            atMost(FOUR_JVMS, Metric.COMMANDS, OURS, null, 0.3),
            speed(FOUR_JVMS, OURS_STRICT, RFAIR, 3),
            atMost(FOUR_JVMS, Metric.COMMANDS, OURS_STRICT, null, 1.1),
            atMost(TAKE_OVER, Metric.P99, OURS_LINGERING, null, 5),
            speed(READERS, OURS, RREAD_WRITE, 10),
            speed(PERMITS, OURS, RSEMAPHORE, 5),
            atMost(WRITER, Metric.EXCESS, OURS, null, 20),
            atMost(WRITER, Metric.P99, OURS, RREAD_WRITE, 1),
            speed(SEVERAL, OURS, RMULTI, 5),
            speed(SEVERAL_REMOTE, OURS, RMULTI, 12),
            atMost(SEVERAL, Metric.COMMANDS, OURS, null, 40.08),
            speed(VIRTUAL, OURS, RLOCK, 12));

    private static Target speed(Scenario scenario, Contender of, Contender against, double value) {
        return new Target(scenario, Metric.SPEED, of, against, Bound.AT_LEAST, value);
    }

    private static Target atLeast(Scenario scenario, Metric metric, Contender of, double value) {
        return new Target(scenario, metric, of, null, Bound.AT_LEAST, value);
    }

    private static Target atMost(
            Scenario scenario, Metric metric, Contender of, @Nullable Contender against, double value) {
        return new Target(scenario, metric, of, against, Bound.AT_MOST, value);
    }

    /** Whether the contender is needed for a target in this scenario. */
    static boolean names(Contender contender, Scenario scenario) {
        return ALL.stream()
                .filter(target -> target.scenario == scenario)
                .anyMatch(target -> target.of == contender || target.against == contender);
    }

    String title() {
        return of.name() + ": " + metric.title + (against == null ? "" : " / " + against.name());
    }

    /** What was measured, if it could be. */
    Optional<Figure> measured(Map<Scenario, List<Result>> results) {
        Optional<Result> own = result(results, of);
        return against == null
                ? own.map(one -> one.figure(metric.value))
                : own.flatMap(one -> result(results, against).map(base -> one.figure(metric.value, base)));
    }

    /** The median where all rounds agree on whether the target is met, else the range. */
    String measured(Figure figure) {
        long met = figure.count(this::isMetBy);
        return met == 0 || met == figure.sorted().length ? Figure.number(figure.median()) : figure.range();
    }

    String verdict(Figure figure) {
        long met = figure.count(this::isMetBy);
        int rounds = figure.sorted().length;
        return met == rounds ? "met" : met == 0 ? "missed" : "met in " + met + " of " + rounds + " rounds";
    }

    private boolean isMetBy(double measured) {
        return bound == Bound.AT_LEAST ? measured >= value : measured <= value;
    }

    private Optional<Result> result(Map<Scenario, List<Result>> results, Contender contender) {
        return results.getOrDefault(scenario, List.of()).stream()
                .filter(result -> result.contender() == contender && !result.hasFailed())
                .findFirst();
    }
}
