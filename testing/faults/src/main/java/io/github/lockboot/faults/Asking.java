package io.github.lockboot.faults;

import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

import io.github.lockboot.leader.LeaderElection;

/** Asks an election all the time whether this instance leads, in nanoseconds that all processes of a machine share. */
final class Asking {

    private static final long ASKS_AGAIN_NANOS = 500_000;
    private static final long SAYS_AGAIN_NANOS = 20_000_000;

    /**
     * Takes from when until when the instance certainly believed to lead, at first, every now and then, and once that
     * is over.
     */
    @FunctionalInterface
    interface Answers {
        void leads(long token, long from, long until, boolean over);
    }

    private Asking() {}

    static void whether(LeaderElection election, Answers answers, BooleanSupplier goOn) {
        long token = 0;
        long from = 0;
        long until = 0;
        long said = 0;
        while (goOn.getAsBoolean()) {
            OptionalLong first = election.fencingToken();
            long before = System.nanoTime();
            boolean leads = election.isLeader();
            long after = System.nanoTime();
            leads &= first.isPresent() && first.equals(election.fencingToken()); // one leadership, not two
            boolean goesOn = leads && first.getAsLong() == token;
            if (token != 0 && (!goesOn || until - said > SAYS_AGAIN_NANOS)) {
                answers.leads(token, from, until, !goesOn);
                said = until;
            }
            if (goesOn) {
                until = before;
            } else {
                token = leads ? first.getAsLong() : 0;
                from = after;
                until = after;
                said = 0;
            }
            Pause.nanos(ASKS_AGAIN_NANOS);
        }
    }
}
