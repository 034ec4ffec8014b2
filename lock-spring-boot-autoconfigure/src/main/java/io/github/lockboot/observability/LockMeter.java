package io.github.lockboot.observability;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

import io.micrometer.core.instrument.Meter.Type;

/** The meters of locks. */
enum LockMeter {
    WAIT(Type.TIMER, "Time from the request for a lock to its outcome"),
    HOLD(Type.TIMER, "Time for which a lock was held, its release included"),
    ACQUIRED(Type.COUNTER, "Locks acquired, by where they came from"),
    NOT_ACQUIRED(Type.COUNTER, "Waits that ended because another held the lock"),
    ABANDONED(Type.COUNTER, "Waits that were interrupted or cancelled"),
    UNAVAILABLE(Type.COUNTER, "Waits that ended because Redis was unavailable"),
    LOST(Type.COUNTER, "Holds that were lost before they were released"),
    STUCK(Type.COUNTER, "Holds that exceeded their maximum time"),
    RENEWALS(Type.COUNTER, "Renewals of leases, by outcome"),
    RELEASE_UNKNOWN(Type.COUNTER, "Releases that Redis did not confirm in time"),
    HELD(Type.GAUGE, "Locks held by this instance"),
    WAITING(Type.GAUGE, "Threads and futures of this instance that wait for a lock");

    static final Set<LockMeter> UNTAGGED_COUNTERS =
            EnumSet.of(NOT_ACQUIRED, ABANDONED, UNAVAILABLE, LOST, STUCK, RELEASE_UNKNOWN);

    private final Type type;
    private final String description;

    LockMeter(Type type, String description) {
        this.type = type;
        this.description = description;
    }

    String meterName() {
        return "lock." + name().toLowerCase(Locale.ROOT).replace('_', '.');
    }

    Type type() {
        return type;
    }

    String description() {
        return description;
    }
}
