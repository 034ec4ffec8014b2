package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.lockboot.DistributedLock.Release;
import io.github.lockboot.LockOptions;
import io.github.lockboot.aop.DistributedLockAdvisor;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

import static io.github.lockboot.autoconfigure.PropertyCheck.require;
import static io.github.lockboot.autoconfigure.PropertyCheck.requireInterval;
import static io.github.lockboot.autoconfigure.PropertyCheck.text;
import static java.util.Objects.requireNonNullElse;

/**
 * Configuration properties of locks. A value out of range fails startup.
 *
 * <p>Unset properties are null until the constructors set their defaults, because converting the text of a
 * {@code @DefaultValue} slows startup. The same defaults are listed in
 * {@code additional-spring-configuration-metadata.json}.
 *
 * @param enabled Whether to enable distributed locks.
 * @param type Where locks are kept.
 * @param keyPrefix Prefix of the Redis key of a lock. The name of the lock follows.
 * @param ttl Lease of a lock, from 1s to 24d. A lock whose holder has died is free after this time.
 * @param waitTime Maximum time to wait for a lock held by another caller. 0 tries once.
 * @param maxWaiting Maximum number of callers of this instance that wait for one lock, at least 1. Others are refused
 *     at once. Unlimited by default.
 * @param renew Whether to renew leases while locks are held.
 * @param maxHold Maximum time to renew a lock that is not released. Unlimited by default.
 * @param release Whether a release waits for the answer of Redis.
 * @param localHandoffLimit Maximum number of times in a row that a lock passes between threads of one JVM while other
 *     JVMs wait, from 0 to 65535. 0 serves all JVMs in strict order.
 * @param maxWaiters Maximum number of JVMs in the queue of one lock, at least 1. Others poll.
 * @param maxHolders Maximum number of holders of one lock, at least 1: permits, or JVMs that read. More permits are
 *     refused, further readers wait.
 * @param locks Settings for one group of locks: the name of the annotation, Class.method if it has none, or the group
 *     of LockOptions. They take precedence over the annotation and LockOptions.
 * @param startupCheck Whether connecting at startup checks that Redis is suitable for locks.
 * @param shutdownGracePeriod Maximum time that shutdown waits for locks to be released, after the web server and
 *     executors have stopped. 0 does not wait.
 * @param logKeys Whether logs, the logging context and the endpoints show names of locks, which may be personal data,
 *     instead of digests.
 * @param mdc Whether to add the lock to the logging context, as 'lock', while code runs under it.
 * @param retry Polling of waiters.
 * @param redis The connection to Redis.
 * @param cache Caches whose loaders run once in all instances.
 * @param aop Proxies of annotated beans.
 * @param web Answers to web requests.
 * @param observations Observations of locks.
 * @param endpoint The actuator endpoint 'lock'.
 */
@ConfigurationProperties("lock")
record LockProperties(
        Boolean enabled,
        Type type,
        String keyPrefix,
        Duration ttl,
        Duration waitTime,
        @Nullable Integer maxWaiting,
        Boolean renew,
        @Nullable Duration maxHold,
        Release release,
        Integer localHandoffLimit,
        Integer maxWaiters,
        Integer maxHolders,
        @DefaultValue Map<String, Group> locks,
        StartupCheck startupCheck,
        Duration shutdownGracePeriod,
        boolean logKeys,
        boolean mdc,
        @DefaultValue Retry retry,
        @DefaultValue Redis redis,
        @DefaultValue Cache cache,
        @DefaultValue Aop aop,
        @DefaultValue Web web,
        @DefaultValue Observations observations,
        @DefaultValue Endpoint endpoint) {

    LockProperties {
        enabled = requireNonNullElse(enabled, true);
        type = requireNonNullElse(type, Type.REDIS);
        keyPrefix = requireNonNullElse(keyPrefix, "lock:");
        ttl = requireNonNullElse(ttl, Duration.ofSeconds(30));
        waitTime = requireNonNullElse(waitTime, Duration.ofSeconds(10));
        renew = requireNonNullElse(renew, true);
        release = requireNonNullElse(release, Release.AWAIT);
        localHandoffLimit = requireNonNullElse(localHandoffLimit, 64);
        maxWaiters = requireNonNullElse(maxWaiters, 100);
        maxHolders = requireNonNullElse(maxHolders, 200);
        startupCheck = requireNonNullElse(startupCheck, StartupCheck.WARN);
        shutdownGracePeriod = requireNonNullElse(shutdownGracePeriod, Duration.ofSeconds(10));
        redis = new Redis(
                requireNonNullElse(
                        redis.commandTimeout, Collections.min(List.of(Duration.ofSeconds(2), ttl.dividedBy(2)))),
                requireNonNullElse(redis.acknowledge, Acknowledge.NONE),
                requireNonNullElse(redis.connectAtStartup, true));

        require(!keyPrefix.isBlank(), "lock.key-prefix", keyPrefix, "must not be blank: use a prefix such as 'lock:'");
        require(
                keyPrefix.matches("[^\\p{javaISOControl}\\p{javaWhitespace}]*"),
                "lock.key-prefix",
                keyPrefix,
                "must have neither white space nor control characters: remove them");
        require(maxHolders >= 1, "lock.max-holders", maxHolders, "must be at least 1: raise it");
        new Group(ttl, waitTime, renew, maxHold, null, release, null, maxWaiting).options("lock");
        for (Map.Entry<String, Group> each : locks.entrySet()) {
            String property = propertyOf(each.getKey());
            LockOptions options = each.getValue().options(property);
            require(
                    options.ttl() == null || options.ttl().compareTo(redis.commandTimeout) > 0,
                    property + ".ttl",
                    options.ttl(),
                    "must be more than lock.redis.command-timeout (%s), or one slow command exceeds a lease:"
                            + " raise it",
                    redis.commandTimeout);
            require(
                    options.permits() == null || options.permits() <= maxHolders,
                    property + ".permits",
                    options.permits(),
                    "must be at most lock.max-holders (%s): lower it, or raise that in all instances",
                    maxHolders);
        }
        require(
                !shutdownGracePeriod.isNegative(),
                "lock.shutdown-grace-period",
                shutdownGracePeriod,
                "must not be negative: use 0 not to wait");
        require(
                localHandoffLimit >= 0 && localHandoffLimit <= RedisLockRegistry.MAX_LOCAL_HANDOFFS,
                "lock.local-handoff-limit",
                localHandoffLimit,
                "must be from 0 to %s: use 0 for strict order",
                RedisLockRegistry.MAX_LOCAL_HANDOFFS);
        require(maxWaiters >= 1, "lock.max-waiters", maxWaiters, "must be at least 1: raise it");
        requireInterval("lock.redis.command-timeout", redis.commandTimeout);
        require(
                redis.commandTimeout.compareTo(ttl) < 0,
                "lock.redis.command-timeout",
                redis.commandTimeout,
                "must be less than lock.ttl (%s), or one slow command exceeds a lease: lower it",
                ttl);
    }

    /** Where locks are kept. The values are described in the additional metadata. */
    enum Type {
        REDIS,
        MEMORY
    }

    /** What to do if Redis is not suitable for locks. The values are described in the additional metadata. */
    enum StartupCheck {
        WARN,
        FAIL,
        OFF
    }

    /**
     * Settings for one group of locks.
     *
     * @param ttl Lease of a lock, from 1s to 24d.
     * @param waitTime Maximum time to wait for a lock held by another caller. 0 tries once.
     * @param renew Whether to renew leases while locks are held.
     * @param maxHold Maximum time to renew a lock that is not released.
     * @param permits Maximum number of callers that hold a lock at a time, in all instances.
     * @param release Whether a release waits for the answer of Redis.
     * @param linger Time that a lock stays with its JVM after its release, unless another JVM waits for it. 0 is none.
     * @param maxWaiting Maximum number of callers of this instance that wait for one lock, at least 1. Others are
     *     refused at once.
     */
    record Group(
            @Nullable Duration ttl,
            @Nullable Duration waitTime,
            @Nullable Boolean renew,
            @Nullable Duration maxHold,
            @Nullable Integer permits,
            @Nullable Release release,
            @Nullable Duration linger,
            @Nullable Integer maxWaiting) {

        static final List<String> NAMES =
                List.of("ttl", "wait-time", "renew", "max-hold", "permits", "release", "linger", "max-waiting");

        /**
         * @param prefix of the properties with these settings
         * @throws InvalidConfigurationPropertyValueException if one is out of range
         */
        private LockOptions options(String prefix) {
            @Nullable Object[] values = {ttl, waitTime, renew, maxHold, permits, release, linger, maxWaiting};
            LockOptions options = LockOptions.defaults();
            for (int i = 0; i < values.length; i++) {
                Object value = values[i];
                try {
                    options = value == null ? options : with(options, NAMES.get(i), value);
                } catch (IllegalArgumentException outOfRange) {
                    throw new InvalidConfigurationPropertyValueException(
                            prefix + "." + NAMES.get(i), text(value), String.valueOf(outOfRange.getMessage()));
                }
            }
            return options;
        }

        /** A switch, because each start reads the settings: a lambda for each would slow it down. */
        private static LockOptions with(LockOptions options, String name, Object value) {
            return switch (name) {
                case "ttl" -> options.withTtl((Duration) value);
                case "wait-time" -> options.withWaitTime((Duration) value);
                case "renew" -> (Boolean) value ? options.withRenewal() : options.withoutRenewal();
                case "max-hold" -> options.withMaxHold((Duration) value);
                case "permits" -> options.withPermits((Integer) value);
                case "release" -> options.withRelease((Release) value);
                case "linger" -> options.withLinger((Duration) value);
                default -> options.withMaxWaiting((Integer) value);
            };
        }
    }

    /**
     * @param interval Polling interval of a waiter in the queue, in case a message is lost, from 10ms to 24d. Longer
     *     than 2s has the effect of 2s.
     * @param minInterval Initial polling delay of a waiter that cannot be notified, at least 10ms. 20ms, or the
     *     interval if that is less.
     */
    record Retry(Duration interval, Duration minInterval) {

        Retry {
            interval = requireNonNullElse(interval, Duration.ofSeconds(2));
            minInterval = requireNonNullElse(minInterval, Collections.min(List.of(Duration.ofMillis(20), interval)));
            requireInterval("lock.retry.interval", interval);
            requireInterval("lock.retry.min-interval", minInterval);
            require(
                    minInterval.compareTo(interval) <= 0,
                    "lock.retry.min-interval",
                    minInterval,
                    "must be at most lock.retry.interval (%s): lower it",
                    interval);
        }
    }

    /**
     * @param commandTimeout Timeout of a Redis command of a lock, from 10ms to less than lock.ttl. 2s, or half of
     *     lock.ttl if that is less.
     * @param acknowledge Who must acknowledge a grant or a renewal before it is valid.
     * @param connectAtStartup Whether an application that uses locks connects before it accepts requests, not at the
     *     first lock.
     */
    record Redis(Duration commandTimeout, Acknowledge acknowledge, Boolean connectAtStartup) {}

    /**
     * @param sync Names of caches that instances share, or *, whose loaders run once for each key in all instances.
     * @param unavailable What a call of such a cache does if the lock is unavailable.
     */
    record Cache(List<String> sync, Unavailable unavailable) {

        Cache {
            sync = requireNonNullElse(sync, List.of());
            unavailable = requireNonNullElse(unavailable, Unavailable.LOAD);
            require(
                    sync.size() == 1 && sync.get(0).equals("*") || sync.stream().noneMatch(name -> name.contains("*")),
                    "lock.cache.sync",
                    sync,
                    "must be names of caches, or * alone: write whole names");
        }

        /** The values are described in the additional metadata. */
        enum Unavailable {
            LOAD,
            FAIL
        }
    }

    /**
     * @param order Order of the lock advisor, by default after method security and, whatever their order, before
     *     transactions and caches.
     */
    record Aop(Integer order) {

        Aop {
            order = requireNonNullElse(order, DistributedLockAdvisor.DEFAULT_ORDER);
        }
    }

    /**
     * @param problemDetails Whether a web request that ends without a lock is answered by a problem detail, with status
     *     409 or 503, unless the application handles the exception.
     */
    record Web(Boolean problemDetails) {

        Web {
            problemDetails = requireNonNullElse(problemDetails, true);
        }
    }

    /** @param enabled Whether to observe every use of a lock, for traces. */
    record Observations(boolean enabled) {}

    /** @param forceRelease Whether the endpoint 'lock' may end a hold by force (DELETE with the id of the holder). */
    record Endpoint(boolean forceRelease) {}

    /** The defaults of a registry. */
    LockOptions options() {
        return new Group(ttl, waitTime, renew, maxHold, null, release, null, maxWaiting).options("lock");
    }

    /** Options that take precedence, by group. */
    Map<String, LockOptions> overrides() {
        Map<String, LockOptions> overrides = new LinkedHashMap<>();
        locks.forEach((group, settings) -> overrides.put(group, settings.options(propertyOf(group))));
        return overrides;
    }

    /** The property of a group of locks, in brackets if it needs them. */
    static String propertyOf(String group) {
        return "lock.locks." + (group.matches("[A-Za-z0-9-]+") ? group : "[" + group + "]");
    }
}
