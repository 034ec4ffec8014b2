package io.github.lockboot.faults;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;

import io.github.lockboot.faults.Event.Kind;
import io.github.lockboot.harness.Contender.Client;

/**
 * What came of one run.
 *
 * @param violations what is wrong, one sentence each
 * @param late those among them that a slow machine explains: granted again or told later than promised, lost where the
 *     fault is no reason
 * @param recoveryNanos how long until the lock was granted again; {@link #NEVER} if it was not
 * @param overlapNanos for how long two believed to hold
 * @param refused writes that the witness refused for an old token
 * @param lost writes that the witness accepted and that another then wrote over
 * @param hanging processes with threads that still waited when nobody held the lock any more
 * @param grants how often the lock was granted
 * @param told what happened with all locks of the run
 */
record RunResult(
        long seed,
        List<String> violations,
        List<String> late,
        long recoveryNanos,
        long overlapNanos,
        long refused,
        long lost,
        int hanging,
        long grants,
        Told told) {

    static final long NEVER = -1;

    /** How often holds of each kind were granted, and how often a holder was told that it lost its own. */
    record Told(long exclusive, long readers, long permits, long terms, long losses) {

        static final Told NOTHING = new Told(0, 0, 0, 0, 0);

        static Told of(Collection<Event> history) {
            Predicate<Event> term = event -> Candidate.isTerm(event.lock());
            return new Told(
                    granted(history, term.negate().and(event -> event.limit() == 1)),
                    granted(history, event -> event.limit() == Client.UNLIMITED),
                    granted(history, event -> event.limit() > 1 && event.limit() < Client.UNLIMITED),
                    granted(history, term),
                    history.stream().filter(event -> event.is(Kind.LOST)).count());
        }

        private static long granted(Collection<Event> history, Predicate<Event> which) {
            return history.stream()
                    .filter(event -> event.is(Kind.GRANTED))
                    .filter(which)
                    .count();
        }

        Told plus(Told other) {
            return new Told(
                    exclusive + other.exclusive,
                    readers + other.readers,
                    permits + other.permits,
                    terms + other.terms,
                    losses + other.losses);
        }
    }

    /** One that could not be judged. */
    static RunResult failed(long seed, String why) {
        return new RunResult(seed, List.of(why), List.of(), NEVER, 0, 0, 0, 0, 0, Told.NOTHING);
    }

    RunResult with(List<String> moreViolations) {
        List<String> all = new ArrayList<>(violations);
        all.addAll(moreViolations);
        return new RunResult(seed, all, late, recoveryNanos, overlapNanos, refused, lost, hanging, grants, told);
    }

    boolean isJudged() {
        return !told.equals(Told.NOTHING);
    }

    boolean hasRecovered() {
        return recoveryNanos != NEVER;
    }
}
