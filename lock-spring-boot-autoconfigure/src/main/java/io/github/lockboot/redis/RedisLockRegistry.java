package io.github.lockboot.redis;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockOptions;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.connection.Connections;
import io.github.lockboot.redis.connection.PubSubGrantChannel;
import io.github.lockboot.redis.engine.EngineContext;
import io.github.lockboot.redis.engine.EngineRegistry;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.engine.LockRequest;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Locks on one Redis: standalone, Sentinel or Cluster.
 *
 * <p>From a Lettuce connection factory it takes the settings and makes two connections of its own: one for commands, at the
 * first lock, and one for the channel on which Redis pushes grants, when somebody first waits. Another client's factory is used
 * as it is.
 */
public final class RedisLockRegistry extends EngineRegistry implements AutoCloseable {

    /** How often at most a lock may pass between threads of one JVM under one grant of Redis. */
    public static final int MAX_LOCAL_HANDOFFS = (int) LockStore.TOKENS_PER_GRANT - 1;

    private final RedisConnectionFactory connectionFactory;
    private final boolean sharing;
    private final String keyPrefix;
    private final EngineContext.Settings settings;
    private final int maxWaiters;
    private final boolean logKeys;
    private final @Nullable Function<String, ThreadFactory> threads;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile @Nullable Parts parts;
    private volatile String servers = "";

    private RedisLockRegistry(Builder builder) {
        super(builder.defaults, builder.overrides);
        this.connectionFactory = builder.connectionFactory;
        this.sharing = builder.sharing;
        this.keyPrefix = builder.keyPrefix;
        this.settings = new EngineContext.Settings(
                builder.retryInterval, builder.retryMinInterval, builder.commandTimeout, builder.localHandoffLimit);
        this.maxWaiters = builder.maxWaiters;
        this.logKeys = builder.logKeys;
        this.threads = builder.threads;
        for (LockListener listener : builder.listeners) {
            addListener(listener);
        }
    }

    /**
     * Creates a builder.
     *
     * @param connectionFactory where Redis is; it must be initialized, and stays the caller's
     * @return settings to be changed
     */
    public static Builder builder(RedisConnectionFactory connectionFactory) {
        return new Builder(connectionFactory);
    }

    @Override
    protected LockEngine makeEngine() {
        Parts made = new Parts(this);
        parts = made;
        return made.engine;
    }

    private Parts parts() {
        engine();
        return Objects.requireNonNull(parts);
    }

    /** {@return what operators want to know of these locks, or to do to them} */
    public RedisLockInspector inspector() {
        Parts with = parts();
        return new RedisLockInspector(with.connections.factory(), with.store, engine());
    }

    /**
     * Checks whether Redis is suitable for locks: its version, its eviction policy, its clock and, by running every script once on
     * a key that is removed, what its user may do. Blocks, and connects if necessary.
     *
     * @return the problems found; empty if there are none
     */
    public List<Finding> check() {
        Parts with = parts();
        SelfCheck check = new SelfCheck(with.connections.factory(), with.store, InstantSource.system());
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
        engine().stopGranting();
    }

    /**
     * As {@link #stopGranting}, and then waits for holds to be released, without blocking. A lock that is kept, by
     * {@link Lease#closeAfter}, for longer than that is left to its lease.
     *
     * @param atMost the longest wait
     * @return completes when Redis has been told of the last, or when the time has passed
     */
    public CompletableFuture<Void> drain(Duration atMost) {
        engine().stopGranting();
        return engine().drain(LockRequest.nanosOf(atMost));
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
        engine().context().awaitAnswer(engine().stopGranting());
        engine().close();
        parts().connections.close();
        parts().connectors.shutdown();
    }

    /** What it is, on one line: the kind of Redis, its version once {@link #check} has asked for it, key prefix and defaults. */
    @Override
    public String toString() {
        LockOptions options = defaults();
        return (servers.isEmpty() ? "Redis" : LockNames.printable(servers)) + " ("
                + Connections.kindOf(connectionFactory) + "): key prefix '" + LockNames.printable(keyPrefix) + "', ttl "
                + text(options.ttl()) + (Boolean.TRUE.equals(options.renew()) ? ", renewed" : ", not renewed")
                + ", wait time " + text(options.waitTime());
    }

    private static String text(@Nullable Duration duration) {
        return duration == null
                ? "-"
                : duration.toMillis() % 1000 == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }

    /** What is put together at the first use. A type of its own, because the start of an application looks at the registry's methods. */
    private static final class Parts {

        final ScriptStore store;
        final Connections connections;
        final ExecutorService connectors;
        final LockEngine engine;

        Parts(RedisLockRegistry registry) {
            Function<String, ThreadFactory> threads = registry.threads != null ? registry.threads : Threads::daemons;
            EngineContext.Settings settings = registry.settings;
            Duration timeout = settings.commandTimeout();
            Supplier<String> session = SingletonSupplier.of(EngineContext::randomSession);
            Timer timer = Timer.system(threads.apply("lock-timer"));
            ExecutorService workers = Threads.workers(threads.apply("lock-worker"), timer);
            // What asks Redis must not wait for a thread on which a callback waits for Redis.
            connectors = Threads.workers(threads.apply("lock-connector"), timer);
            connections = Connections.to(registry.connectionFactory, registry.sharing, timeout, timer, connectors);
            store = new ScriptStore(
                    connections.runner(),
                    registry.keyPrefix,
                    settings.poll(),
                    settings.patience(),
                    registry.maxWaiters);
            EngineContext context = new EngineContext(
                    settings, timer, workers, () -> ThreadLocalRandom.current().nextDouble());
            if (registry.logKeys) {
                context.log().writeNames();
            }
            engine = new LockEngine(
                    context,
                    session,
                    EngineContext::randomNonce,
                    store,
                    subscriber -> new PubSubGrantChannel(
                            connections::watchedBy, store, session, timeout, subscriber, timer, connectors));
        }
    }

    /** Settings of a registry. Every setter throws {@link IllegalArgumentException} for what no registry may have. */
    public static final class Builder {

        private static final Duration LONGEST = Duration.ofDays(24);

        private final RedisConnectionFactory connectionFactory;
        private boolean sharing;
        private String keyPrefix = "lock:";
        private LockOptions defaults = LockOptions.defaults();
        private Map<String, LockOptions> overrides = Map.of();
        private Duration retryInterval = Duration.ofSeconds(2);
        private Duration retryMinInterval = Duration.ofMillis(20);
        private Duration commandTimeout = Duration.ofSeconds(2);
        private int localHandoffLimit = 64;
        private int maxWaiters = 100;
        private boolean logKeys;
        private @Nullable Function<String, ThreadFactory> threads;
        private final List<LockListener> listeners = new ArrayList<>(0);

        private Builder(RedisConnectionFactory connectionFactory) {
            this.connectionFactory = connectionFactory;
        }

        /**
         * Uses the connections of the factory itself, instead of own ones made from its settings.
         *
         * @return this builder
         */
        public Builder sharingConnections() {
            sharing = true;
            return this;
        }

        /**
         * Sets what precedes a lock's name in its Redis key.
         *
         * @param keyPrefix not empty
         * @return this builder
         */
        public Builder keyPrefix(String keyPrefix) {
            this.keyPrefix = require(!keyPrefix.isEmpty(), keyPrefix, "keyPrefix must not be empty");
            return this;
        }

        /**
         * Sets what the options of a lock leave open; what these leave open too is 30 s ttl, 10 s wait, renewed.
         *
         * @param defaults the registry's own options
         * @return this builder
         */
        public Builder defaults(LockOptions defaults) {
            this.defaults = defaults;
            return this;
        }

        /**
         * Sets what takes precedence over the options of a lock: for whoever runs the application.
         *
         * @param byGroup options by {@link LockOptions#group()}
         * @return this builder
         */
        public Builder overrides(Map<String, LockOptions> byGroup) {
            this.overrides = Map.copyOf(byGroup);
            return this;
        }

        /**
         * Sets how often a waiter asks Redis, in case a pushed grant was missed.
         *
         * @param interval above zero, at most 24 days
         * @return this builder
         */
        public Builder retryInterval(Duration interval) {
            this.retryInterval = requirePositive(interval, "retryInterval");
            return this;
        }

        /**
         * Sets how soon a waiter asks again that no push can reach; it then backs off up to the retry interval.
         *
         * @param interval above zero, at most 24 days
         * @return this builder
         */
        public Builder retryMinInterval(Duration interval) {
            this.retryMinInterval = requirePositive(interval, "retryMinInterval");
            return this;
        }

        /**
         * Sets how long Redis may take for a command, connecting included.
         *
         * @param timeout above zero, at most 24 days
         * @return this builder
         */
        public Builder commandTimeout(Duration timeout) {
            this.commandTimeout = requirePositive(timeout, "commandTimeout");
            return this;
        }

        /**
         * Sets how many local waiters at most are still served once other JVMs wait.
         *
         * @param limit 0 for strict global order
         * @return this builder
         */
        public Builder localHandoffLimit(int limit) {
            this.localHandoffLimit = require(limit >= 0, limit, "localHandoffLimit must not be negative");
            return this;
        }

        /**
         * Sets how many JVMs may queue for one name; others poll.
         *
         * @param max 1 or more
         * @return this builder
         */
        public Builder maxWaiters(int max) {
            this.maxWaiters = require(max > 0, max, "maxWaiters must be positive");
            return this;
        }

        /**
         * Adds a listener.
         *
         * @param listener called after those that were added before
         * @return this builder
         */
        public Builder listener(LockListener listener) {
            listeners.add(listener);
            return this;
        }

        /**
         * Sets whether the log shows names of locks or their digests.
         *
         * @param logKeys whether names are shown
         * @return this builder
         */
        public Builder logKeys(boolean logKeys) {
            this.logKeys = logKeys;
            return this;
        }

        /** For tests: makes the factory of the threads with a name. */
        Builder threads(Function<String, ThreadFactory> threads) {
            this.threads = threads;
            return this;
        }

        /**
         * Makes the registry; nothing connects yet.
         *
         * @return the registry, to be closed
         * @throws IllegalStateException if the connection factory is Lettuce's and does not tell its settings
         */
        public RedisLockRegistry build() {
            if (!sharing) {
                Connections.requireSettings(connectionFactory);
            }
            return new RedisLockRegistry(this);
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
