package io.github.lockboot;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for. Immutable. What is not set is taken from the registry's own options, that is, from
 * {@code application.yml}; {@link NamedLock#options()} are complete.
 */
public final class LockOptions {

    /** The shortest lease accepted: below it, scheduling delays alone would lose locks. */
    public static final Duration MIN_TTL = Duration.ofSeconds(1);

    /** The longest lease accepted. */
    public static final Duration MAX_TTL = Duration.ofDays(24);

    private static final LockOptions DEFAULTS = new LockOptions(null, null, null, null, null);

    private final @Nullable Duration ttl;
    private final @Nullable Duration waitTime;
    private final @Nullable Boolean renew;
    private final @Nullable Duration maxHold;
    private final @Nullable String group;

    private LockOptions(
            @Nullable Duration ttl,
            @Nullable Duration waitTime,
            @Nullable Boolean renew,
            @Nullable Duration maxHold,
            @Nullable String group) {
        this.ttl = ttl;
        this.waitTime = waitTime;
        this.renew = renew;
        this.maxHold = maxHold;
        this.group = group;
    }

    /** {@return options that leave everything to the registry} */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * The lease: how long a hold lasts without renewal, and how long after its holder's death it stays.
     *
     * @param ttl from {@link #MIN_TTL} to 24 days
     * @return these options with that lease
     * @throws IllegalArgumentException if below {@link #MIN_TTL} or above 24 days
     */
    public LockOptions withTtl(Duration ttl) {
        if (ttl.compareTo(MIN_TTL) < 0) {
            throw new IllegalArgumentException("ttl is " + ttl + "; it must be at least " + MIN_TTL.toMillis() + " ms");
        }
        if (ttl.compareTo(MAX_TTL) > 0) {
            throw new IllegalArgumentException("ttl is " + ttl + "; it must be at most 24 days: use renewal instead");
        }
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }

    /**
     * How long {@link LockTemplate}, the annotation and those who acquire a {@link Lease} wait at most; zero tries once. The methods
     * of {@link NamedLock} have a time of their own.
     *
     * @param waitTime zero or more
     * @return these options with that wait time
     * @throws IllegalArgumentException if negative
     */
    public LockOptions withWaitTime(Duration waitTime) {
        if (waitTime.isNegative()) {
            throw new IllegalArgumentException("waitTime is " + waitTime + "; it must not be negative");
        }
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }

    /**
     * Keeps the lease renewed for as long as the lock is held.
     *
     * @return these options, renewed
     */
    public LockOptions withRenewal() {
        return new LockOptions(ttl, waitTime, true, maxHold, group);
    }

    /**
     * Lets the lease end after its ttl, held or not.
     *
     * @return these options, not renewed
     */
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
        if (maxHold.isNegative() || maxHold.isZero()) {
            throw new IllegalArgumentException("maxHold is " + maxHold + "; it must be positive");
        }
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }

    /**
     * What kind of lock it is, whatever its key: {@code "order"} for {@code "order:4711"}. Metrics are tagged with it and
     * {@code lock.locks.<group>} is about it, so there should be few; the annotation gives its {@code name}, or else
     * {@code Class.method}.
     *
     * @param group such as {@code "order"}
     * @return these options with that group
     * @throws IllegalArgumentException if blank
     */
    public LockOptions withGroup(String group) {
        if (group.isBlank()) {
            throw new IllegalArgumentException("the group is blank; name the kind of lock, such as \"order\"");
        }
        return new LockOptions(ttl, waitTime, renew, maxHold, group);
    }

    /** {@return the lease; null when left to the registry} */
    public @Nullable Duration ttl() {
        return ttl;
    }

    /** {@return the wait time; null when left to the registry} */
    public @Nullable Duration waitTime() {
        return waitTime;
    }

    /** {@return whether the lease is renewed; null when left to the registry} */
    public @Nullable Boolean renew() {
        return renew;
    }

    /** {@return when renewal ends for a stuck holder; null when left to the registry, or never} */
    public @Nullable Duration maxHold() {
        return maxHold;
    }

    /** {@return what kind of lock it is; null when not set} */
    public @Nullable String group() {
        return group;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOptions that
                && Objects.equals(ttl, that.ttl)
                && Objects.equals(waitTime, that.waitTime)
                && Objects.equals(renew, that.renew)
                && Objects.equals(maxHold, that.maxHold)
                && Objects.equals(group, that.group);
    }

    @Override
    public int hashCode() {
        return Objects.hash(ttl, waitTime, renew, maxHold, group);
    }

    @Override
    public String toString() {
        return "LockOptions[ttl=" + ttl + ", waitTime=" + waitTime + ", renew=" + renew + ", maxHold=" + maxHold
                + ", group=" + group + "]";
    }
}
