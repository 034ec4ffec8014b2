package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockboot.LockOptions;
import io.github.lockboot.aop.DistributedLockAdvisor;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationStyle;

/**
 * How locks are taken and kept. A value that is out of range ends the start of the application.
 *
 * @param enabled Whether to set up distributed locks.
 * @param type Where the locks are.
 * @param keyPrefix What the Redis key of a lock begins with; the name of the lock follows.
 * @param ttl Lease of a hold, at least 1s: how long a lock stays without renewal, such as after the death of its holder.
 * @param waitTime How long a caller waits for a lock held by another. 0 tries once.
 * @param renew Whether leases are renewed for as long as the lock is held.
 * @param maxHold Renewal ends for a holder that has not released after this time. Unlimited by default.
 * @param localHandoffLimit How often in a row a lock passes between threads of one JVM while other JVMs wait, 0 to 65535. 0
 *     serves all JVMs in strict order.
 * @param maxWaiters How many JVMs may queue for one lock; those beyond it poll.
 * @param locks What operators set for locks of one name, by the annotation's name, or Class.method without one, or the group
 *     of LockOptions. It wins over the annotation and over options; what it leaves open comes from there.
 * @param startupCheck What to do when Redis is not fit for locks.
 * @param shutdownGracePeriod How long a stopping application waits for locks to be released after its web server and executors
 *     have stopped. 0 leaves them to their leases.
 * @param logKeys Whether logs, the logging context and the locks endpoint show the names of locks, which may be personal data,
 *     instead of digests.
 * @param mdc Whether the logging context names the lock, as 'lock', while something runs under it.
 * @param retry How a waiting caller asks again.
 * @param redis The connection to Redis.
 * @param aop The proxies of annotated beans.
 * @param endpoint The actuator endpoint 'locks'.
 */
@ConfigurationProperties("lock")
public record LockProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("redis") Type type,
        @DefaultValue("lock:") String keyPrefix,
        @DefaultValue("30s") Duration ttl,
        @DefaultValue("10s") Duration waitTime,
        @DefaultValue("true") boolean renew,
        @Nullable Duration maxHold,
        @DefaultValue("64") int localHandoffLimit,
        @DefaultValue("1000") int maxWaiters,
        @DefaultValue Map<String, Named> locks,
        @DefaultValue("warn") StartupCheck startupCheck,
        @DefaultValue("10s") Duration shutdownGracePeriod,
        @DefaultValue("false") boolean logKeys,
        @DefaultValue("false") boolean mdc,
        @DefaultValue Retry retry,
        @DefaultValue Redis redis,
        @DefaultValue Aop aop,
        @DefaultValue Endpoint endpoint) {

    private static final int MOST_LOCAL_HANDOFFS = 65_535;
    private static final Duration LONGEST_TTL = Duration.ofDays(24);

    /**
     * Refuses what is out of range, with the name of the property and the mend.
     *
     * @param enabled as the component
     * @param type as the component
     * @param keyPrefix as the component
     * @param ttl as the component
     * @param waitTime as the component
     * @param renew as the component
     * @param maxHold as the component
     * @param localHandoffLimit as the component
     * @param maxWaiters as the component
     * @param locks as the component
     * @param startupCheck as the component
     * @param shutdownGracePeriod as the component
     * @param logKeys as the component
     * @param mdc as the component
     * @param retry as the component
     * @param redis as the component
     * @param aop as the component
     * @param endpoint as the component
     */
    public LockProperties {
        check(!keyPrefix.isBlank(), "lock.key-prefix", keyPrefix, "must not be blank: use a prefix such as 'lock:'");
        check(
                keyPrefix.chars().noneMatch(c -> Character.isISOControl(c) || Character.isWhitespace(c)),
                "lock.key-prefix",
                keyPrefix,
                "must have neither white space nor control characters: remove them");
        checkHold("lock", ttl, waitTime, maxHold);
        locks.forEach((name, named) -> checkHold(propertyOf(name), named.ttl, named.waitTime, named.maxHold));
        check(
                !shutdownGracePeriod.isNegative(),
                "lock.shutdown-grace-period",
                shutdownGracePeriod,
                "must not be negative: use 0 not to wait");
        check(
                localHandoffLimit >= 0 && localHandoffLimit <= MOST_LOCAL_HANDOFFS,
                "lock.local-handoff-limit",
                localHandoffLimit,
                "must be from 0 to " + MOST_LOCAL_HANDOFFS + ": use 0 for strict order");
        check(maxWaiters >= 1, "lock.max-waiters", maxWaiters, "must be at least 1: raise it");
        Duration commandTimeout = redis.commandTimeout;
        check(
                commandTimeout == null || commandTimeout.compareTo(ttl) < 0,
                "lock.redis.command-timeout",
                commandTimeout,
                "must be less than lock.ttl (" + text(ttl) + "), or one slow command outlasts a lease: lower it");
    }

    private static void checkHold(
            String prefix, @Nullable Duration ttl, @Nullable Duration waitTime, @Nullable Duration maxHold) {
        check(
                ttl == null || ttl.compareTo(LockOptions.MIN_TTL) >= 0,
                prefix + ".ttl",
                ttl,
                "must be at least 1s: raise it");
        check(
                ttl == null || ttl.compareTo(LONGEST_TTL) <= 0,
                prefix + ".ttl",
                ttl,
                "must be at most 24d: lower it and keep lock.renew=true");
        check(
                waitTime == null || !waitTime.isNegative(),
                prefix + ".wait-time",
                waitTime,
                "must not be negative: use 0 to try once");
        check(
                maxHold == null || isPositive(maxHold),
                prefix + ".max-hold",
                maxHold,
                "must be positive: remove the property for no limit");
    }

    /** Where locks are. */
    public enum Type {

        /** On the application's Redis. */
        REDIS,

        /** In the memory of this process, which excludes no other: for tests. */
        MEMORY
    }

    /** What to do when Redis is not fit for locks. */
    public enum StartupCheck {

        /** Say so in the log, once the application has started. */
        WARN,

        /** End the start. */
        FAIL,

        /** Do not look. */
        OFF
    }

    /**
     * What locks of one name have of their own; the rest is the annotation's.
     *
     * @param ttl Lease of a hold, at least 1s.
     * @param waitTime How long a caller waits for a lock held by another. 0 tries once.
     * @param renew Whether leases are renewed for as long as the lock is held.
     * @param maxHold Renewal ends for a holder that has not released after this time.
     */
    public record Named(
            @Nullable Duration ttl,
            @Nullable Duration waitTime,
            @Nullable Boolean renew,
            @Nullable Duration maxHold) {}

    /**
     * @param interval How often a waiter that Redis will notify asks all the same.
     * @param minInterval How soon a waiter that nobody can notify asks again at first. 20ms, or the interval if that is less.
     */
    public record Retry(
            @DefaultValue("2s") Duration interval, @Nullable Duration minInterval) {

        private static final Duration DEFAULT_MIN_INTERVAL = Duration.ofMillis(20);

        /**
         * Refuses what is out of range, and fills in what is not set.
         *
         * @param interval as the component
         * @param minInterval as the component
         */
        public Retry {
            check(isPositive(interval), "lock.retry.interval", interval, "must be positive: raise it");
            check(
                    minInterval == null || isPositive(minInterval),
                    "lock.retry.min-interval",
                    minInterval,
                    "must be positive: raise it");
            check(
                    minInterval == null || minInterval.compareTo(interval) <= 0,
                    "lock.retry.min-interval",
                    minInterval,
                    "must be at most lock.retry.interval (" + text(interval) + "): lower it");
            minInterval = minInterval != null ? minInterval : min(DEFAULT_MIN_INTERVAL, interval);
        }
    }

    /**
     * @param commandTimeout How long a command of a lock may take, on a connection of its own. 2s, or half of lock.ttl if
     *     that is less.
     */
    public record Redis(@Nullable Duration commandTimeout) {

        private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(2);

        /**
         * Refuses what is out of range.
         *
         * @param commandTimeout as the component
         */
        public Redis {
            check(
                    commandTimeout == null || isPositive(commandTimeout),
                    "lock.redis.command-timeout",
                    commandTimeout,
                    "must be positive: raise it");
        }
    }

    /**
     * @param order Order of the lock among the advisors of a method; transactions and caches belong after it.
     */
    public record Aop(
            @DefaultValue("" + DistributedLockAdvisor.DEFAULT_ORDER)
            int order) {}

    /**
     * @param forceRelease Whether a DELETE with the id of the owner releases a lock over its holder's head.
     */
    public record Endpoint(@DefaultValue("false") boolean forceRelease) {}

    Duration commandTimeout() {
        Duration set = redis.commandTimeout;
        return set != null ? set : min(Redis.DEFAULT_COMMAND_TIMEOUT, ttl.dividedBy(2));
    }

    /** The options of a lock that says nothing itself. */
    LockOptions options() {
        return options(ttl, waitTime, renew, maxHold);
    }

    /** What comes before the options of a lock, by group. */
    Map<String, LockOptions> overrides() {
        Map<String, LockOptions> overrides = new LinkedHashMap<>();
        locks.forEach(
                (name, named) -> overrides.put(name, options(named.ttl, named.waitTime, named.renew, named.maxHold)));
        return overrides;
    }

    /** The property under which a lock of that name is configured, as it is to be written. */
    static String propertyOf(String name) {
        return "lock.locks." + (name.matches("[A-Za-z0-9-]+") ? name : "[" + name + "]");
    }

    private static LockOptions options(
            @Nullable Duration ttl, @Nullable Duration waitTime, @Nullable Boolean renew, @Nullable Duration maxHold) {
        LockOptions options = LockOptions.defaults();
        options = ttl != null ? options.withTtl(ttl) : options;
        options = waitTime != null ? options.withWaitTime(waitTime) : options;
        options = maxHold != null ? options.withMaxHold(maxHold) : options;
        if (renew == null) {
            return options;
        }
        return renew ? options.withRenewal() : options.withoutRenewal();
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }

    private static void check(boolean valid, String property, @Nullable Object value, String reason) {
        if (!valid) {
            throw new InvalidConfigurationPropertyValueException(
                    property, value instanceof Duration duration ? text(duration) : value, reason);
        }
    }

    private static String text(Duration duration) {
        return DurationStyle.SIMPLE.print(duration);
    }
}
