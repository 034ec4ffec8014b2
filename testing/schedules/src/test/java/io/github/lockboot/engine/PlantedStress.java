package io.github.lockboot.engine;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A hold whose claim looks first and acts then, as {@link HoldStress} must find it. */
@JCStressTest
@Outcome(
        id = {"true, false", "false, true"},
        expect = Expect.ACCEPTABLE,
        desc = "One of them has it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Both have it, or neither.")
@State
public class PlantedStress {

    private volatile boolean granted = true;

    private boolean take() {
        boolean taken = granted;
        if (taken) {
            granted = false;
        }
        return taken;
    }

    @Actor
    public void waiter(ZZ_Result result) {
        result.r1 = take();
    }

    @Actor
    public void queue(ZZ_Result result) {
        result.r2 = take();
    }
}
