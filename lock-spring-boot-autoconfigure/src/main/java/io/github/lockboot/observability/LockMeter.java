package io.github.lockboot.observability;

import io.micrometer.core.instrument.Meter.Type;

/** The meters of locks. Each is tagged {@code name} with the group of the lock, {@value LockMeter#NO_GROUP} if it has none. */
enum LockMeter {
    WAIT("lock.wait", Type.TIMER, "Time from the request for a lock to its outcome"),
    HOLD("lock.hold", Type.TIMER, "Time for which a lock was held, its release included"),
    ACQUIRED("lock.acquired", Type.COUNTER, "Locks acquired, by where they came from"),
    NOT_ACQUIRED("lock.not.acquired", Type.COUNTER, "Waits that ended because another held the lock"),
    ABANDONED("lock.abandoned", Type.COUNTER, "Waits that were interrupted or cancelled"),
    UNAVAILABLE("lock.unavailable", Type.COUNTER, "Waits that ended because Redis could not be asked"),
    LOST("lock.lost", Type.COUNTER, "Holds that ended although nobody released them"),
    STUCK("lock.stuck", Type.COUNTER, "Holds that passed their maximal time"),
    RENEWALS("lock.renewals", Type.COUNTER, "Renewals of leases, by outcome"),
    RELEASE_UNKNOWN("lock.release.unknown", Type.COUNTER, "Releases that Redis did not confirm in time"),
    HELD("lock.held", Type.GAUGE, "Locks held by this instance"),
    WAITING("lock.waiting", Type.GAUGE, "Threads and futures of this instance that wait for a lock");

    static final String NO_GROUP = "none";

    private final String meterName;
    private final Type type;
    private final String description;

    LockMeter(String meterName, Type type, String description) {
        this.meterName = meterName;
        this.type = type;
        this.description = description;
    }

    String meterName() {
        return meterName;
    }

    Type type() {
        return type;
    }

    String description() {
        return description;
    }
}
