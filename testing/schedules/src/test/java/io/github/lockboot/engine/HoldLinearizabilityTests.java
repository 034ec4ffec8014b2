package io.github.lockboot.engine;

import io.github.lockboot.LockLostException;
import io.github.lockboot.schedules.Linearizability;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The states of a hold, asked and changed by several threads. */
@Tag("full")
@Tag("schedules")
class HoldLinearizabilityTests {

    private static final int SCENARIOS = 30;
    private static final int INVOCATIONS = 200;

    public static class HoldStates {

        private final Hold hold = Holds.granted(new Holds.Counter());

        @Operation
        public boolean claim() {
            return hold.claim();
        }

        @Operation
        public boolean takeBack() {
            return hold.takeBack();
        }

        @Operation
        public boolean release() {
            return hold.markReleased();
        }

        @Operation
        public boolean lose() {
            return hold.lose("a reason");
        }

        /** Reports a loss that came before. */
        @Operation
        public void close() {
            hold.close();
        }

        @Operation
        public boolean isHeld() {
            return hold.state() == Hold.State.HELD;
        }

        @Operation
        public boolean isLost() {
            return hold.state() == Hold.State.LOST;
        }
    }

    /** The picture in {@link Hold}, without threads. */
    public static class States {

        private String now = "granted";

        private boolean go(String from, String to) {
            boolean goes = now.equals(from);
            now = goes ? to : now;
            return goes;
        }

        public boolean claim() {
            return go("granted", "held");
        }

        public boolean takeBack() {
            return go("granted", "taken back");
        }

        public boolean release() {
            return go("held", "released");
        }

        public boolean lose() {
            return go("held", "lost");
        }

        public void close() {
            if (now.equals("lost")) {
                throw new LockLostException("name", 0, "a reason");
            }
            go("held", "released");
        }

        public boolean isHeld() {
            return now.equals("held");
        }

        public boolean isLost() {
            return now.equals("lost");
        }
    }

    /** A claim that looks first and acts then. */
    public static class PlantedRace {

        private volatile String now = "granted";

        @Operation
        public boolean claim() {
            boolean granted = now.equals("granted");
            if (granted) {
                now = "held";
            }
            return granted;
        }

        @Operation
        public boolean takeBack() {
            boolean granted = now.equals("granted");
            if (granted) {
                now = "taken back";
            }
            return granted;
        }
    }

    @Test
    void itGoesFromStateToStateAsInItsPicture() {
        Linearizability.check(HoldStates.class, States.class, SCENARIOS, INVOCATIONS);
        Linearizability.stress(HoldStates.class, States.class);
    }

    @Test
    void aClaimThatLooksFirstAndActsThenIsFound() {
        assertThatExceptionOfType(LincheckAssertionError.class)
                .isThrownBy(() -> Linearizability.check(PlantedRace.class, States.class, SCENARIOS, INVOCATIONS));
    }
}
