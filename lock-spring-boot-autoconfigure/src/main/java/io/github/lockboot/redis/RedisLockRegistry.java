package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.connection.Connections;
import io.github.lockboot.redis.engine.EngineContext;
import io.github.lockboot.redis.engine.Hold;
import io.github.lockboot.redis.engine.LockRequest;
import io.github.lockboot.registry.ConfiguredOptions;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks on one Redis: standalone, Sentinel or Cluster.
 *
 * <p>From a Lettuce connection factory it takes the settings and makes two connections of its own: one for commands, at the
 * first lock, and one for the channel on which Redis pushes grants, when somebody first waits. Another client's factory is used
 * as it is.
 */
public final class RedisLockRegistry implements LockRuntime, AutoCloseable {

    /** How often at most a lock may pass between threads of one JVM under one grant of Redis. */
    public static final int MAX_LOCAL_HANDOFFS = 65_535;

    private final RedisConnectionFactory connectionFactory;
    private final String keyPrefix;
    private final ConfiguredOptions options;
    private final Duration closeTimeout;
    private final Supplier<Assembly> assembler;
    private final List<LockListener> firstListeners;
    private volatile @Nullable Assembly assembly;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile String servers = "";

    private RedisLockRegistry(Builder builder) {
        this.connectionFactory = builder.connectionFactory;
        this.keyPrefix = builder.keyPrefix;
        this.options = new ConfiguredOptions(builder.defaults, builder.overrides);
        this.closeTimeout = builder.commandTimeout;
        this.assembler = builder.assembler();
        this.firstListeners = new ArrayList<>(builder.listeners);
    }

    /** Put together at the first use: the start of an application can do without loading all of it. */
    private Assembly assembly() {
        Assembly made = assembly;
        return made != null ? made : assemble();
    }

    private Assembly assemble() {
        synchronized (firstListeners) {
            Assembly made = assembly;
            if (made == null) {
                made = assembler.get();
                firstListeners.forEach(made.engine().listeners()::add);
                assembly = made;
            }
            return made;
        }
    }

    /**
     * @param connectionFactory where Redis is; it must be initialized, and stays the caller's
     * @return settings to be changed
     */
    public static Builder builder(RedisConnectionFactory connectionFactory) {
        return new Builder(connectionFactory);
    }

    @Override
    public NamedLock get(String name, LockOptions options) {
        return new RedisLock(assembly().engine(), LockNames.valid(name), this.options.resolve(options));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(String name, LockOptions options) {
        NamedLock lock = get(name, options);
        return acquireAsync(lock, Objects.requireNonNull(lock.options().waitTime()));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(NamedLock lock, Duration wait) {
        return ((RedisLock) lock).acquireAsync(wait);
    }

    @Override
    public CompletableFuture<Optional<Lease>> acquireOrFollowAsync(NamedLock lock, Duration wait) {
        return ((RedisLock) lock).acquireOrFollowAsync(wait);
    }

    @Override
    public void complete(Lease lease) {
        ((Hold) lease).complete();
    }

    @Override
    public void addListener(LockListener listener) {
        synchronized (firstListeners) {
            Assembly made = assembly;
            if (made != null) {
                made.engine().listeners().add(listener);
            } else {
                firstListeners.add(listener);
            }
        }
    }

    /** {@return what operators want to know of these locks, or to do to them} */
    public RedisLockInspector inspector() {
        return assembly().inspector();
    }

    /**
     * Checks whether Redis is suitable for locks: its version, its eviction policy, its clock and, by running every script once on
     * a key that is removed, what its user may do. Blocks, and connects if necessary.
     *
     * @return the problems found; empty if there are none
     */
    public List<Finding> check() {
        SelfCheck check = assembly().selfCheck();
        List<Finding> findings = check.run();
        servers = check.servers();
        return findings;
    }

    /**
     * Ends granting: who waits leaves the queue in Redis at once and gets
     * {@link io.github.lockboot.LockUnavailableException}, and so does who asks from now on. Holds stay until they are
     * released, renewed as before. Does not block.
     */
    public void stopGranting() {
        assembly().engine().stopGranting();
    }

    /**
     * As {@link #stopGranting}, and then waits for holds to be released, without blocking. A lock that is kept, by
     * {@link Lease#closeAfter}, for longer than that is left to its lease.
     *
     * @param atMost the longest wait
     * @return completes when Redis has been told of the last, or when the time has passed
     */
    public CompletableFuture<Void> drain(Duration atMost) {
        assembly().engine().stopGranting();
        return assembly().engine().drain(LockRequest.nanosOf(atMost));
    }

    /**
     * Ends granting, as {@link #stopGranting} does, and closes connections: holds are left to their leases. To have them
     * released, {@link #drain} first.
     */
    @Override
    public void close() {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        // If it takes longer, those who wait elsewhere pass over our waiters after a while.
        Futures.awaitAtMost(assembly().engine().stopGranting(), closeTimeout.toNanos());
        assembly().close();
    }

    /** What it is, on one line: the kind of Redis, its version once {@link #check} has asked for it, key prefix and defaults. */
    @Override
    public String toString() {
        LockOptions defaults = options.defaults();
        return (servers.isEmpty() ? "Redis" : LockNames.printable(servers))
                + " (" + Connections.kindOf(connectionFactory) + "): key prefix '" + LockNames.printable(keyPrefix)
                + "', ttl " + text(defaults.ttl())
                + (Boolean.TRUE.equals(defaults.renew()) ? ", renewed" : ", not renewed")
                + ", wait time " + text(defaults.waitTime());
    }

    private static String text(@Nullable Duration duration) {
        long millis = duration == null ? 0 : duration.toMillis();
        return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
    }

    /** Settings of a registry. Every setter throws {@link IllegalArgumentException} for what no registry may have. */
    public static final class Builder {

        private static final Duration LONGEST = Duration.ofDays(24);

        private final RedisConnectionFactory connectionFactory;
        private boolean asItIs;
        private String keyPrefix = "lock:";
        private LockOptions defaults = LockOptions.defaults();
        private Map<String, LockOptions> overrides = Map.of();
        private Duration retryInterval = Duration.ofSeconds(2);
        private Duration retryMinInterval = Duration.ofMillis(20);
        private Duration commandTimeout = Duration.ofSeconds(2);
        private int localHandoffLimit = 64;
        private int maxWaiters = 100;
        private boolean logKeys;
        private final List<LockListener> listeners = new ArrayList<>(0);

        private Builder(RedisConnectionFactory connectionFactory) {
            this.connectionFactory = connectionFactory;
        }

        /**
         * Has the connections of the factory itself used, instead of own ones made from its settings.
         *
         * @return this builder
         */
        public Builder sharingConnections() {
            asItIs = true;
            return this;
        }

        /**
         * What precedes a lock's name in its Redis key.
         *
         * @param keyPrefix not empty
         * @return this builder
         */
        public Builder keyPrefix(String keyPrefix) {
            this.keyPrefix = require(!keyPrefix.isEmpty(), keyPrefix, "keyPrefix must not be empty");
            return this;
        }

        /**
         * For what the options of a lock leave open; what these leave open too is 30 s ttl, 10 s wait, renewed.
         *
         * @param defaults the registry's own options
         * @return this builder
         */
        public Builder defaults(LockOptions defaults) {
            this.defaults = defaults;
            return this;
        }

        /**
         * What comes before the options of a lock, by {@link LockOptions#group()}: for whoever runs the application.
         *
         * @param byGroup options by group
         * @return this builder
         */
        public Builder overrides(Map<String, LockOptions> byGroup) {
            this.overrides = Map.copyOf(byGroup);
            return this;
        }

        /**
         * How often a waiter asks Redis, in case a pushed grant was missed.
         *
         * @param interval above zero, at most 24 days
         * @return this builder
         */
        public Builder retryInterval(Duration interval) {
            this.retryInterval = requirePositive(interval, "retryInterval");
            return this;
        }

        /**
         * How soon a waiter asks again that no push can reach; it then backs off up to the retry interval.
         *
         * @param interval above zero, at most 24 days
         * @return this builder
         */
        public Builder retryMinInterval(Duration interval) {
            this.retryMinInterval = requirePositive(interval, "retryMinInterval");
            return this;
        }

        /**
         * How long Redis may take for a command, connecting included.
         *
         * @param timeout above zero, at most 24 days
         * @return this builder
         */
        public Builder commandTimeout(Duration timeout) {
            this.commandTimeout = requirePositive(timeout, "commandTimeout");
            return this;
        }

        /**
         * How many local waiters at most are still served once other JVMs wait; 0 for strict global order.
         *
         * @param limit 0 or more
         * @return this builder
         */
        public Builder localHandoffLimit(int limit) {
            this.localHandoffLimit = require(limit >= 0, limit, "localHandoffLimit must not be negative");
            return this;
        }

        /**
         * How many JVMs may queue for one name; others poll.
         *
         * @param max 1 or more
         * @return this builder
         */
        public Builder maxWaiters(int max) {
            this.maxWaiters = require(max > 0, max, "maxWaiters must be positive");
            return this;
        }

        /**
         * Has it told what becomes of the locks, after those given before.
         *
         * @param listener told, after those that were added before
         * @return this builder
         */
        public Builder listener(LockListener listener) {
            listeners.add(listener);
            return this;
        }

        /**
         * Has names of locks written to the log themselves instead of their digests.
         *
         * @param logKeys whether names are written
         * @return this builder
         */
        public Builder logKeys(boolean logKeys) {
            this.logKeys = logKeys;
            return this;
        }

        /**
         * Makes the registry; nothing connects yet.
         *
         * @return the registry, to be closed
         * @throws IllegalStateException if the connection factory is Lettuce's and does not tell its settings
         */
        public RedisLockRegistry build() {
            if (!asItIs) {
                Connections.requireSettings(connectionFactory);
            }
            return new RedisLockRegistry(this);
        }

        /** Of what is set now, whatever becomes of this builder later. */
        private Supplier<Assembly> assembler() {
            EngineContext.Settings settings =
                    new EngineContext.Settings(retryInterval, retryMinInterval, commandTimeout, localHandoffLimit);
            boolean shared = asItIs;
            String prefix = keyPrefix;
            int most = maxWaiters;
            boolean names = logKeys;
            return () -> {
                Assembly assembly = Assembly.of(connectionFactory, shared, prefix, settings, most);
                if (names) {
                    assembly.engine().context().log().writeNames();
                }
                return assembly;
            };
        }

        private static Duration requirePositive(Duration duration, String what) {
            require(!duration.isNegative() && !duration.isZero(), duration, what + " must be positive");
            return require(duration.compareTo(LONGEST) <= 0, duration, what + " must be at most " + LONGEST);
        }

        private static <T> T require(boolean condition, T value, String message) {
            if (!condition) {
                throw new IllegalArgumentException(message + ", but is " + value);
            }
            return value;
        }
    }
}
