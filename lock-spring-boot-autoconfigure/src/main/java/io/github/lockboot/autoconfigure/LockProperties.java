package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.lockboot.LockOptions;
import io.github.lockboot.aop.DistributedLockAdvisor;
import io.github.lockboot.redis.RedisLockRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

import static java.util.Objects.requireNonNullElse;

/**
 * Configuration properties of locks. A value out of range fails startup.
 *
 * <p>Unset properties arrive as null and get their defaults here, because converting {@code @DefaultValue} texts slows startup.
 * The same defaults are listed in {@code additional-spring-configuration-metadata.json}.
 *
 * @param enabled Whether to enable distributed locks.
 * @param type Where locks are kept.
 * @param keyPrefix Prefix of the Redis key of a lock. The name of the lock follows.
 * @param ttl Lease of a lock, at least 1s. A lock whose holder has died is free after this time.
 * @param waitTime Maximum time to wait for a lock held by another caller. 0 tries once.
 * @param renew Whether to renew leases while locks are held.
 * @param maxHold Maximum time to renew a lock that is not released. Unlimited by default.
 * @param localHandoffLimit Maximum number of times in a row that a lock passes between threads of one JVM while other JVMs
 *     wait, from 0 to 65535. 0 serves all JVMs in strict order.
 * @param maxWaiters Maximum number of JVMs in the queue of one lock. Others poll.
 * @param locks Settings for one group of locks: the name of the annotation, Class.method if it has none, or the group of
 *     LockOptions. They take precedence over the annotation and LockOptions.
 * @param startupCheck Whether to check at startup that Redis is suitable for locks.
 * @param shutdownGracePeriod Maximum time that shutdown waits for locks to be released, after the web server and executors have
 *     stopped. 0 does not wait.
 * @param logKeys Whether logs, the logging context and the locks endpoint show names of locks, which may be personal data,
 *     instead of digests.
 * @param mdc Whether to add the lock to the logging context, as 'lock', while code runs under it.
 * @param retry Polling of waiters.
 * @param redis The connection to Redis.
 * @param aop Proxies of annotated beans.
 * @param observations Observations of locks.
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
        Observations observations,
        Endpoint endpoint) {

    private static final Duration DEFAULT_TTL = Duration.ofSeconds(30);
    private static final Duration DEFAULT_WAIT_TIME = Duration.ofSeconds(10);
    private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(2);
    private static final Duration DEFAULT_MIN_INTERVAL = Duration.ofMillis(20);
    private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(2);

    /**
     * Applies defaults and validates.
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
     * @param observations as the component
     * @param endpoint as the component
     */
    public LockProperties {
        enabled = requireNonNullElse(enabled, true);
        type = requireNonNullElse(type, Type.REDIS);
        keyPrefix = requireNonNullElse(keyPrefix, "lock:");
        ttl = requireNonNullElse(ttl, DEFAULT_TTL);
        waitTime = requireNonNullElse(waitTime, DEFAULT_WAIT_TIME);
        renew = requireNonNullElse(renew, true);
        localHandoffLimit = requireNonNullElse(localHandoffLimit, 64);
        maxWaiters = requireNonNullElse(maxWaiters, 100);
        locks = requireNonNullElse(locks, Map.of());
        startupCheck = requireNonNullElse(startupCheck, StartupCheck.WARN);
        shutdownGracePeriod = requireNonNullElse(shutdownGracePeriod, Duration.ofSeconds(10));
        retry = retry == null ? Retry.of(null, null) : Retry.of(retry.interval, retry.minInterval);
        redis = requireNonNullElse(redis, new Redis(null));
        aop = aop == null || aop.order == null ? new Aop(DistributedLockAdvisor.DEFAULT_ORDER) : aop;
        observations = requireNonNullElse(observations, new Observations(false));
        endpoint = requireNonNullElse(endpoint, new Endpoint(false));

        PropertyCheck.requirePrefix(keyPrefix, "lock.key-prefix");
        PropertyCheck.requireHold("lock", ttl, waitTime, maxHold);
        locks.forEach(
                (name, lock) -> PropertyCheck.requireHold(propertyOf(name), lock.ttl, lock.waitTime, lock.maxHold));
        PropertyCheck.require(
                !shutdownGracePeriod.isNegative(),
                "lock.shutdown-grace-period",
                shutdownGracePeriod,
                "must not be negative: use 0 not to wait");
        PropertyCheck.require(
                localHandoffLimit >= 0 && localHandoffLimit <= RedisLockRegistry.MAX_LOCAL_HANDOFFS,
                "lock.local-handoff-limit",
                localHandoffLimit,
                "must be from 0 to " + RedisLockRegistry.MAX_LOCAL_HANDOFFS + ": use 0 for strict order");
        PropertyCheck.require(maxWaiters >= 1, "lock.max-waiters", maxWaiters, "must be at least 1: raise it");
        PropertyCheck.requirePositive(redis.commandTimeout, "lock.redis.command-timeout");
        PropertyCheck.require(
                redis.commandTimeout == null || redis.commandTimeout.compareTo(ttl) < 0,
                "lock.redis.command-timeout",
                redis.commandTimeout,
                "must be less than lock.ttl (%s), or one slow command outlasts a lease: lower it",
                ttl);
    }

    /** Where locks are kept. */
    public enum Type {

        /** In the Redis of the application. */
        REDIS,

        /** In the memory of this process, for tests. Other processes are not excluded. */
        MEMORY
    }

    /** What to do if Redis is not suitable for locks. */
    public enum StartupCheck {

        /** Log a warning after startup. */
        WARN,

        /** Fail startup. */
        FAIL,

        /** Skip the check. */
        OFF
    }

    /**
     * Settings for one group of locks.
     *
     * @param ttl Lease of a lock, at least 1s.
     * @param waitTime Maximum time to wait for a lock held by another caller. 0 tries once.
     * @param renew Whether to renew leases while locks are held.
     * @param maxHold Maximum time to renew a lock that is not released.
     */
    public record Named(
            @Nullable Duration ttl,
            @Nullable Duration waitTime,
            @Nullable Boolean renew,
            @Nullable Duration maxHold) {

        private LockOptions options() {
            LockOptions options = LockOptions.defaults();
            options = ttl != null ? options.withTtl(ttl) : options;
            options = waitTime != null ? options.withWaitTime(waitTime) : options;
            options = maxHold != null ? options.withMaxHold(maxHold) : options;
            if (renew == null) {
                return options;
            }
            return renew ? options.withRenewal() : options.withoutRenewal();
        }
    }

    /**
     * @param interval Polling interval of a waiter in the queue, in case a notification is lost.
     * @param minInterval Initial polling delay of a waiter that cannot be notified. 20ms, or the interval if that is less.
     */
    public record Retry(Duration interval, Duration minInterval) {

        private static Retry of(@Nullable Duration interval, @Nullable Duration minInterval) {
            Duration most = requireNonNullElse(interval, DEFAULT_INTERVAL);
            PropertyCheck.requirePositive(most, "lock.retry.interval");
            PropertyCheck.requirePositive(minInterval, "lock.retry.min-interval");
            PropertyCheck.require(
                    minInterval == null || minInterval.compareTo(most) <= 0,
                    "lock.retry.min-interval",
                    minInterval,
                    "must be at most lock.retry.interval (%s): lower it",
                    most);
            return new Retry(most, requireNonNullElse(minInterval, min(DEFAULT_MIN_INTERVAL, most)));
        }
    }

    /**
     * @param commandTimeout Timeout of a Redis command of a lock, connecting included. 2s, or half of lock.ttl if that is less.
     */
    public record Redis(@Nullable Duration commandTimeout) {}

    /**
     * @param order Order of the lock advisor. Transactions and caches belong after it.
     */
    public record Aop(Integer order) {}

    /**
     * @param enabled Whether to observe every use of a lock, for traces.
     */
    public record Observations(boolean enabled) {}

    /**
     * @param forceRelease Whether the endpoint may force-release a lock (DELETE with the owner id).
     */
    public record Endpoint(boolean forceRelease) {}

    Duration commandTimeout() {
        return requireNonNullElse(redis.commandTimeout, min(DEFAULT_COMMAND_TIMEOUT, ttl.dividedBy(2)));
    }

    /** The defaults of a registry. */
    LockOptions options() {
        return new Named(ttl, waitTime, renew, maxHold).options();
    }

    /** Options that take precedence, by group. */
    Map<String, LockOptions> overrides() {
        Map<String, LockOptions> overrides = new LinkedHashMap<>();
        locks.forEach((name, lock) -> overrides.put(name, lock.options()));
        return overrides;
    }

    /** The property for locks of that name, as it has to be written. */
    static String propertyOf(String name) {
        return "lock.locks." + (name.matches("[A-Za-z0-9-]+") ? name : "[" + name + "]");
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }
}
