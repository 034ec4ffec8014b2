package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The whole suite, which writes what came of it into {@code results} and {@code docs/evidence/reliability.md}.
 * {@code -Dfault=} and {@code -Dcontestant=} choose one, {@code -Druns=} says how often, {@code -Dseed=} repeats,
 * {@code -Dlanes=} says how many side by side.
 */
@Tag("every-fault")
class EveryFaultTests {

    @Test
    void thisLibraryViolatesNothing() throws Exception {
        long seed = Long.getLong("seed", System.currentTimeMillis());
        System.out.println("seed " + seed);
        Suite suite = new Suite(Integer.getInteger("runs", 2), Integer.getInteger("lanes", 4), seed);
        List<FaultResult> results = suite.run(System.getProperty("fault"), System.getProperty("contestant"));
        if (!results.isEmpty()) {
            Report.updatedWith(results).write();
        }
        assertThat(suite.violations()).isEmpty();
    }

    /** Once each, one after the other. {@code -Dfault=leases} chooses all of these. */
    @Test
    void noneOfManyLeasesIsLost() throws Exception {
        List<LeasesResult> results = new ArrayList<>();
        List<String> violations = new ArrayList<>();
        for (LeasesFault fault : isOurs() ? LeasesFault.named(System.getProperty("fault")) : List.<LeasesFault>of()) {
            try {
                LeasesResult result = ManyLeases.run(fault);
                System.out.println(result);
                results.add(result);
                violations.addAll(result.violations());
            } catch (RuntimeException failure) {
                violations.add(fault + " could not be run to its end: " + failure);
            }
        }
        if (!results.isEmpty()) {
            LeasesReport.updatedWith(results).write();
        }
        assertThat(violations).isEmpty();
    }

    /** Once each, as many side by side as {@code -Dlanes=} says. {@code -Dfault=outage} chooses all of these. */
    @Test
    void anOutageFillsNoLogAndHangsNoClose() throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(Integer.getInteger("lanes", 4));
        List<OutageResult> results = new ArrayList<>();
        List<String> violations = new ArrayList<>();
        try {
            Map<OutageFault, Future<OutageResult>> runs = new LinkedHashMap<>();
            for (OutageFault fault :
                    isOurs() ? OutageFault.named(System.getProperty("fault")) : List.<OutageFault>of()) {
                runs.put(fault, executor.submit(() -> Outages.run(fault)));
            }
            for (OutageFault fault : runs.keySet()) {
                try {
                    OutageResult result = runs.get(fault).get();
                    System.out.println(result);
                    results.add(result);
                    violations.addAll(result.violations());
                } catch (ExecutionException failure) {
                    violations.add(fault + " could not be run to its end: " + failure.getCause());
                }
            }
        } finally {
            executor.shutdownNow();
        }
        if (!results.isEmpty()) {
            OutageReport.updatedWith(results).write();
        }
        assertThat(violations).isEmpty();
    }

    /** Once each. {@code -Dfault=commits} chooses all of these. */
    @Test
    void noThreadCommitsAfterALoss() throws Exception {
        List<CommitsResult> results = isOurs()
                ? CommitsFault.named(System.getProperty("fault")).stream()
                        .map(Commits::run)
                        .toList()
                : List.of();
        results.forEach(System.out::println);
        if (!results.isEmpty()) {
            CommitsReport.updatedWith(results).write();
        }
        assertThat(results.stream().flatMap(result -> result.violations().stream()))
                .isEmpty();
    }

    /** {@code -Drounds=} of each, one after the other. {@code -Dfault=handover} chooses all of these. */
    @Test
    void aLeaseThatChangesItsProcessHasOneHolder() throws Exception {
        long seed = Long.getLong("seed", System.currentTimeMillis());
        List<HandOversResult> results = new ArrayList<>();
        List<String> violations = new ArrayList<>();
        for (HandOversFault fault :
                isOurs() ? HandOversFault.named(System.getProperty("fault")) : List.<HandOversFault>of()) {
            HandOversResult result = HandOvers.run(fault, Integer.getInteger("rounds", 10), seed, violations::add);
            System.out.println(result);
            results.add(result);
        }
        violations.forEach(System.out::println);
        if (!results.isEmpty()) {
            HandOversReport.updatedWith(results).write();
        }
        assertThat(violations).isEmpty();
    }

    private static boolean isOurs() {
        String contestant = System.getProperty("contestant");
        return contestant == null || Contestant.withId(contestant).isOurs();
    }
}
