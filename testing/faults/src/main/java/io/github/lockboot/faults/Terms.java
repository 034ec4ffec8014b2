package io.github.lockboot.faults;

import java.time.Duration;

import io.github.lockboot.harness.Timing;

/** What all contestants are set to, so that their figures can be compared. */
final class Terms {

    /** The lease, which all keep renewed. */
    static final Duration TTL = Duration.ofSeconds(3);

    /** How long a command may take. */
    static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);

    /** Both of them. */
    static final Timing TIMING = new Timing(TTL, COMMAND_TIMEOUT);

    /** How often a waiter of this library asks by itself: a third of the claim lease, which is the ttl here. */
    static final Duration POLL = Duration.ofSeconds(1);

    /** What a holder or waiter costs of whom nobody hears any more. */
    static final Duration ONE_LEASE = TTL.plus(POLL);

    /** What all waiters but those of one process cost when they are dead, each a claim lease. */
    static final Duration DEAD_WAITERS =
            TTL.multipliedBy(Fault.USUAL_PROCESSES - 1).plus(POLL);

    /** What waiters cost for whom Redis has counted the subscribers, and found none. */
    static final Duration DEAD_WAITERS_THAT_LISTENED = Duration.ofMillis(200);

    /**
     * What dead ones cost of whom there are more than processes died: a process may hold and wait for a name in several
     * ways, and a copy of the data has those who have left since. They are dropped after 6 s; until then one is granted
     * the lock, and has a claim lease.
     */
    static final Duration DEAD_KINDS = Duration.ofSeconds(6).plus(ONE_LEASE);

    /** How much later than promised something may be on a machine that does other things, too. */
    static final Duration SLACK = Duration.ofMillis(1_500);

    /** Whether a recovery took longer than that. */
    static boolean isOver(Duration bound, long recoveryNanos) {
        return recoveryNanos > bound.plus(SLACK).toNanos();
    }

    private Terms() {}
}
