package io.github.lockboot.observability;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of a use of a lock: the whole use, with the wait and the hold as its children. */
public enum LockObservation implements ObservationDocumentation {

    /** From the request to the release, or to the end of an unsuccessful wait. */
    EXECUTION("lock.execution", "lock", Key.GROUP, Key.OUTCOME),

    /** From the request to its outcome: time lost to contention. */
    WAIT("lock.execution.wait", "lock wait", Key.GROUP, Key.OUTCOME, Key.ORIGIN),

    /** From the grant to the release. What runs under the lock is observed as its child. */
    HOLD("lock.execution.hold", "lock hold", Key.GROUP, Key.OUTCOME);

    private final String name;
    private final String contextualName;
    private final KeyName[] keys;

    LockObservation(String name, String contextualName, KeyName... keys) {
        this.name = name;
        this.contextualName = contextualName;
        this.keys = keys;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public String getContextualName() {
        return contextualName;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return keys.clone();
    }

    /** The keys of the observations. None holds the name of a lock. */
    public enum Key implements KeyName {

        /** The group of the lock; {@code none} if it has none. */
        GROUP,

        /**
         * Of a wait: {@code acquired}, {@code not_acquired}, {@code abandoned}, {@code followed} or {@code unavailable}. Of a hold:
         * {@code released} or {@code lost}. Of the whole use: the last of these.
         */
        OUTCOME,

        /** Of a wait: {@code local}, {@code asked} or {@code granted} if acquired, else {@code none}. */
        ORIGIN;

        @Override
        public String asString() {
            return "lock." + LockMetrics.text(this);
        }
    }
}
