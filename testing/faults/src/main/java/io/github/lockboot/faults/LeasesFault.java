package io.github.lockboot.faults;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Something that may have instances with many idle leases renew all of them at once.
 *
 * @param name on the command line and in the table
 * @param injection how it is done, in words for the table
 * @param leases of all instances together
 * @param ttl of each
 * @param instances that have them
 * @param load which part of what Redis can answer are the answers to them; 0 if it answers as it can
 * @param way does it; returns when it is over
 */
record LeasesFault(String name, String injection, int leases, Duration ttl, int instances, double load, Way way) {

    /** How it is done. */
    @FunctionalInterface
    interface Way {
        void into(ManyLeases scene);
    }

    private static final String EACH = "leases";
    private static final String CUT = "`CLIENT KILL` of all connections";
    private static final String FLUSH = "`FLUSHDB` of a database without locks";
    private static final String OTHERS = "all keys of another prefix are deleted";
    private static final String AWAY = "all connections are cut, and refused for 60 ms";

    private static final Duration USUAL = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofSeconds(10);

    /** In the order of the table. */
    static final List<LeasesFault> ALL = List.of(
            busy("leases-cut", CUT, 1, ManyLeases::cut),
            busy("leases-cut-two", CUT, 2, ManyLeases::cut),
            busy("leases-flush", FLUSH, 1, ManyLeases::flushAnother),
            busy("leases-others", OTHERS, 1, ManyLeases::deleteOthers),
            busyAndShort("leases-cut-short", CUT, 1, ManyLeases::cut),
            busyAndShort("leases-cut-two-short", CUT, 2, ManyLeases::cut),
            busyAndShort("leases-flush-short", FLUSH, 1, ManyLeases::flushAnother),
            busyAndShort("leases-others-short", OTHERS, 1, ManyLeases::deleteOthers),
            idle("leases-cut-idle", CUT, 40_000, ManyLeases::cut),
            idle("leases-away-idle", AWAY, 40_000, ManyLeases::refuse),
            idle("leases-away-fewer", AWAY, 20_000, ManyLeases::refuse));

    /** What the normal build has of them. */
    static final LeasesFault SMALL = new LeasesFault("leases-small", CUT, 2_500, SHORT, 1, 0.75, ManyLeases::cut);

    private static LeasesFault busy(String name, String injection, int instances, Way way) {
        return new LeasesFault(name, injection, 8_000, USUAL, instances, 0.6, way);
    }

    private static LeasesFault busyAndShort(String name, String injection, int instances, Way way) {
        return new LeasesFault(name, injection, 5_000, SHORT, instances, 0.75, way);
    }

    private static LeasesFault idle(String name, String injection, int leases, Way way) {
        return new LeasesFault(name, injection, leases, USUAL, 1, 0, way);
    }

    /** @param faults names separated by commas, or null for all; {@code leases} is each of these */
    static List<LeasesFault> named(@Nullable String faults) {
        return ALL.stream()
                .filter(fault -> faults == null
                        || List.of(faults.split(",")).contains(EACH)
                        || List.of(faults.split(",")).contains(fault.name))
                .toList();
    }

    @Override
    public String toString() {
        return name;
    }
}
