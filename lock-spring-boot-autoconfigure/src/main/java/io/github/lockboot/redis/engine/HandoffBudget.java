package io.github.lockboot.redis.engine;

/** How many more waiters of this JVM are served before the lock goes back to Redis: any number, until other JVMs wait. */
final class HandoffBudget {

    private boolean limited;
    private int left;

    void reset() {
        limited = false;
    }

    /** Other JVMs wait: so many more are still served. To say so again changes nothing. */
    void limitTo(int more) {
        if (!limited) {
            limited = true;
            left = more;
        }
    }

    /** Whether one more may be served; it counts. */
    boolean takeOne() {
        return !limited || left-- > 0;
    }
}
