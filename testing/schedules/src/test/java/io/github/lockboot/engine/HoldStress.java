package io.github.lockboot.engine;

import io.github.lockboot.LockLostException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZI_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** What two threads may do to a hold at the same time. */
final class HoldStress {

    private HoldStress() {}

    @JCStressTest
    @Outcome(
            id = {"true, false", "false, true"},
            expect = Expect.ACCEPTABLE,
            desc = "One of them has it.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Both have it, or neither.")
    @State
    public static class ClaimAndTakeBack {

        private final Hold hold = Holds.granted(new Holds.Counter());

        @Actor
        public void waiter(ZZ_Result result) {
            result.r1 = hold.claim();
        }

        @Actor
        public void queue(ZZ_Result result) {
            result.r2 = hold.takeBack();
        }
    }

    @JCStressTest
    @Outcome(
            id = {"true, false", "false, true"},
            expect = Expect.ACCEPTABLE,
            desc = "It is released or lost.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "It is both, or neither.")
    @State
    public static class ReleaseAndLoss {

        private final Hold hold = Holds.held(new Holds.Counter());

        @Actor
        public void owner(ZZ_Result result) {
            result.r1 = hold.markReleased();
        }

        @Actor
        public void queue(ZZ_Result result) {
            result.r2 = hold.lose("a reason");
        }
    }

    @JCStressTest
    @Outcome(
            id = {"not lost", "a reason"},
            expect = Expect.ACCEPTABLE,
            desc = "A loss has its reason.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "A loss has no reason.")
    @State
    public static class LossAndItsReason {

        private final Hold hold = Holds.held(new Holds.Counter());

        @Actor
        public void queue() {
            hold.lose("a reason");
        }

        @Actor
        public void owner(L_Result result) {
            result.r1 = "not lost";
            if (hold.state() == Hold.State.LOST) {
                result.r1 = hold.lostException().getMessage().contains("a reason") ? "a reason" : "none";
            }
        }
    }

    /** The thread comes back while another closes the lease that it was handed. */
    @JCStressTest
    @Outcome(id = "true, 0", expect = Expect.ACCEPTABLE, desc = "It holds on.")
    @Outcome(id = "false, 1", expect = Expect.ACCEPTABLE, desc = "It was released before.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "The thread has what is released, or nobody releases it.")
    @State
    public static class EnterAgainAndLastExit {

        private final Holds.Counter counter = new Holds.Counter();
        private final Hold hold = Holds.held(counter);

        @Actor
        public void owner(ZI_Result result) {
            result.r1 = hold.enterAgain(LockKind.EXCLUSIVE);
        }

        @Actor
        public void other() {
            hold.exit(LockKind.EXCLUSIVE).run();
        }

        @Arbiter
        public void end(ZI_Result result) {
            result.r2 = counter.releases.get();
        }
    }

    /** The write side and the read side of one thread, each closed by a thread of its own. */
    @JCStressTest
    @Outcome(
            id = {"1, 0", "1, 1"},
            expect = Expect.ACCEPTABLE,
            desc = "It is released once.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "It is released twice, or never.")
    @State
    public static class ExitsOfBothSides {

        private final Holds.Counter counter = new Holds.Counter();
        private final Hold hold = Holds.held(counter);

        public ExitsOfBothSides() {
            hold.enterAgain(LockKind.SHARED);
        }

        @Actor
        public void writer() {
            hold.exit(LockKind.EXCLUSIVE).run();
        }

        @Actor
        public void reader() {
            hold.exit(LockKind.SHARED).run();
        }

        @Arbiter
        public void end(II_Result result) {
            result.r1 = counter.releases.get();
            result.r2 = counter.downgrades.get();
        }
    }

    /** What is lost while its owner releases it is not released as well. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "The release or the loss counts.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "Both count, or neither.")
    @State
    public static class ExitAndLoss {

        private final Holds.Counter counter = new Holds.Counter();
        private final Hold hold = Holds.held(counter);

        @Actor
        public void owner() {
            try {
                hold.exit(LockKind.EXCLUSIVE).run();
            } catch (LockLostException lost) {
                // as it may be
            }
        }

        @Actor
        public void queue(II_Result result) {
            result.r2 = hold.lose("a reason") ? 1 : 0;
        }

        @Arbiter
        public void end(II_Result result) {
            result.r1 = counter.releases.get();
        }
    }

    /** A close that comes after a loss reports it. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 0"},
            expect = Expect.ACCEPTABLE,
            desc = "It is released, or its loss is reported.")
    @Outcome(expect = Expect.FORBIDDEN, desc = "It was lost, and nothing is reported.")
    @State
    public static class CloseAndLoss {

        private final Holds.Counter counter = new Holds.Counter();
        private final Hold hold = Holds.held(counter);

        @Actor
        public void owner(II_Result result) {
            try {
                hold.close();
            } catch (LockLostException lost) {
                result.r2 = 1;
            }
        }

        @Actor
        public void queue() {
            hold.lose("a reason");
        }

        @Arbiter
        public void end(II_Result result) {
            result.r1 = counter.releases.get();
        }
    }
}
