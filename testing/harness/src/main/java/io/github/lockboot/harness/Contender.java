package io.github.lockboot.harness;

import java.util.List;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.leader.LeaderElection;

/** A lock library that takes part, in one configuration. */
public interface Contender {

    /** Its name in results. */
    String name();

    /** The key in Redis of a lock of that name; where there is none, the name. */
    default String key(String lock) {
        return lock;
    }

    /** What it is set to, where that is not its default. */
    default String settings() {
        return "its defaults";
    }

    /** Connects as one application instance does. */
    Client connect(RedisAddress redis);

    /** One application instance's locks. What a library does not tell or need has a default here. */
    interface Client extends AutoCloseable {

        /** The limit of readers. */
        int UNLIMITED = Integer.MAX_VALUE;

        /** A lock for use by the calling thread alone; other threads get their own for the same name. */
        Lock lock(String name);

        /**
         * The same, for one of several who may hold it at a time.
         *
         * @param limit how many: {@link #UNLIMITED} for readers, or the number of permits; 1 for the lock that excludes
         *     all others
         */
        default Lock lock(String name, int limit) {
            if (limit != 1) {
                throw new UnsupportedOperationException("readers and permits");
            }
            return lock(name);
        }

        /** One lock for all of these names, taken together or not at all. */
        default Lock lockOfAll(List<String> names) {
            throw new UnsupportedOperationException("several names");
        }

        /** An election to a role among all clients. */
        default LeaderElection election(String role) {
            throw new UnsupportedOperationException("leaders");
        }

        /** What it answers its holder who asks whether it still holds; a library without an answer says true. */
        default boolean isHeld(Lock lock) {
            return true;
        }

        /** The fencing token of the calling thread's hold; 0 if there are none. */
        default long token(Lock lock) {
            return 0;
        }

        /** Until when, in {@link System#nanoTime()}, the calling thread may believe it holds; 0 if that is not told. */
        default long validUntil(Lock lock) {
            return 0;
        }

        /** Calls back if the calling thread's hold is lost. */
        default void onLost(Lock lock, Runnable callback) {}

        /** As an application whose settings change while it runs. */
        default void refresh(RedisAddress redis) {
            throw new UnsupportedOperationException("a refresh");
        }

        /** What is in use in it: nothing once all is released. */
        default int inUse() {
            return 0;
        }

        /** As an application that is shut down in order. */
        @Override
        default void close() {}
    }
}
