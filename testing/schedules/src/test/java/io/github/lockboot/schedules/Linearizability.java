package io.github.lockboot.schedules;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.StressOptions;

/**
 * Has Lincheck make scenarios of operations, run each under many schedules, and look for a sequence that explains what
 * came of it.
 */
public final class Linearizability {

    private static final int DOSE = Integer.getInteger("schedules.dose", 1);

    /** More than the calls with which the engine makes sure of its stack: they recurse on purpose. */
    private static final int DEEPEST = 250;

    private static final int ACTORS = 3;

    private Linearizability() {}

    /** With threads as they run, which is fast. */
    public static void stress(Class<?> operations, Class<?> specification) {
        int scenarios = 20 * DOSE;
        int invocations = 1_000;
        new StressOptions()
                .iterations(scenarios)
                .invocationsPerIteration(invocations)
                .threads(3)
                .actorsPerThread(ACTORS)
                .actorsBefore(0)
                .actorsAfter(0)
                .minimizeFailedScenario(false)
                .sequentialSpecification(specification)
                .check(operations);
        report("stress", operations, scenarios, invocations);
    }

    /**
     * With threads that are switched where the model checker says.
     *
     * @param atOnce the number of scenarios of one dose
     */
    public static void check(Class<?> operations, Class<?> specification, int atOnce, int invocations) {
        int scenarios = atOnce * DOSE;
        new ModelCheckingOptions()
                .iterations(scenarios)
                .invocationsPerIteration(invocations)
                .threads(2)
                .actorsPerThread(ACTORS)
                .actorsBefore(0)
                .actorsAfter(0)
                .loopBound(DEEPEST)
                .recursionBound(DEEPEST)
                .minimizeFailedScenario(false)
                .sequentialSpecification(specification)
                .check(operations);
        report("model checking", operations, scenarios, invocations);
    }

    private static void report(String how, Class<?> operations, int scenarios, int invocations) {
        System.out.printf(
                "[schedules] Lincheck, %s, %s: %d scenarios, up to %,d schedules of each%n",
                how, operations.getSimpleName(), scenarios, invocations);
    }
}
