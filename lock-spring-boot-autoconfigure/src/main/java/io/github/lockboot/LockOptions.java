package io.github.lockboot;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for. Immutable; made from {@link #defaults} by methods that change one thing. What is null is taken
 * from the registry's own options, that is, from {@code application.yml}; {@link NamedLock#options()} are complete.
 *
 * @param ttl the lease; null when left to the registry
 * @param waitTime the wait time; null when left to the registry
 * @param renew whether the lease is renewed; null when left to the registry
 * @param maxHold when renewal ends for a stuck holder; null when left to the registry, or never
 * @param group what kind of lock it is; null when not set
 */
public record LockOptions(
        @Nullable Duration ttl,
        @Nullable Duration waitTime,
        @Nullable Boolean renew,
        @Nullable Duration maxHold,
        @Nullable String group) {

    /** The shortest lease accepted: below it, scheduling delays alone would lose locks. */
    public static final Duration MIN_TTL = Duration.ofSeconds(1);

    /** The longest lease accepted. */
    public static final Duration MAX_TTL = Duration.ofDays(24);

    private static final LockOptions DEFAULTS = new LockOptions(null, null, null, null, null);

    /**
     * For {@link #defaults} and the methods that change one thing; gets a parameter more with each new option.
     *
     * @param ttl the lease
     * @param waitTime the wait time
     * @param renew whether the lease is renewed
     * @param maxHold when renewal ends for a stuck holder
     * @param group what kind of lock it is
     * @throws IllegalArgumentException for what the methods that change one thing refuse
     */
    public LockOptions {
        require(ttl == null || ttl.compareTo(MIN_TTL) >= 0, "ttl", ttl, "be at least 1000 ms");
        require(ttl == null || ttl.compareTo(MAX_TTL) <= 0, "ttl", ttl, "be at most 24 days: use renewal instead");
        require(waitTime == null || !waitTime.isNegative(), "waitTime", waitTime, "not be negative");
        require(maxHold == null || maxHold.compareTo(Duration.ZERO) > 0, "maxHold", maxHold, "be positive");
        require(group == null || !group.isBlank(), "group", group, "name the kind of lock, such as \"order\"");
    }

    private static void require(boolean condition, String option, @Nullable Object value, String must) {
        if (!condition) {
            throw new IllegalArgumentException(option + " is " + value + "; it must " + must);
        }
    }

    /** {@return options that leave everything to the registry} */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the lease: how long a hold lasts without renewal, and how long after its holder's death it stays.
     *
     * @param ttl from {@link #MIN_TTL} to {@link #MAX_TTL}
     * @return these options with that lease
     * @throws IllegalArgumentException if shorter or longer
     */
    public LockOptions withTtl(Duration ttl) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }

    /**
     * Sets how long {@link LockTemplate}, the annotation and those who acquire a {@link Lease} wait at most; zero tries once. The
     * methods of {@link NamedLock} have a time of their own.
     *
     * @param waitTime zero or more
     * @return these options with that wait time
     * @throws IllegalArgumentException if negative
     */
    public LockOptions withWaitTime(Duration waitTime) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }

    /** {@return these options, with a lease that is renewed for as long as the lock is held} */
    public LockOptions withRenewal() {
        return new LockOptions(ttl, waitTime, true, maxHold, group);
    }

    /** {@return these options, with a lease that ends after its ttl, held or not} */
    public LockOptions withoutRenewal() {
        return new LockOptions(ttl, waitTime, false, maxHold, group);
    }

    /**
     * Ends renewal for a holder that has not released after this time: it then loses the lock when its lease ends.
     *
     * @param maxHold above zero
     * @return these options with that limit
     * @throws IllegalArgumentException if zero or negative
     */
    public LockOptions withMaxHold(Duration maxHold) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }

    /**
     * Sets what kind of lock it is, whatever its key: {@code "order"} for {@code "order:4711"}. Metrics are tagged with it and
     * {@code lock.locks.<group>} is about it, so there should be few. The annotation gives its {@code name}, or else
     * {@code Class.method}.
     *
     * @param group such as {@code "order"}
     * @return these options with that group
     * @throws IllegalArgumentException if blank
     */
    public LockOptions withGroup(String group) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }
}
