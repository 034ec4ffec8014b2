package io.github.lockboot;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for. Immutable: start with {@link #defaults} and set one option after the other. An
 * option that is not set is null, and falls back to the registry's default, which {@code application.yml} configures.
 * {@link NamedLock#options()} has the registry's defaults in it.
 */
public final class LockOptions {

    /** The shortest lease accepted: below it, scheduling delays alone would lose locks. */
    public static final Duration MIN_TTL = Duration.ofSeconds(1);

    /** The longest lease accepted. */
    public static final Duration MAX_TTL = Duration.ofDays(24);

    private static final LockOptions DEFAULTS = new LockOptions(Map.of());

    /** The options that are set, by name. */
    private final Map<String, Object> set;

    private LockOptions(Map<String, Object> set) {
        this.set = set;
        requireConsistent();
    }

    private LockOptions with(String option, @Nullable Object value) {
        Map<String, Object> changed = new TreeMap<>(set);
        if (value == null) {
            changed.remove(option);
        } else {
            changed.put(option, value);
        }
        return new LockOptions(changed);
    }

    private <T> @Nullable T get(String option, Class<T> type) {
        return type.cast(set.get(option));
    }

    /**
     * Completes these options.
     *
     * @param other the options that apply where these are not set
     * @return these options, completed by the other ones
     * @throws IllegalArgumentException if the two cannot be combined
     */
    public LockOptions orElse(LockOptions other) {
        Map<String, Object> merged = new TreeMap<>(other.set);
        merged.putAll(set);
        return new LockOptions(merged);
    }

    private void requireConsistent() {
        Duration linger = linger();
        Integer permits = permits();
        boolean shared = mode() == DistributedLock.Mode.SHARED;
        require(
                permits == null || !shared,
                "permits",
                permits,
                "be left out for mode SHARED, which allows any number of holders");
        if (linger != null && !linger.isZero()) {
            require(!shared, "linger", linger, "be left out for mode SHARED");
            require(permits == null, "linger", linger, "be left out for a lock with permits");
            require(!Boolean.FALSE.equals(renew()), "linger", linger, "be left out for a lease that is not renewed");
        }
    }

    /** @throws IllegalArgumentException if several may hold the lock at the same time */
    void requireExclusive(String must) {
        require(mode() != DistributedLock.Mode.SHARED, "mode", mode(), must);
        require(permits() == null, "permits", permits(), must);
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

    /** {@return the lease} */
    public @Nullable Duration ttl() {
        return get("ttl", Duration.class);
    }

    /**
     * Sets the lease: how long a hold lasts without renewal, and the maximum time that it lasts after its holder has
     * died.
     *
     * @param ttl from {@link #MIN_TTL} to {@link #MAX_TTL}
     * @return these options with that lease
     * @throws IllegalArgumentException if shorter or longer
     */
    public LockOptions withTtl(Duration ttl) {
        require(ttl.compareTo(MIN_TTL) >= 0, "ttl", ttl, "be at least 1000 ms");
        require(ttl.compareTo(MAX_TTL) <= 0, "ttl", ttl, "be at most 24 days: use renewal instead");
        return with("ttl", ttl);
    }

    /** {@return the wait time} */
    public @Nullable Duration waitTime() {
        return get("waitTime", Duration.class);
    }

    /**
     * Sets how long {@link LockTemplate}, the annotation and the acquisition of a {@link Lease} wait at most; zero
     * tries once. The methods of {@link NamedLock} do not use it.
     *
     * @param waitTime zero or more
     * @return these options with that wait time
     * @throws IllegalArgumentException if negative
     */
    public LockOptions withWaitTime(Duration waitTime) {
        require(!waitTime.isNegative(), "waitTime", waitTime, "not be negative");
        return with("waitTime", waitTime);
    }

    /** {@return whether the lease is renewed} */
    public @Nullable Boolean renew() {
        return get("renew", Boolean.class);
    }

    /** {@return these options, with a lease that is renewed for as long as the lock is held} */
    public LockOptions withRenewal() {
        return with("renew", true);
    }

    /** {@return these options, with a lease that ends after its ttl, held or not} */
    public LockOptions withoutRenewal() {
        return with("renew", false);
    }

    /** {@return how long a hold is renewed at most; null in complete options for no limit} */
    public @Nullable Duration maxHold() {
        return get("maxHold", Duration.class);
    }

    /**
     * Ends the renewal of a hold that is not released within this time: the lock is then lost when its lease ends.
     *
     * @param maxHold above zero
     * @return these options with that limit
     * @throws IllegalArgumentException if zero or negative
     */
    public LockOptions withMaxHold(Duration maxHold) {
        require(maxHold.compareTo(Duration.ZERO) > 0, "maxHold", maxHold, "be positive");
        return with("maxHold", maxHold);
    }

    /** {@return whether others may hold the lock at the same time; null in complete options for exclusive} */
    public DistributedLock.@Nullable Mode mode() {
        return get("mode", DistributedLock.Mode.class);
    }

    /**
     * Requests a shared hold: any number of callers with a shared hold have the lock at a time, but none alongside an
     * exclusive holder or one with a permit. It is the read side of {@link LockRegistry#readWrite}.
     *
     * @return these options for a shared hold
     * @throws IllegalArgumentException if they have permits
     */
    public LockOptions shared() {
        return with("mode", DistributedLock.Mode.SHARED);
    }

    /** {@return how many may hold the lock at a time; null in complete options for no permits} */
    public @Nullable Integer permits() {
        return get("permits", Integer.class);
    }

    /**
     * Requests one of several permits: at most so many callers hold the lock at a time, and none of them alongside an
     * exclusive or shared holder. If requests give different numbers, the smallest number of the request and of all
     * holders applies. So no holder is ever among more than it requested. A smaller number takes no permit from a
     * holder. A registry refuses more permits than a lock may have holders, by default 200.
     *
     * @param permits at least 1
     * @return these options with so many permits
     * @throws IllegalArgumentException if below 1, or if the hold is shared
     */
    public LockOptions withPermits(int permits) {
        require(permits > 0, "permits", permits, "be at least 1");
        return with("permits", permits);
    }

    /** {@return whether a release waits for the answer of Redis} */
    public DistributedLock.@Nullable Release release() {
        return get("release", DistributedLock.Release.class);
    }

    /**
     * Sets whether a release waits for the answer of Redis. With {@code SEND} it does not: see
     * {@link DistributedLock.Release#SEND}.
     *
     * @param release {@code DEFAULT} for the registry's own
     * @return these options with that release
     */
    public LockOptions withRelease(DistributedLock.Release release) {
        return with("release", release == DistributedLock.Release.DEFAULT ? null : release);
    }

    /** {@return how long the lock stays with this JVM after its release; null in complete options for not at all} */
    public @Nullable Duration linger() {
        return get("linger", Duration.class);
    }

    /**
     * Keeps the lock with this JVM for a while after its last release, so that a caller that acquires it again needs no
     * command. This JVM releases it as soon as a caller of another JVM waits for it. Until then the lock is held, and a
     * request of another JVM without a wait time is refused. Such a lock has a lease of at most 6 s. It is neither
     * shared nor limited by permits, and it is renewed.
     *
     * @param linger zero, for not at all, or more
     * @return these options with that time
     * @throws IllegalArgumentException if negative, or if the hold is shared, has permits or is not renewed
     */
    public LockOptions withLinger(Duration linger) {
        require(!linger.isNegative(), "linger", linger, "not be negative");
        return with("linger", linger);
    }

    /** {@return how many callers of one registry may wait for a lock; null in complete options for any number} */
    public @Nullable Integer maxWaiting() {
        return get("maxWaiting", Integer.class);
    }

    /**
     * Limits how many callers of this registry wait for the lock. If so many wait already, a further caller that would
     * have to wait is refused at once. Callers that hold the lock, reenter it or try it once do not count. Each caller
     * has its own limit, and requests of another mode, or for permits, are counted apart.
     *
     * @param maxWaiting at least 1
     * @return these options with that limit
     * @throws IllegalArgumentException if below 1
     */
    public LockOptions withMaxWaiting(int maxWaiting) {
        require(maxWaiting > 0, "maxWaiting", maxWaiting, "be at least 1");
        return with("maxWaiting", maxWaiting);
    }

    /** {@return the settings that several names share; null for none} */
    public @Nullable String group() {
        return get("group", String.class);
    }

    /**
     * Sets the group of the lock, whatever its key: {@code "order"} for {@code "order:4711"}. The group is a tag of
     * metrics, so use few groups, and {@code lock.locks.<group>} configures it. The annotation sets its {@code name},
     * or else {@code Class.method}.
     *
     * @param group such as {@code "order"}
     * @return these options with that group
     * @throws IllegalArgumentException if blank, or if it has a variable such as {@code #id} in it, which is not
     *     evaluated
     */
    public LockOptions withGroup(String group) {
        require(!group.isBlank(), "group", group, "name the group, such as \"order\"");
        require(
                !LockNames.hasVariable(group),
                "group",
                group,
                "be the same for all keys: leave out the # and what follows it");
        return with("group", group);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOptions options && set.equals(options.set);
    }

    @Override
    public int hashCode() {
        return set.hashCode();
    }

    /** {@return the options that are set} */
    @Override
    public String toString() {
        return "LockOptions" + set;
    }
}
