package io.github.lockboot.faults;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The witness sees what two who write at once destroy, and refuses old tokens. */
class WitnessTests {

    private final Witness witness = new Witness();
    private final WitnessClient a = new WitnessClient(witness.port());
    private final WitnessClient b = new WitnessClient(witness.port());

    @AfterEach
    void stop() {
        witness.close();
    }

    @Test
    void writesOneAfterTheOtherStay() {
        assertThat(a.write("x", 0, a.read("x", 0))).isEqualTo(1);
        assertThat(b.write("x", 0, b.read("x", 0))).isEqualTo(2);
        assertThat(witness.account("x").lost()).isZero();
        assertThat(witness.account("x").accepted()).isEqualTo(2);
    }

    @Test
    void aWriteOverAnothersIsSeen() {
        long read = a.read("x", 0);
        b.write("x", 0, b.read("x", 0));
        a.write("x", 0, read);
        assertThat(witness.account("x").lost()).isEqualTo(1);
        assertThat(witness.account("x").complaints()).containsExactly("1 of 2 acknowledged writes were lost");
    }

    @Test
    void aReaderThatSeesWhatAnotherWroteComplainsUnlessItsTokenIsOlder() {
        long read = a.read("x", 10);
        assertThat(a.look("x", 10, read)).isZero();
        assertThat(witness.account("x").complaints()).isEmpty();
        b.write("x", 10, read);
        assertThat(a.look("x", 10, read)).isEqualTo(1);
        assertThat(witness.account("x").complaints()).hasSize(1);
        b.read("x", 11);
        assertThat(a.look("x", 10, read)).isEqualTo(WitnessClient.REFUSED);
        assertThat(witness.account("x").complaints()).hasSize(1);
    }

    @Test
    void whoComesWithAnOldTokenIsRefusedOnceTheNextHasOnlyRead() {
        long read = a.read("x", 10);
        b.read("x", 11);
        assertThat(a.write("x", 10, read)).isEqualTo(WitnessClient.REFUSED);
        assertThat(witness.account("x").refused()).isEqualTo(1);
        assertThat(b.write("x", 11, 0)).isEqualTo(1);
        assertThat(witness.account("x").lost()).isZero();
    }

    @Test
    void locksHaveListsOfTheirOwn() {
        a.write("x", 10, 0);
        assertThat(b.write("y", 5, 0)).isEqualTo(1);
    }
}
