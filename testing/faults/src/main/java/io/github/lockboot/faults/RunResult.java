package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.List;

/**
 * What came of one run.
 *
 * @param violations what is wrong, one sentence each
 * @param recoveryNanos how long until the lock was granted again; {@link #NEVER} if it was not
 * @param overlapNanos for how long two believed to hold
 * @param refused writes that the witness refused for an old token
 * @param lost writes that the witness accepted and that another then wrote over
 * @param hanging processes with threads that still waited when nobody held the lock any more
 * @param grants how often the lock was granted
 */
record RunResult(
        long seed,
        List<String> violations,
        long recoveryNanos,
        long overlapNanos,
        long refused,
        long lost,
        int hanging,
        long grants) {

    static final long NEVER = -1;

    /** One that could not be judged. */
    static RunResult failed(long seed, String why) {
        return new RunResult(seed, List.of(why), NEVER, 0, 0, 0, 0, 0);
    }

    RunResult with(List<String> moreViolations) {
        List<String> all = new ArrayList<>(violations);
        all.addAll(moreViolations);
        return new RunResult(seed, all, recoveryNanos, overlapNanos, refused, lost, hanging, grants);
    }

    boolean hasRecovered() {
        return recoveryNanos != NEVER;
    }
}
