package io.github.lockboot.observability;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of a use of a lock: the whole of it, and as its children the wait and the hold. */
public enum LockObservation implements ObservationDocumentation {

    /** From the request to the release, or to the end of a wait in vain. */
    EXECUTION {

        @Override
        public String getName() {
            return "lock.execution";
        }

        @Override
        public String getContextualName() {
            return "lock";
        }

        @Override
        public KeyName[] getLowCardinalityKeyNames() {
            return new KeyName[] {Key.NAME, Key.OUTCOME};
        }
    },

    /** From the request to its outcome: time lost to contention. */
    WAIT {

        @Override
        public String getName() {
            return "lock.execution.wait";
        }

        @Override
        public String getContextualName() {
            return "lock wait";
        }

        @Override
        public KeyName[] getLowCardinalityKeyNames() {
            return new KeyName[] {Key.NAME, Key.OUTCOME, Key.ORIGIN};
        }
    },

    /** From the grant to the release. What runs under the lock is observed inside it. */
    HOLD {

        @Override
        public String getName() {
            return "lock.execution.hold";
        }

        @Override
        public String getContextualName() {
            return "lock hold";
        }

        @Override
        public KeyName[] getLowCardinalityKeyNames() {
            return new KeyName[] {Key.NAME, Key.OUTCOME};
        }
    };

    /** What they are tagged with. None holds the name of a lock. */
    public enum Key implements KeyName {

        /** The group of the lock; {@code none} if it has none. */
        NAME {
            @Override
            public String asString() {
                return "lock.name";
            }
        },

        /**
         * Of a wait: {@code acquired}, {@code not_acquired}, {@code abandoned}, {@code followed},
         * {@code unavailable}; of a hold: {@code released},
         * {@code lost}; of the whole: the last of these.
         */
        OUTCOME {
            @Override
            public String asString() {
                return "lock.outcome";
            }
        },

        /** Of a wait: {@code local}, {@code asked} or {@code granted} if acquired, else {@code none}. */
        ORIGIN {
            @Override
            public String asString() {
                return "lock.origin";
            }
        }
    }
}
