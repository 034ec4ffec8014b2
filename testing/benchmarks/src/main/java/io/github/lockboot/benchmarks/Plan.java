package io.github.lockboot.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

import io.github.lockboot.harness.Contender;

/**
 * How much is measured.
 *
 * @param warmUpMillis how long new processes run before their first round
 * @param warmUps rounds of each scenario that do not count
 * @param turns per virtual thread; other threads go on for the time of a round
 * @param patienceMillis how long a contender may take beyond a round's time before it has failed
 */
record Plan(
        String name,
        long warmUpMillis,
        int warmUps,
        int rounds,
        long roundMillis,
        int turns,
        long patienceMillis,
        long limitMillis,
        List<Scenario> scenarios,
        boolean isOfAll) {

    private static final String QUICK = "quick";

    /** Those that a short run leaves out. */
    private static final Set<Scenario> LONG =
            Set.of(Scenario.FOUR_JVMS_REMOTE, Scenario.FOUR_JVMS_WORKING, Scenario.WARMING);

    private static final String PROFILE = "profile";
    private static final String PROFILE_RAW = "raw";

    /**
     * Who takes part: in short rounds with costly processes only those whom a target names, and one alone in a profile.
     */
    List<Contender> contenders(Scenario scenario) {
        if (name.equals(PROFILE)) {
            return List.of(Contenders.OURS);
        }
        if (name.equals(PROFILE_RAW)) {
            return List.of(Contenders.RAW);
        }
        boolean costly = scenario.processes() > 1 || scenario.load().isVirtual();
        return scenario.contenders().stream()
                .filter(one -> !costly || !name.equals(QUICK) || Target.names(one, scenario))
                .toList();
    }

    /**
     * @param args {@code quick} for short rounds, {@code profile} for warm ones of this library, or {@code profile raw}
     *     of the raw loop; then the ids of scenarios, or none for all
     */
    static Plan of(String[] args) {
        List<String> words = new ArrayList<>(Arrays.asList(args));
        boolean quick = words.remove(QUICK);
        boolean profile = words.remove(PROFILE);
        boolean raw = profile && words.remove(PROFILE_RAW);
        List<Scenario> scenarios = words.isEmpty()
                ? Arrays.stream(Scenario.values())
                        .filter(scenario -> !quick || !LONG.contains(scenario))
                        .toList()
                : words.stream().map(Scenario::withId).toList();
        if (profile) {
            return new Plan(raw ? PROFILE_RAW : PROFILE, 30_000, 1, 9, 1_000, 2, 30_000, 5 * 60_000, scenarios, false);
        }
        return quick
                ? new Plan(QUICK, 1_000, 1, 3, 250, 1, 10_000, 7 * 60_000, scenarios, words.isEmpty())
                : new Plan("full", 5_000, 1, 5, 1_000, 2, 30_000, 36 * 60_000, scenarios, words.isEmpty());
    }
}
