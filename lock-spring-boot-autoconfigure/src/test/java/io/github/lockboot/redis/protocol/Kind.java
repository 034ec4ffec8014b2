package io.github.lockboot.redis.protocol;

import io.github.lockboot.engine.LockRequest.Terms;

/**
 * Who may hold a lock beside whom. A name has holders; a request is granted when the holders are compatible with its
 * kind:
 *
 * <ul>
 *   <li>exclusive: nobody holds the lock
 *   <li>shared: all holders are shared
 *   <li>limited to n: all holders are limited, and fewer hold the lock than n and than the number of each holder
 * </ul>
 *
 * @param permits how many may hold the lock at a time; 0 if it is exclusive, -1 if it is shared
 */
public record Kind(int permits) {

    public static final Kind EXCLUSIVE = new Kind(0);
    public static final Kind SHARED = new Kind(-1);

    public static Kind limitedTo(int permits) {
        return new Kind(permits);
    }

    /** {@return the terms of a request of this kind} */
    public Terms terms(long ttlMillis, boolean renew) {
        return isExclusive()
                ? Terms.exclusive(ttlMillis, renew)
                : isShared() ? Terms.shared(ttlMillis, renew) : Terms.limited(permits, ttlMillis, renew);
    }

    public boolean isExclusive() {
        return permits == 0;
    }

    public boolean isShared() {
        return permits < 0;
    }

    /** {@return how a lock of this kind is held, for messages} */
    public String text() {
        return isExclusive() ? "exclusively" : isShared() ? "as a reader" : "by a permit";
    }

    @Override
    public String toString() {
        return Integer.toString(permits);
    }
}
