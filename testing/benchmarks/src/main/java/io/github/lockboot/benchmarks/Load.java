package io.github.lockboot.benchmarks;

/**
 * What one process does in a round: so many threads lock and unlock, and do nothing in between, unless its kind says
 * so. In its k-th turn thread t takes the name t + k * threads, modulo the number of names.
 *
 * @param perSecond how many turns are due in a second, whether or not those before have ended: an open loop. 0 for a
 *     closed loop, where a thread's next turn is due when its last one has ended
 */
record Load(int threads, int names, int holds, boolean isVirtual, Kind kind, int perSecond) {

    /** How a thread holds a lock. */
    enum Kind {
        EXCLUSIVE,
        /** After a pause of {@link #PAUSE_MILLIS}. */
        PAUSING,
        /** For {@link #PAUSE_MILLIS}, as one that asks a database. */
        WORKING,
        /** In 19 turns of 20 its read side, else its write side, by chance. */
        READERS,
        /** One of {@link #PERMITS} permits. */
        PERMITS,
        /** Together with {@link #SEVERAL} - 1 others. */
        SEVERAL,
        /**
         * Its read side, for {@link #PAUSE_MILLIS} each time. The first process has one thread more, which takes the
         * write side and pauses as long before each turn. Only that thread's waiting counts.
         */
        WRITER
    }

    static final int PERMITS = 4;
    static final int SEVERAL = 20;
    static final int PAUSE_MILLIS = 5;

    static Load threads(int threads) {
        return new Load(threads, 1, 1, false, Kind.EXCLUSIVE, 0);
    }

    Load onNames(int count) {
        return new Load(threads, count, holds, isVirtual, kind, perSecond);
    }

    Load holding(int times) {
        return new Load(threads, names, times, isVirtual, kind, perSecond);
    }

    Load virtual() {
        return new Load(threads, names, holds, true, kind, perSecond);
    }

    Load of(Kind other) {
        return new Load(threads, names, holds, isVirtual, other, perSecond);
    }

    Load due(int turnsPerSecond) {
        return new Load(threads, names, holds, isVirtual, kind, turnsPerSecond);
    }

    boolean isOpen() {
        return perSecond > 0;
    }
}
