package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockboot.LockOptions;
import io.github.lockboot.aop.DistributedLockAdvisor;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

import static java.util.Objects.requireNonNullElse;

/**
 * How locks are taken and kept. A value that is out of range ends the start of the application.
 *
 * <p>What is not set, Spring Boot hands to the constructors as null, and they fill it in: converting a default from text costs
 * every start more than all of the rest does. So the defaults stand in the additional metadata, too.
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
        Boolean enabled,
        Type type,
        String keyPrefix,
        Duration ttl,
        Duration waitTime,
        Boolean renew,
        @Nullable Duration maxHold,
        Integer localHandoffLimit,
        Integer maxWaiters,
        Map<String, Named> locks,
        StartupCheck startupCheck,
        Duration shutdownGracePeriod,
        boolean logKeys,
        boolean mdc,
        Retry retry,
        Redis redis,
        Aop aop,
        Endpoint endpoint) {

    private static final int MOST_LOCAL_HANDOFFS = 65_535;

    /**
     * Fills in what is not set, and refuses what is out of range, with the name of the property and the mend.
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
        enabled = requireNonNullElse(enabled, true);
        type = requireNonNullElse(type, Type.REDIS);
        keyPrefix = requireNonNullElse(keyPrefix, "lock:");
        ttl = requireNonNullElse(ttl, Duration.ofSeconds(30));
        waitTime = requireNonNullElse(waitTime, Duration.ofSeconds(10));
        renew = requireNonNullElse(renew, true);
        localHandoffLimit = requireNonNullElse(localHandoffLimit, 64);
        maxWaiters = requireNonNullElse(maxWaiters, 100);
        locks = requireNonNullElse(locks, Map.of());
        startupCheck = requireNonNullElse(startupCheck, StartupCheck.WARN);
        shutdownGracePeriod = requireNonNullElse(shutdownGracePeriod, Duration.ofSeconds(10));
        retry = requireNonNullElse(retry, new Retry(Retry.DEFAULT_INTERVAL, Retry.DEFAULT_MIN_INTERVAL));
        redis = requireNonNullElse(redis, new Redis(null));
        aop = requireNonNullElse(aop, new Aop(DistributedLockAdvisor.DEFAULT_ORDER));
        endpoint = requireNonNullElse(endpoint, new Endpoint(false));

        PropertyCheck.requirePrefix(keyPrefix, "lock.key-prefix");
        PropertyCheck.requireHold("lock", ttl, waitTime, maxHold);
        for (Map.Entry<String, Named> each : locks.entrySet()) {
            Named named = each.getValue();
            PropertyCheck.requireHold(propertyOf(each.getKey()), named.ttl, named.waitTime, named.maxHold);
        }
        PropertyCheck.require(
                !shutdownGracePeriod.isNegative(),
                "lock.shutdown-grace-period",
                shutdownGracePeriod,
                "must not be negative: use 0 not to wait");
        PropertyCheck.require(
                localHandoffLimit >= 0 && localHandoffLimit <= MOST_LOCAL_HANDOFFS,
                "lock.local-handoff-limit",
                localHandoffLimit,
                "must be from 0 to " + MOST_LOCAL_HANDOFFS + ": use 0 for strict order");
        PropertyCheck.require(maxWaiters >= 1, "lock.max-waiters", maxWaiters, "must be at least 1: raise it");
        Duration commandTimeout = redis.commandTimeout;
        PropertyCheck.require(
                commandTimeout == null || commandTimeout.compareTo(ttl) < 0,
                "lock.redis.command-timeout",
                commandTimeout,
                "must be less than lock.ttl (%s), or one slow command outlasts a lease: lower it",
                ttl);
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
    public record Retry(Duration interval, Duration minInterval) {

        private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(2);
        private static final Duration DEFAULT_MIN_INTERVAL = Duration.ofMillis(20);

        /**
         * Fills in what is not set, and refuses what is out of range.
         *
         * @param interval as the component
         * @param minInterval as the component
         */
        public Retry {
            interval = requireNonNullElse(interval, DEFAULT_INTERVAL);
            PropertyCheck.requirePositive(interval, "lock.retry.interval");
            PropertyCheck.requirePositive(minInterval, "lock.retry.min-interval");
            PropertyCheck.require(
                    minInterval == null || minInterval.compareTo(interval) <= 0,
                    "lock.retry.min-interval",
                    minInterval,
                    "must be at most lock.retry.interval (%s): lower it",
                    interval);
            minInterval = requireNonNullElse(minInterval, min(DEFAULT_MIN_INTERVAL, interval));
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
            PropertyCheck.requirePositive(commandTimeout, "lock.redis.command-timeout");
        }
    }

    /**
     * @param order Order of the lock among the advisors of a method; transactions and caches belong after it.
     */
    public record Aop(Integer order) {

        /**
         * Fills in what is not set.
         *
         * @param order as the component
         */
        public Aop {
            order = requireNonNullElse(order, DistributedLockAdvisor.DEFAULT_ORDER);
        }
    }

    /**
     * @param forceRelease Whether a DELETE with the id of the owner releases a lock over its holder's head.
     */
    public record Endpoint(boolean forceRelease) {}

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
        for (Map.Entry<String, Named> each : locks.entrySet()) {
            Named named = each.getValue();
            overrides.put(each.getKey(), options(named.ttl, named.waitTime, named.renew, named.maxHold));
        }
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

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }
}
