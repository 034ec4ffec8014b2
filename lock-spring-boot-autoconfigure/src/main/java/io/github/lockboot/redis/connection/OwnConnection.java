package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.LongStream;

import io.github.lockboot.internal.Timer;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static io.lettuce.core.resource.DefaultClientResources.DEFAULT_NETTY_CUSTOMIZER;

/**
 * The registry's own connections, with the application's settings. The application's shared connection may be in a
 * transaction, a pipeline or a large reply, and has another timeout. The factory is made at the first use, so an
 * application that takes no locks does not pay for it.
 *
 * <p>It is made anew when the application has another client, so that locks stay on the application's server: after a
 * refresh of a scope, or when the application has stopped its factory, changed the settings and started it.
 */
final class OwnConnection {

    /** The time grows to a second. A random half of it keeps many instances apart that have lost Redis together. */
    private static final Delay BETWEEN_ATTEMPTS =
            Delay.fullJitter(Duration.ofMillis(1), Duration.ofSeconds(1), 1, TimeUnit.MILLISECONDS);

    /**
     * Several round trips and, on a cold or starved JVM, much of its time: TLS, HELLO and the lookup of the address. A
     * call that expires meanwhile closes a socket on which the server owes an answer, so a server that hangs is not
     * waited for.
     */
    private static final Duration SHORTEST_HANDSHAKE = Duration.ofSeconds(10);

    private static final Duration LONGEST_BETWEEN_TOPOLOGIES = Duration.ofSeconds(5);

    /** @param application the client that the application had before its settings were read; null if it had none */
    private record Made(
            LettuceConnectionFactory factory,
            StringRedisTemplate template,
            SocketWatchdog watchdog,
            @Nullable AbstractRedisClient application) {

        /** There is no client while the factory of the application is stopped. */
        boolean isForAnotherThan(@Nullable AbstractRedisClient client) {
            return client != null && client != application;
        }
    }

    private final LettuceConnectionFactory application;
    private final Duration commandTimeout;
    private final Supplier<String> session;
    private final Timer timer;
    private final Executor executor;
    private final AtomicLong nextRenewal;
    private volatile @Nullable Made made;
    private boolean closed;

    /** @param executor for blocking tasks */
    OwnConnection(
            LettuceConnectionFactory application,
            Duration commandTimeout,
            Supplier<String> session,
            Timer timer,
            Executor executor) {
        this.application = application;
        this.commandTimeout = commandTimeout;
        this.session = session;
        this.timer = timer;
        this.executor = executor;
        this.nextRenewal = new AtomicLong(timer.nanoTime());
    }

    /**
     * Returns the template over the registry's own factory; another one if the application has another client. May
     * block.
     *
     * @throws IllegalStateException if closed, or the settings cannot be read
     */
    synchronized StringRedisTemplate template() {
        if (closed) {
            throw new IllegalStateException("the lock registry is closed");
        }
        LettuceConnectionFactory target = ApplicationFactory.targetOf(application);
        Made current = made;
        if (current == null || current.isForAnotherThan(ApplicationFactory.clientOf(target))) {
            end();
            current = make(target);
            made = current;
        }
        return current.template;
    }

    private Made make(LettuceConnectionFactory target) {
        SocketWatchdog sockets = new SocketWatchdog(timer, commandTimeout, executor);
        AbstractRedisClient client =
                ApplicationFactory.clientOf(target); // before the settings, which may change meanwhile
        LettuceConnectionFactory own = new LettuceConnectionFactory(
                redirecting(ApplicationFactory.settingsOf(target)), clientOf(target, sockets));
        own.afterPropertiesSet();
        own.start();
        return new Made(own, new StringRedisTemplate(own), sockets, client);
    }

    /** {@return whether {@link #template} may return another than before} Does not block. */
    boolean mayHaveMoved() {
        Made current = made;
        return current == null
                || ApplicationFactory.isProxy(application)
                || current.isForAnotherThan(ApplicationFactory.clientOf(application));
    }

    /** Called when a server answers that it is a replica, or no master is known. */
    void onReplica(AbstractRedisClient client) {
        Made current = made;
        if (current != null && !renews(current, client)) {
            current.watchdog.onReplica();
        }
    }

    /** See {@link SocketWatchdog#onSilence}. */
    void onSilence(@Nullable AbstractRedisClient client) {
        Made current = made;
        if (current != null && (client == null || !renews(current, client))) {
            current.watchdog.onSilence(client);
        }
    }

    /** See {@link SocketWatchdog#whyNotConnected}. */
    @Nullable
    Throwable whyNotConnected(@Nullable RedisURI server) {
        Made current = made;
        return current == null ? null : current.watchdog.whyNotConnected(server);
    }

    /** Lettuce asks the servers of a fixed list for their roles only when it connects. */
    private boolean renews(Made current, AbstractRedisClient client) {
        if (!ApplicationFactory.isFixedList(current.factory)) {
            return false;
        }
        if (ApplicationFactory.clientOf(current.factory) == client && current.watchdog.isDue(nextRenewal)) {
            executor.execute(() -> end(current));
        }
        return true;
    }

    private synchronized void end(Made former) {
        if (former.equals(made)) {
            end();
        }
    }

    synchronized void close() {
        closed = true;
        end();
    }

    private void end() {
        Made last = made;
        made = null;
        if (last != null) {
            last.watchdog.close(() -> {
                last.factory.destroy();
                last.factory.getClientConfiguration().getClientResources().ifPresent(ClientResources::shutdown);
            });
        }
    }

    /** Of a Cluster, Spring Data Redis takes the number of redirections from here, and not from the options. */
    private static RedisConfiguration redirecting(RedisConfiguration redis) {
        if (!(redis instanceof RedisConfiguration.ClusterConfiguration cluster)
                || cluster.getMaxRedirects() == null
                || cluster.getMaxRedirects() >= ClusterClientOptions.DEFAULT_MAX_REDIRECTS) {
            return redis;
        }
        RedisClusterConfiguration more = new RedisClusterConfiguration();
        more.setClusterNodes(cluster.getClusterNodes());
        more.setMaxRedirects(ClusterClientOptions.DEFAULT_MAX_REDIRECTS);
        more.setUsername(cluster.getUsername());
        more.setPassword(cluster.getPassword());
        return more;
    }

    private LettuceClientConfiguration clientOf(LettuceConnectionFactory target, SocketWatchdog sockets) {
        LettuceClientConfiguration client = target.getClientConfiguration();
        ClientOptions given = client.getClientOptions().orElseGet(ClientOptions::create);
        ClientOptions options = optionsOf(given);
        LettuceClientConfigurationBuilder own = LettuceClientConfiguration.builder()
                .commandTimeout(handshakeTimeout(given.getSocketOptions().getConnectTimeout()))
                .shutdownTimeout(Duration.ZERO)
                .clientOptions(target.isClusterAware() ? adaptive(options) : options)
                .clientResources(resourcesOf(client, sockets))
                .clientName(nameOf(client));
        client.getRedisCredentialsProviderFactory().ifPresent(own::redisCredentialsProviderFactory);
        if (client.isUseSsl()) {
            var ssl = own.useSsl().verifyPeer(client.getVerifyMode());
            return (client.isStartTls() ? ssl.startTls() : ssl).build();
        }
        return own.build();
    }

    /**
     * What Lettuce calls a command timeout ends its handshake, and commands of the library that block. Scripts have
     * their own.
     */
    private Duration handshakeTimeout(Duration ofApplication) {
        return Collections.max(List.of(SHORTEST_HANDSHAKE, commandTimeout, ofApplication));
    }

    /** By it CLIENT LIST shows which process holds a lock. Lettuce connects also if Redis refuses the name. */
    private String nameOf(LettuceClientConfiguration client) {
        String given = client.getClientName().orElse("");
        return (given.isEmpty() ? "" : given + "-") + "lock-" + Connections.shown(session.get());
    }

    /** Overrides options that refuse or drop commands or end reconnecting: they would make locks unavailable. */
    private ClientOptions optionsOf(ClientOptions given) {
        return given.mutate()
                .autoReconnect(true)
                .suspendReconnectOnProtocolFailure(false)
                .requestQueueSize(ClientOptions.DEFAULT_REQUEST_QUEUE_SIZE)
                .disconnectedBehavior(ClientOptions.DEFAULT_DISCONNECTED_BEHAVIOR)
                .replayFilter(ClientOptions.DEFAULT_REPLAY_FILTER)
                .socketOptions(keptAlive(given.getSocketOptions())
                        .connectTimeout(commandTimeout) // of TCP, which the kernels do
                        .build())
                .timeoutOptions(TimeoutOptions.create()) // ScriptStore has timeouts
                .build();
    }

    /** A firewall may drop an idle connection without notice. */
    private static SocketOptions.Builder keptAlive(SocketOptions given) {
        KeepAliveOptions own = KeepAliveOptions.builder()
                .enable()
                .idle(Duration.ofSeconds(30))
                .interval(Duration.ofSeconds(10))
                .count(3)
                .build();
        return given.isKeepAlive() ? given.mutate() : given.mutate().keepAlive(own);
    }

    /** By default, Lettuce before 7 never notices a failover in a Cluster; later versions check only twice a minute. */
    private static ClientOptions adaptive(ClientOptions options) {
        ClusterClientOptions cluster = options instanceof ClusterClientOptions known
                ? known
                : ClusterClientOptions.builder(options).build();
        ClusterTopologyRefreshOptions given = cluster.getTopologyRefreshOptions();
        Duration between = given.getAdaptiveRefreshTimeout();
        return cluster.mutate()
                .maxRedirects(Math.max(cluster.getMaxRedirects(), ClusterClientOptions.DEFAULT_MAX_REDIRECTS))
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .refreshPeriod(given.getRefreshPeriod())
                        .enablePeriodicRefresh(given.isPeriodicRefreshEnabled())
                        .dynamicRefreshSources(given.useDynamicRefreshSources())
                        .closeStaleConnections(given.isCloseStaleConnections())
                        .refreshTriggersReconnectAttempts(given.getRefreshTriggersReconnectAttempts())
                        .enableAllAdaptiveRefreshTriggers()
                        .adaptiveRefreshTriggersTimeout(Collections.min(List.of(between, LONGEST_BETWEEN_TOPOLOGIES)))
                        .build())
                .build();
    }

    /** The delay of the application between attempts to reconnect stays. That of Lettuce grows to half a minute. */
    private ClientResources resourcesOf(LettuceClientConfiguration client, SocketWatchdog sockets) {
        Optional<ClientResources> given = client.getClientResources();
        ClientResources.Builder own = given.map(OwnConnection::copyOf).orElseGet(ClientResources::builder);
        if (given.isEmpty() || isDefault(given.get().reconnectDelay())) {
            own.reconnectDelay(BETWEEN_ATTEMPTS);
        }
        return own.nettyCustomizer(sockets.registeredAfter(
                        given.map(ClientResources::nettyCustomizer).orElse(DEFAULT_NETTY_CUSTOMIZER)))
                .build();
    }

    /** A copy shuts down the timer and the executor unless they are set explicitly. */
    private static ClientResources.Builder copyOf(ClientResources given) {
        return given.mutate().timer(given.timer()).eventExecutorGroup(given.eventExecutorGroup());
    }

    /** Spring Boot always provides resources, usually with the delay of Lettuce. */
    private static boolean isDefault(Delay delay) {
        Delay known = Delay.exponential();
        return delay.getClass() == known.getClass()
                && LongStream.rangeClosed(1, 20)
                        .allMatch(attempt -> delay.createDelay(attempt).equals(known.createDelay(attempt)));
    }
}
