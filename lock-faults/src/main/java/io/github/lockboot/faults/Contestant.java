package io.github.lockboot.faults;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.locks.Lock;

/** A lock library that takes part. */
enum Contestant {
    THIS_LIBRARY("this library", "lock:*") {
        @Override
        Client connect(RedisAddress redis, int handoffLimit) {
            return new ThisLibrary(redis, handoffLimit);
        }

        @Override
        String key(String lock) {
            return "lock:" + lock;
        }
    },
    REDISSON("Redisson RLock", "*") {
        @Override
        Client connect(RedisAddress redis, int handoffLimit) {
            return new RedissonClient(redis);
        }

        @Override
        String key(String lock) {
            return lock;
        }
    },
    SPRING_INTEGRATION("Spring Integration", SpringIntegrationClient.REGISTRY_KEY + ":*") {
        @Override
        Client connect(RedisAddress redis, int handoffLimit) {
            return new SpringIntegrationClient(redis);
        }

        @Override
        String key(String lock) {
            return SpringIntegrationClient.REGISTRY_KEY + ":" + lock;
        }
    };

    private final String title;
    private final String keys;

    Contestant(String title, String keys) {
        this.title = title;
        this.keys = keys;
    }

    /** Its name on the command line and in results. */
    String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    String title() {
        return title;
    }

    /** What matches all its keys. */
    String keys() {
        return keys;
    }

    /** Whether it tells leases, tokens and losses, so that all rules can be applied to its log. */
    boolean isOurs() {
        return this == THIS_LIBRARY;
    }

    /**
     * Connects as one application instance does.
     *
     * @param handoffLimit for those who have one
     */
    abstract Client connect(RedisAddress redis, int handoffLimit);

    /** The key in Redis of a lock. */
    abstract String key(String lock);

    static Contestant withId(String id) {
        return Arrays.stream(values())
                .filter(contestant -> contestant.id().equals(id))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no contestant is called " + id));
    }

    /** One application instance's locks. What is not told by a library has a default here. */
    interface Client extends AutoCloseable {

        Lock lock(String name);

        /** What it answers its holder who asks whether it still holds; a library without an answer says true. */
        boolean isHeld(Lock lock);

        /** The fencing token of the calling thread's hold; 0 if there are none. */
        default long token(Lock lock) {
            return 0;
        }

        /** Until when, in {@link System#nanoTime()}, the calling thread may believe it holds; 0 if that is not told. */
        default long validUntil(Lock lock) {
            return 0;
        }

        default void onLost(Lock lock, Runnable callback) {}

        /** What is in use in it: nothing once all is released. */
        default int remains() {
            return 0;
        }

        /** As an application that is shut down in order. */
        @Override
        void close();
    }
}
