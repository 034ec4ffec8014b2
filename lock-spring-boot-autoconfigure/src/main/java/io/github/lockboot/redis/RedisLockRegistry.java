package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.EngineContext;
import io.github.lockboot.engine.EngineRegistry;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.LockRequest;
import io.github.lockboot.engine.LockStore;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.connection.Connections;
import io.github.lockboot.redis.connection.Connections.AcknowledgedBy;
import io.github.lockboot.redis.connection.PubSubGrantChannel;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Locks on one Redis: standalone, Sentinel or Cluster.
 *
 * <p>With a Lettuce connection factory, the registry takes its settings and makes two connections of its own: one for
 * commands, at the first lock, and one for the channel on which Redis pushes grants, at the first wait, or both before
 * that with {@link #connect}. With another client, the registry uses the connections of the factory.
 */
public final class RedisLockRegistry extends EngineRegistry implements AutoCloseable {

    /** The maximum number of times that threads of one JVM pass a lock on under one grant of Redis. */
    public static final int MAX_LOCAL_HANDOFFS = (int) LockStore.TOKENS_PER_GRANT - 1;

    /**
     * The shortest polling interval and command timeout accepted: with less, waiters load Redis, or no answer comes in
     * time.
     */
    public static final Duration MIN_INTERVAL = Duration.ofMillis(10);

    /** The longest polling interval and command timeout accepted. */
    public static final Duration MAX_INTERVAL = Duration.ofDays(24);

    private static final int CHECKS_OF_SLOW_REDIS = 3;
    private static final String OF_APPLICATION = "spring.data.redis";

    /** What must acknowledge a grant, and a renewal, before it counts. */
    public enum Acknowledge {
        /** Nothing but the master. */
        NONE(AcknowledgedBy.NOTHING),
        /** One replica. */
        ONE(AcknowledgedBy.ONE_REPLICA),
        /** All replicas that are connected to the master at the time, but at least one. */
        ALL(AcknowledgedBy.ALL_REPLICAS),
        /** The append-only file of the master, as far as it is on disk. */
        AOF(AcknowledgedBy.APPEND_ONLY_FILE);

        private final AcknowledgedBy by;

        Acknowledge(AcknowledgedBy by) {
            this.by = by;
        }
    }

    private final RedisConnectionFactory connectionFactory;
    private final String configuredBy;
    private final boolean sharing;
    private final Acknowledge acknowledge;
    private final String keyPrefix;
    private final EngineContext.Settings settings;
    private final int maxWaiters;
    private final boolean logKeys;
    private final Function<String, ThreadFactory> threads;
    private volatile @Nullable Parts parts;
    private volatile String servers = "";
    private volatile boolean announcesChanges = true;

    private RedisLockRegistry(Builder builder) {
        super(builder.defaults, builder.overrides, builder.maxHolders);
        this.connectionFactory = builder.connectionFactory;
        this.configuredBy = builder.configuredBy;
        this.sharing = builder.sharing;
        this.acknowledge = builder.acknowledge;
        this.keyPrefix = builder.keyPrefix;
        this.settings = new EngineContext.Settings(
                builder.retryInterval, builder.retryMinInterval, builder.commandTimeout, builder.localHandoffLimit);
        this.maxWaiters = builder.maxWaiters;
        this.logKeys = builder.logKeys;
        ClassLoader classes =
                Thread.currentThread().getContextClassLoader(); // of the application, unlike that of some callers
        this.threads = builder.threads != null ? builder.threads : name -> Threads.daemons(name, classes);
        for (LockListener listener : builder.listeners) {
            addListener(listener);
        }
    }

    /**
     * Creates a builder.
     *
     * @param connectionFactory the factory of connections to Redis; it must be initialized, and the registry does not
     *     close it
     * @return the builder
     */
    public static Builder builder(RedisConnectionFactory connectionFactory) {
        return new Builder(connectionFactory);
    }

    /**
     * Creates a builder.
     *
     * @param template the template whose connection factory is used, as by {@link #builder(RedisConnectionFactory)};
     *     its serializers are not used
     * @return the builder
     */
    public static Builder builder(StringRedisTemplate template) {
        return builder(template.getRequiredConnectionFactory());
    }

    /** As {@link #get(String, LockOptions)}, with the options of this registry. */
    @Override
    public RedisLock get(String name) {
        return (RedisLock) super.get(name);
    }

    /**
     * Returns the lock of a name. Sends no command. Two locks that this registry returns for one name, mode and number
     * of permits are equal.
     *
     * @param name the name, which follows the key prefix in the key
     * @param options what is not set is as configured for this registry
     * @return the lock
     * @throws IllegalArgumentException if the name is empty, too long or not well-formed Unicode, or the options are
     *     not valid
     */
    @Override
    public RedisLock get(String name, LockOptions options) {
        return (RedisLock) super.get(name, options);
    }

    @Override
    protected Function<String, NamedLock> handles(LockEngine engine, LockOptions options, LockRequest unnamed) {
        return RedisLock.of(this, engine, options, unnamed);
    }

    String keyOf(String name) {
        return keyPrefix + name;
    }

    @Override
    public void announce(String name) {
        parts().channel.announce(name);
    }

    @Override
    public Runnable onAnnounced(String name, Runnable listener) {
        return parts().channel.onAnnounced(name, listener);
    }

    @Override
    protected LockEngine makeEngine() {
        Parts made = new Parts(this);
        parts = made;
        return made.engine;
    }

    private Parts parts() {
        engine(); // sets them
        return Objects.requireNonNull(parts);
    }

    /** {@return the inspector, which shows the state of these locks and releases them by force} */
    public RedisLockInspector inspector() {
        return new RedisLockInspector(
                () -> parts().store,
                this::engine,
                this::inUse,
                () -> parts().session.get());
    }

    private int inUse() {
        LockEngine used = engineIfMade();
        return used == null ? 0 : used.inUse();
    }

    /**
     * Connects ahead of the first lock. Acquires, renews and releases a lock with a random name, so that the scripts
     * are loaded, and subscribes to the channel on which Redis pushes grants. Does not block. Connecting may take
     * longer than a command: it succeeds or fails by the timeouts of the client, and the future waits for it up to a
     * minute. If it fails, the first lock connects.
     *
     * @return a future that completes once the lock is released and the channel subscribed to, or after a second
     *     without the channel; exceptionally if the lock could not be acquired, renewed or released
     */
    public CompletableFuture<Void> connect() {
        return parts().engine.connect("startup:" + EngineContext.randomSession());
    }

    /**
     * Connects, as {@link #connect} does, and checks whether Redis is suitable for locks. It reports what connecting
     * ran into, such as a missing right or a channel that is refused, and reads the version and the eviction policy of
     * Redis. If Redis could not be checked, it checks once more as soon as messages of Redis arrive, and logs the
     * problems found then. Does not block.
     *
     * @return a future that completes with the problems found; empty if there are none
     */
    public CompletableFuture<List<Finding>> check() {
        return check(CHECKS_OF_SLOW_REDIS).thenApply(check -> {
            if (check.couldNotAsk()) {
                parts().engine.whenSubscribed(() -> check(1).thenAccept(SelfCheck::log));
            }
            return check.findings();
        });
    }

    /** @param atMost how often to check, if the lock is not answered in time but Redis is there */
    private CompletableFuture<SelfCheck> check(int atMost) {
        Parts with = parts();
        SelfCheck check = new SelfCheck(with.connections.template(), with.store, configuredBy);
        return connect()
                .handleAsync(
                        (none, failure) -> {
                            check.run(with.engine.channel(), failure == null ? null : Futures.unwrap(failure));
                            servers = check.servers();
                            announcesChanges = with.store.client().announcesChanges(); // known since the renewal
                            return check.couldNotAsk() && !servers.isEmpty() && atMost > 1;
                        },
                        with.connectors)
                .thenCompose(again -> again ? check(atMost - 1) : CompletableFuture.completedFuture(check));
    }

    /**
     * Stops granting locks. Waiters leave the queue in Redis at once and get
     * {@link io.github.lockboot.LockUnavailableException}, as do all later callers. Holds stay, and are renewed, until
     * they are released. Does not block.
     */
    public void stopGranting() {
        stop();
    }

    /**
     * Stops granting locks, as {@link #stopGranting} does, and then waits for all holds to be released. Does not block.
     *
     * @param atMost the maximum time to wait
     * @return a future that completes when Redis has answered the last release, or when the time has passed
     */
    public CompletableFuture<Void> drain(Duration atMost) {
        LockEngine used = stop();
        return used == null ? CompletableFuture.completedFuture(null) : used.drain(LockRequest.nanosOf(atMost));
    }

    /**
     * Stops granting locks, as {@link #stopGranting} does, and closes the connections. Holds are left to their leases;
     * to wait for their release, call {@link #drain} first.
     */
    @Override
    public void close() {
        closeOnce();
    }

    @Override
    protected void close(LockEngine made) {
        Parts with = Objects.requireNonNull(parts);
        // After that time, the scripts drop waiters that no longer poll.
        made.context().awaitAnswer(made.stopGranting());
        made.close();
        with.store.close();
        with.connectors.shutdown();
    }

    /**
     * Describes this registry for a log. Sends no command.
     *
     * @return one line with the kind of Redis, what it is configured by if not by {@code spring.data.redis.*}, the key
     *     prefix and the defaults; after the first use also with the first characters of the session, see
     *     {@link RedisLockInspector#session}; after a {@link #check} also with the version of Redis, and whether a loss
     *     is known only at the next renewal, because Redis does not announce changes of locks to this client
     */
    public String describe() {
        LockOptions options = defaults();
        Parts used = parts;
        return (servers.isEmpty() ? "Redis" : LockNames.printable(servers)) + " ("
                + Connections.topologyOf(connectionFactory)
                + (configuredBy.equals(OF_APPLICATION) ? "" : ", by " + configuredBy + ".*") + "): key prefix '"
                + LockNames.printable(keyPrefix)
                + "', ttl "
                + text(options.ttl()) + (Boolean.TRUE.equals(options.renew()) ? ", renewed" : ", not renewed")
                + ", wait time " + text(options.waitTime())
                + (used == null ? "" : ", session " + Connections.shown(used.session.get()))
                + (announcesChanges ? "" : ", a loss is known at the next renewal");
    }

    private static String text(@Nullable Duration duration) {
        return DurationFormatterUtils.print(Objects.requireNonNull(duration), DurationFormat.Style.COMPOSITE);
    }

    /**
     * The parts made at the first use. In a type of its own, because Spring inspects the methods of a bean's class at
     * the start.
     */
    private static final class Parts {

        final Supplier<String> session = SingletonSupplier.of(EngineContext::randomSession);
        final ScriptStore store;
        final PubSubGrantChannel channel;
        final Connections connections;
        final ExecutorService connectors;
        final LockEngine engine;

        Parts(RedisLockRegistry registry) {
            Function<String, ThreadFactory> threads = registry.threads;
            EngineContext.Settings settings = registry.settings;
            Duration timeout = settings.commandTimeout();
            Timer timer = Timer.system(threads.apply("lock-timer"));
            ExecutorService workers = Threads.workers(threads.apply("lock-worker"));
            // Commands must not wait for a worker, on which a callback may wait for Redis.
            connectors = Threads.workers(threads.apply("lock-connector"));
            connections = Connections.to(
                    registry.connectionFactory,
                    registry.sharing,
                    registry.acknowledge.by,
                    timeout,
                    session,
                    timer,
                    connectors);
            store = new ScriptStore(
                    connections.runner(),
                    registry.keyPrefix,
                    settings.poll(),
                    settings.patience(),
                    registry.maxWaiters,
                    registry.maxHolders(),
                    timer,
                    timeout);
            EngineContext context = new EngineContext(
                    settings, timer, workers, () -> ThreadLocalRandom.current().nextDouble());
            if (registry.logKeys) {
                context.log().writeNames();
            }
            String announcements = store.announcements(Connections.databaseOf(registry.connectionFactory));
            engine = new LockEngine(
                    context,
                    session,
                    EngineContext::randomNonce,
                    store,
                    subscriber -> new PubSubGrantChannel(
                            connections, store, session, announcements, timeout, subscriber, timer, connectors));
            channel = (PubSubGrantChannel) engine.channel();
            connections.runner().onChange(engine::onChanged);
        }
    }

    /** Settings of a registry. Every method throws {@link IllegalArgumentException} if the value is not valid. */
    public static final class Builder {

        private final RedisConnectionFactory connectionFactory;
        private String configuredBy = OF_APPLICATION;
        private boolean sharing;
        private Acknowledge acknowledge = Acknowledge.NONE;
        private String keyPrefix = "lock:";
        private LockOptions defaults = LockOptions.defaults();
        private Map<String, LockOptions> overrides = Map.of();
        private Duration retryInterval = Duration.ofSeconds(2);
        private Duration retryMinInterval = Duration.ofMillis(20);
        private Duration commandTimeout = Duration.ofSeconds(2);
        private int localHandoffLimit = 64;
        private int maxWaiters = 100;
        private int maxHolders = MAX_HOLDERS;
        private boolean logKeys;
        private @Nullable Function<String, ThreadFactory> threads;
        private final List<LockListener> listeners = new ArrayList<>(0);

        private Builder(RedisConnectionFactory connectionFactory) {
            this.connectionFactory = connectionFactory;
        }

        /**
         * Uses the connections of the factory instead of new ones with the same settings, unless grants have to be
         * acknowledged, or the factory has {@code shareNativeConnection=false}.
         *
         * @return this builder
         */
        public Builder sharingConnections() {
            sharing = true;
            return this;
        }

        /**
         * Sets the prefix of the properties that configure the factory. Messages name it. The default is
         * {@code spring.data.redis}.
         *
         * @param prefix the prefix, without a dot at its end
         * @return this builder
         */
        public Builder configuredBy(String prefix) {
            this.configuredBy = prefix;
            return this;
        }

        /**
         * Sets what must acknowledge a grant before it counts. {@link Acknowledge#NONE} by default.
         *
         * @param acknowledge what must acknowledge it
         * @return this builder
         */
        public Builder acknowledge(Acknowledge acknowledge) {
            this.acknowledge = acknowledge;
            return this;
        }

        /**
         * Sets the prefix of Redis keys. The name of the lock follows. The default is {@code lock:}.
         *
         * @param keyPrefix the prefix, not empty
         * @return this builder
         */
        public Builder keyPrefix(String keyPrefix) {
            this.keyPrefix = require(!keyPrefix.isEmpty(), keyPrefix, "keyPrefix must not be empty");
            return this;
        }

        /**
         * Sets the options that apply where the options of a lock are not set. The built-in defaults are a lease of 30
         * s, renewed, and a wait time of 10 s.
         *
         * @param defaults the options
         * @return this builder
         */
        public Builder defaults(LockOptions defaults) {
            this.defaults = defaults;
            return this;
        }

        /**
         * Sets options that take precedence over the options of a lock. None by default.
         *
         * @param byGroup the options by {@link LockOptions#group()}
         * @return this builder
         */
        public Builder overrides(Map<String, LockOptions> byGroup) {
            this.overrides = byGroup;
            return this;
        }

        /**
         * Sets the polling interval of a waiter in the queue, in case a push is lost. 2 s by default.
         *
         * @param interval the interval, from {@link #MIN_INTERVAL} to {@link #MAX_INTERVAL}
         * @return this builder
         */
        public Builder retryInterval(Duration interval) {
            this.retryInterval = requireInRange(interval, "retryInterval");
            return this;
        }

        /**
         * Sets the first polling delay of a waiter that no push can reach. The delay then grows up to the retry
         * interval. 20 ms by default.
         *
         * @param interval the delay, from {@link #MIN_INTERVAL} to {@link #MAX_INTERVAL}
         * @return this builder
         */
        public Builder retryMinInterval(Duration interval) {
            this.retryMinInterval = requireInRange(interval, "retryMinInterval");
            return this;
        }

        /**
         * Sets the timeout of a command. 2 s by default. Connecting has at least 10 s, because a slow process needs
         * them.
         *
         * @param timeout the timeout, from {@link #MIN_INTERVAL} to {@link #MAX_INTERVAL}
         * @return this builder
         */
        public Builder commandTimeout(Duration timeout) {
            this.commandTimeout = requireInRange(timeout, "commandTimeout");
            return this;
        }

        /**
         * Sets how often in a row a lock may pass between threads of one JVM while other JVMs wait. 64 by default.
         *
         * @param limit the limit, at most {@link #MAX_LOCAL_HANDOFFS}; 0 serves all JVMs in strict order
         * @return this builder
         */
        public Builder localHandoffLimit(int limit) {
            this.localHandoffLimit = require(
                    limit >= 0 && limit <= MAX_LOCAL_HANDOFFS,
                    limit,
                    "localHandoffLimit must be from 0 to " + MAX_LOCAL_HANDOFFS);
            return this;
        }

        /**
         * Sets the maximum number of JVMs in the queue of one lock. Others poll. 100 by default.
         *
         * @param max the number, at least 1
         * @return this builder
         */
        public Builder maxWaiters(int max) {
            this.maxWaiters = require(max > 0, max, "maxWaiters must be positive");
            return this;
        }

        /**
         * Sets the maximum number of holders of one lock at a time: permits, or JVMs that read. A request for more
         * permits is refused; further JVMs that read wait. 200 by default. Each command on such a lock costs Redis time
         * in proportion to the holders.
         *
         * @param max the number, at least 1, and the same in all instances
         * @return this builder
         */
        public Builder maxHolders(int max) {
            this.maxHolders = require(max > 0, max, "maxHolders must be positive");
            return this;
        }

        /**
         * Adds a listener.
         *
         * @param listener the listener, called after those added before
         * @return this builder
         */
        public Builder listener(LockListener listener) {
            listeners.add(listener);
            return this;
        }

        /**
         * Sets whether logs show the names of locks. By default they show digests.
         *
         * @param logKeys whether to show names
         * @return this builder
         */
        public Builder logKeys(boolean logKeys) {
            this.logKeys = logKeys;
            return this;
        }

        /** For tests: returns the factory of threads with a name. */
        Builder threads(Function<String, ThreadFactory> threads) {
            this.threads = threads;
            return this;
        }

        /**
         * Creates the registry. It does not connect yet.
         *
         * @return the registry, which the caller closes
         * @throws IllegalStateException if the settings of a Lettuce connection factory cannot be read, or grants are
         *     to be acknowledged and the factory is not of Lettuce, or has a fixed list of master and replicas
         */
        public RedisLockRegistry build() {
            Connections.requireSettings(connectionFactory, sharing, acknowledge.by);
            return new RedisLockRegistry(this);
        }

        private static Duration requireInRange(Duration duration, String what) {
            return require(
                    duration.compareTo(MIN_INTERVAL) >= 0 && duration.compareTo(MAX_INTERVAL) <= 0,
                    duration,
                    what + " must be from " + MIN_INTERVAL.toMillis() + " ms to " + MAX_INTERVAL.toDays() + " days");
        }

        private static <T> T require(boolean condition, T value, String message) {
            if (!condition) {
                throw new IllegalArgumentException(message + ", but is " + value);
            }
            return value;
        }
    }
}
