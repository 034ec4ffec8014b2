package io.github.lockboot.redis.engine;

/** How many more threads of this JVM may have the lock before it goes back to Redis: any number, until others wait. */
final class Turn {

    private boolean othersWait;
    private int left;

    void begin() {
        othersWait = false;
    }

    /** Other JVMs wait: so many more are still served. Saying so again changes nothing. */
    void endAfter(int more) {
        if (!othersWait) {
            othersWait = true;
            left = more;
        }
    }

    /** Whether one more may be served; it counts. */
    boolean takeOne() {
        return !othersWait || left-- > 0;
    }
}
