package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/** All faults on all contestants, or those that are named, a few side by side since most of the time is spent waiting. */
final class Suite {

    private record Part(Fault<?> fault, Contestant contestant) {}

    private final int times;
    private final int lanes;
    private final long seed;
    private final List<String> violations = new ArrayList<>();

    /**
     * @param times how often each is run, those that take long less often
     * @param lanes how many side by side
     * @param seed of the first run of each
     */
    Suite(int times, int lanes, long seed) {
        this.times = times;
        this.lanes = lanes;
        this.seed = seed;
    }

    /** @param fault the only one to run, or null for all; the same for the contestant */
    List<Figures> run(@Nullable String fault, @Nullable String contestant) throws Exception {
        List<Part> parts = new ArrayList<>();
        for (Fault<?> one : Faults.ALL) {
            for (Contestant each : one.contestants()) {
                if ((fault == null || fault.equals(one.name())) && (contestant == null || contestant.equals(each.id()))) {
                    parts.add(new Part(one, each));
                }
            }
        }
        parts.sort(Comparator.comparingInt(part -> -part.fault().cost())); // the long ones first, so that none is last
        ExecutorService executor = Executors.newFixedThreadPool(lanes);
        try {
            List<Future<Figures>> runs = parts.stream()
                    .map(part -> executor.submit(() -> run(part.fault(), part.contestant())))
                    .toList();
            List<Figures> figures = new ArrayList<>();
            for (Future<Figures> run : runs) {
                figures.add(run.get());
            }
            return figures;
        } catch (ExecutionException failure) {
            throw new IllegalStateException("the suite itself failed", failure.getCause());
        } finally {
            executor.shutdownNow();
        }
    }

    /** What this library did wrong, with the seed of the run. */
    List<String> violations() {
        return violations;
    }

    private Figures run(Fault<?> fault, Contestant contestant) throws Exception {
        int runs = Math.max(1, times / fault.cost());
        List<RunResult> results = new Runner<>(fault, contestant).run(runs, seed);
        Figures figures = Figures.of(fault, contestant, results);
        synchronized (this) {
            System.out.println(figures);
            for (RunResult result : results) {
                for (String violation : result.violations()) {
                    String line = fault + ", " + contestant.id() + ", seed " + result.seed() + ": " + violation;
                    System.out.println("  " + line);
                    if (contestant.isOurs()) {
                        violations.add(line);
                    }
                }
            }
        }
        return figures;
    }
}
