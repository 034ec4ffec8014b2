package io.github.lockboot;

import java.time.Duration;

import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for. Immutable: start with {@link #defaults} and change one option after the other. A null option falls
 * back to the registry's default, which {@code application.yml} configures. {@link NamedLock#options()} has no such option.
 *
 * @param ttl the lease
 * @param waitTime the wait time
 * @param renew whether the lease is renewed
 * @param maxHold how long a hold is renewed at most; null in complete options for no limit
 * @param group the settings that several names share; null for none
 * @param mode whether others may hold the lock at the same time; null in complete options for exclusive
 * @param permits how many may hold the lock at a time; null in complete options for no permits
 * @param release whether a release waits for the answer of Redis
 * @param linger how long the lock stays with this JVM after its release; null in complete options for not at all
 */
public record LockOptions(
        @Nullable Duration ttl,
        @Nullable Duration waitTime,
        @Nullable Boolean renew,
        @Nullable Duration maxHold,
        @Nullable String group,
        DistributedLock.@Nullable Mode mode,
        @Nullable Integer permits,
        DistributedLock.@Nullable Release release,
        @Nullable Duration linger) {

    /** The shortest lease accepted: below it, scheduling delays alone would lose locks. */
    public static final Duration MIN_TTL = Duration.ofSeconds(1);

    /** The longest lease accepted. */
    public static final Duration MAX_TTL = Duration.ofDays(24);

    private static final LockOptions DEFAULTS = new LockOptions(null, null, null, null, null, null, null, null, null);

    /**
     * Start with {@link #defaults} instead: each new option adds a parameter.
     *
     * @param ttl the lease
     * @param waitTime the wait time
     * @param renew whether the lease is renewed
     * @param maxHold how long a hold is renewed at most
     * @param group the settings that several names share
     * @param mode whether others may hold the lock at the same time
     * @param permits how many may hold the lock at a time
     * @param release whether a release waits for the answer of Redis; {@code DEFAULT} is the same as null
     * @param linger how long the lock stays with this JVM after its release; zero is not at all
     * @throws IllegalArgumentException if an option is out of its range
     */
    public LockOptions {
        require(ttl == null || ttl.compareTo(MIN_TTL) >= 0, "ttl", ttl, "be at least 1000 ms");
        require(ttl == null || ttl.compareTo(MAX_TTL) <= 0, "ttl", ttl, "be at most 24 days: use renewal instead");
        require(waitTime == null || !waitTime.isNegative(), "waitTime", waitTime, "not be negative");
        require(maxHold == null || maxHold.compareTo(Duration.ZERO) > 0, "maxHold", maxHold, "be positive");
        require(group == null || !group.isBlank(), "group", group, "name the group, such as \"order\"");
        require(
                group == null || !LockNames.hasVariable(group),
                "group",
                group,
                "be the same for all keys: leave out the # and what follows it");
        require(permits == null || permits > 0, "permits", permits, "be at least 1");
        require(
                permits == null || mode != DistributedLock.Mode.SHARED,
                "permits",
                permits,
                "be left out for mode SHARED, which allows any number of holders");
        require(linger == null || !linger.isNegative(), "linger", linger, "not be negative");
        if (linger != null && !linger.isZero()) {
            require(mode != DistributedLock.Mode.SHARED, "linger", linger, "be left out for mode SHARED");
            require(permits == null, "linger", linger, "be left out for a lock with permits");
            require(renew == null || renew, "linger", linger, "be left out for a lease that is not renewed");
        }
        release = release == DistributedLock.Release.DEFAULT ? null : release;
    }

    /** @throws IllegalArgumentException if several may hold the lock at the same time */
    void requireExclusive(String must) {
        require(mode != DistributedLock.Mode.SHARED, "mode", mode, must);
        require(permits == null, "permits", permits, must);
    }

    private static void require(boolean condition, String option, @Nullable Object value, String must) {
        if (!condition) {
            throw new IllegalArgumentException(option + " is " + value + "; it must " + must);
        }
    }

    /** {@return the registry's own options} */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the lease: how long a hold lasts without renewal, and how long at most after its holder has died.
     *
     * @param ttl from {@link #MIN_TTL} to {@link #MAX_TTL}
     * @return these options with that lease
     * @throws IllegalArgumentException if shorter or longer
     */
    public LockOptions withTtl(Duration ttl) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group, mode, permits, release, linger);
    }

    /**
     * Sets how long {@link LockTemplate}, the annotation and the acquisition of a {@link Lease} wait at most; zero tries once. The
     * methods of {@link NamedLock} do not use it.
     *
     * @param waitTime zero or more
     * @return these options with that wait time
     * @throws IllegalArgumentException if negative
     */
    public LockOptions withWaitTime(Duration waitTime) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group, mode, permits, release, linger);
    }

    /** {@return these options, with a lease that is renewed for as long as the lock is held} */
    public LockOptions withRenewal() {
        return new LockOptions(ttl, waitTime, true, maxHold, group, mode, permits, release, linger);
    }

    /** {@return these options, with a lease that ends after its ttl, held or not} */
    public LockOptions withoutRenewal() {
        return new LockOptions(ttl, waitTime, false, maxHold, group, mode, permits, release, linger);
    }

    /**
     * Ends renewal of a hold that is not released after this time: the lock is then lost when its lease ends.
     *
     * @param maxHold above zero
     * @return these options with that limit
     * @throws IllegalArgumentException if zero or negative
     */
    public LockOptions withMaxHold(Duration maxHold) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group, mode, permits, release, linger);
    }

    /**
     * Requests a shared hold: any number of callers with a shared hold have the lock at a time, but none alongside an exclusive holder or
     * one with a permit. It is the read side of {@link LockRegistry#readWrite}.
     *
     * @return these options for a shared hold
     * @throws IllegalArgumentException if they have permits
     */
    public LockOptions shared() {
        return new LockOptions(
                ttl, waitTime, renew, maxHold, group, DistributedLock.Mode.SHARED, permits, release, linger);
    }

    /**
     * Requests one of several permits: at most so many callers hold the lock at a time, and none of them alongside an exclusive or shared
     * holder. If requests give different numbers, the smallest number of the request and of all holders applies. So no holder is ever
     * among more than it requested. A smaller number takes no permit from a holder. A registry refuses more permits than a lock may have
     * holders, by default 200.
     *
     * @param permits at least 1
     * @return these options with so many permits
     * @throws IllegalArgumentException if below 1, or if the hold is shared
     */
    public LockOptions withPermits(int permits) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group, mode, permits, release, linger);
    }

    /**
     * Sets whether a release waits for the answer of Redis. With {@code SEND} it does not: see {@link DistributedLock.Release#SEND}.
     *
     * @param release {@code DEFAULT} for the registry's own
     * @return these options with that release
     */
    public LockOptions withRelease(DistributedLock.Release release) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group, mode, permits, release, linger);
    }

    /**
     * Keeps the lock with this JVM for a while after its last release, so that a caller that acquires it again needs no command. This JVM
     * gives it back at once when a caller of another JVM waits for it. Until then the lock counts as locked, and an attempt elsewhere
     * without a wait time is refused. Such a lock has a lease of at most 6 s. It is neither shared nor limited by permits, and it is renewed.
     *
     * @param linger zero, for not at all, or more
     * @return these options with that time
     * @throws IllegalArgumentException if negative, or if the hold is shared, has permits or is not renewed
     */
    public LockOptions withLinger(Duration linger) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group, mode, permits, release, linger);
    }

    /**
     * Sets the group of the lock, whatever its key: {@code "order"} for {@code "order:4711"}. The group is a tag of metrics, so use few
     * groups, and {@code lock.locks.<group>} configures it. The annotation sets its {@code name}, or else {@code Class.method}.
     *
     * @param group such as {@code "order"}
     * @return these options with that group
     * @throws IllegalArgumentException if blank, or if it has a variable such as {@code #id} in it, which is not evaluated
     */
    public LockOptions withGroup(String group) {
        return new LockOptions(ttl, waitTime, renew, maxHold, group, mode, permits, release, linger);
    }
}
