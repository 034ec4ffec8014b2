package io.github.lockboot.spec;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.spec.Tlc.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** The protocol holds in the model, and the model notices when a rule of it is broken. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class LockSpecTests {

    private static final Path FOLDER = Path.of("").toAbsolutePath();
    private static final String LOCK = "Lock.tla";
    private static final String ACKNOWLEDGED = "Acknowledged.tla";

    @TempDir
    private Path work;

    @Test
    void theProtocolHoldsUpToItsDepth() {
        holds(LOCK, "Protocol.cfg", "-workers", "2");
    }

    @Test
    void theProtocolHoldsForHoldersOfEveryKind() {
        holds(LOCK, "Kinds.cfg", "-workers", "2");
    }

    @Test
    void theProtocolHoldsForHoldersOfEveryKindInEveryBehaviourWhenTheNetworkDelivers() {
        holds(LOCK, "KindsComplete.cfg", "-workers", "2");
    }

    @Test
    void theProtocolHoldsWhenHoldsChangeTheirProcess() {
        holds(LOCK, "Transfer.cfg", "-workers", "2");
    }

    @Test
    void everyWaitEndsWhenTheNetworkDelivers() {
        holds(LOCK, "Liveness.cfg");
    }

    @Test
    void everyWaitOfEveryKindEndsWhenTheNetworkDelivers() {
        holds(LOCK, "KindsLiveness.cfg");
    }

    @Test
    void theProtocolHoldsInLongRandomRuns() {
        Result result =
                Tlc.check(FOLDER, LOCK, "Random.cfg", work, "-simulate", "num=1500", "-depth", "100", "-seed", "1");
        report("Random.cfg", result);
        assertThat(result.violated()).as(result.output()).isEmpty();
        assertThat(result.output()).doesNotContain("Error").containsPattern("[0-9]+ states checked");
    }

    /** One worker, so that the counterexample is a shortest one. */
    @ParameterizedTest
    @CsvSource({
        "date-from-reception, TheNewestTokenBelieves, 7",
        "release-by-client, OnlyItsOwnIdEndsALease, 8",
        "accept-stale-push, TheNewestTokenBelieves, 14",
        "renew-unfenced, TheNewestTokenBelieves, 10",
        "take-over-unrenewed, TheNewestTokenBelieves, 8",
        "reacquire-unrenewed, TheNewestTokenBelieves, 9",
        "cancel-after-hold, TokensGrow, 12",
        "heed-older-answer, TokensGrow, 13",
        "reuse-id, TheNewestTokenBelieves, 8",
        "take-after-cancel, TheNewestTokenBelieves, 7",
        "unlock-before-end, TheNewestTokenBelieves, 7",
        "no-drift, TheNewestTokenBelieves, 7",
        "admit-any-kind, TheNewestTokenBelieves, 6",
        "admit-one-more, BelieversFit, 7",
        "admit-own-number, BelieversFit, 7",
        "overtake, NobodyOvertakes, 9",
        "leave-admits-nobody, HoldersFit, 10",
        "unlock-all, OnlyItsOwnIdEndsALease, 7",
        "queue-holder, HoldersFit, 8",
        "permit-unreserved, TokensGrow, 8",
        "reader-own-token, TheNewestTokenBelieves, 7",
        "downgrade-reopens, BelieversFit, 10",
        "downgrade-revives, HoldersFit, 8",
        "downgrade-untold, TheNewestTokenBelieves, 10",
        "pass-on-downgraded, TokensGrow, 5",
        "reacquire-kind, HoldersFit, 9",
        "transfer-unnumbered, OnlyItsOwnIdEndsALease, 8",
        "transfer-twice, OnlyItsOwnIdEndsALease, 7",
        "give-up-late, BelieversHold, 6",
        "take-over-untold, TokensGrow, 14"
    })
    void aBrokenRuleIsNoticed(String mutant, String property, int length) {
        Result result = Tlc.check(FOLDER, LOCK, "mutants/" + mutant + ".cfg", work);
        report(mutant, result);
        assertThat(result.violated()).as(result.output()).isEqualTo(property);
        assertThat(result.length()).as("states of the counterexample").isEqualTo(length);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Acknowledged.cfg", "AcknowledgedByOne.cfg"})
    void whatIsAcknowledgedOutlivesAnyMaster(String configuration) {
        holds(ACKNOWLEDGED, configuration, "-workers", "2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"count-unacknowledged", "renew-unacknowledged", "wait-elsewhere"})
    void whatCountsWithoutAcknowledgementIsNoticed(String mutant) {
        Result result = Tlc.check(FOLDER, ACKNOWLEDGED, "mutants/" + mutant + ".cfg", work);
        report(mutant, result);
        assertThat(result.violated()).as(result.output()).isEqualTo("AtMostOneBelieves");
    }

    /** Endless waits are looked for now and then, so how long the one found is depends on the machine. */
    @ParameterizedTest
    @ValueSource(strings = {"no-poll", "join-after-told"})
    void aWaitThatMayNeverEndIsNoticed(String mutant) {
        Result result = Tlc.check(FOLDER, LOCK, "mutants/" + mutant + ".cfg", work);
        report(mutant, result);
        assertThat(result.violated()).as(result.output()).isEqualTo("Temporal properties");
    }

    private void holds(String module, String configuration, String... options) {
        Result result = Tlc.check(FOLDER, module, configuration, work, options);
        report(configuration, result);
        assertThat(result.violated()).as(result.output()).isEmpty();
        assertThat(result.output()).contains("Model checking completed. No error has been found.");
    }

    private static void report(String what, Result result) {
        System.out.printf("%s: %s %d; %s%n", what, result.violated(), result.length(), result.figures());
    }
}
