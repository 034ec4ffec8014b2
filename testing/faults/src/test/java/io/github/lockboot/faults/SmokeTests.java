package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A few faults, once each, on this library alone: what the normal build has of the suite. How long anything took is
 * left to {@link EveryFaultTests}. {@code -Dseed=} repeats a run.
 */
@Tag("full")
class SmokeTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "none-strict",
                "holder-killed",
                "holder-stopped-long",
                "waiter-killed-at-grant",
                "waiter-killed-next-2",
                "reply-lost",
                "cut-in-flight",
                "redis-killed-durable",
                "out-of-memory",
                "flushall"
            })
    void nothingIsViolated(String fault) throws Exception {
        long seed = Long.getLong("seed", System.currentTimeMillis());
        List<RunResult> results = new Runner<>(Faults.named(fault), Contestant.THIS_LIBRARY).run(1, seed);
        assertThat(results)
                .allSatisfy(result -> assertThat(result.violations())
                        .as("-Dseed=%d", result.seed())
                        .allMatch(
                                violation -> result.late().contains(violation) && !violation.contains(" lost hold ")));
    }

    /**
     * If all were renewed at once, each answer would come after the next renewal had been sent, and all would be lost.
     */
    @Test
    void noneOfManyLeasesIsLostAfterACut() {
        assertThat(ManyLeases.run(LeasesFault.SMALL).violations()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"handover-giver-killed", "handover-taker-killed-amid"})
    void aLeaseThatChangesItsProcessHasOneHolder(String fault) {
        long seed = Long.getLong("seed", System.currentTimeMillis());
        List<String> violations = new ArrayList<>();
        HandOversFault.named(fault).forEach(each -> HandOvers.run(each, 1, seed, violations::add));
        assertThat(violations).allMatch(violation -> violation.contains(HandOvers.LATE));
    }
}
