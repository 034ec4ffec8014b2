package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * All faults on all contestants, or those that are named, a few side by side since most of the time is spent waiting.
 */
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

    /** @param faults those to run, separated by commas, or null for all; the same for the contestant, who is one */
    List<FaultResult> run(@Nullable String faults, @Nullable String contestant) throws Exception {
        List<Part> parts = new ArrayList<>();
        for (Fault<?> one : Faults.ALL) {
            for (Contestant each : one.contestants()) {
                if ((faults == null || List.of(faults.split(",")).contains(one.name()))
                        && (contestant == null || contestant.equals(each.id()))) {
                    parts.add(new Part(one, each));
                }
            }
        }
        parts.sort(Comparator.comparingInt(part -> -part.fault().cost())); // the long ones first, so that none is last
        ExecutorService executor = Executors.newFixedThreadPool(lanes);
        try {
            List<Future<@Nullable FaultResult>> runs = parts.stream()
                    .map(part -> executor.submit(() -> run(part.fault(), part.contestant())))
                    .toList();
            List<FaultResult> results = new ArrayList<>();
            for (Future<@Nullable FaultResult> run : runs) {
                FaultResult one = run.get();
                if (one != null) {
                    results.add(one);
                }
            }
            return results;
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

    private @Nullable FaultResult run(Fault<?> fault, Contestant contestant) throws Exception {
        List<RunResult> runs;
        try {
            runs = new Runner<>(fault, contestant).run(Math.max(1, times / fault.cost()), seed);
        } catch (Deployment.NotHereException why) {
            System.out.println(fault + " is not run: " + why.getMessage());
            return null;
        }
        FaultResult result = FaultResult.of(fault, contestant, runs);
        synchronized (this) {
            System.out.println(result);
            for (RunResult run : runs) {
                for (String violation : run.violations()) {
                    String line = fault + ", " + contestant.id() + ", seed " + run.seed() + ": " + violation;
                    System.out.println("  " + line);
                    if (contestant.isOurs()) {
                        violations.add(line);
                    }
                }
            }
        }
        return result;
    }
}
