package io.github.lockboot.redis.connection;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.lettuce.core.ClientOptions;
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
import org.springframework.util.ReflectionUtils;

import static io.lettuce.core.resource.DefaultClientResources.DEFAULT_NETTY_CUSTOMIZER;

/**
 * The registry's own connections, with the application's settings. The application's shared connection may be in a transaction, a
 * pipeline or a large reply, and has another timeout. The factory is made at the first use, so an application that takes no
 * locks does not pay for it.
 */
final class OwnConnection {

    private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofMillis(500);
    private static final Duration LONGEST_BETWEEN_TOPOLOGIES = Duration.ofSeconds(5);

    private final LettuceConnectionFactory application;
    private final RedisConfiguration redis;
    private final Duration commandTimeout;
    private final SocketWatchdog watchdog;
    private final Supplier<String> session;
    private @Nullable LettuceConnectionFactory made;
    private boolean closed;

    OwnConnection(
            LettuceConnectionFactory application,
            Duration commandTimeout,
            SocketWatchdog watchdog,
            Supplier<String> session) {
        this.application = application;
        this.redis = redisOf(application);
        this.commandTimeout = commandTimeout;
        this.watchdog = watchdog;
        this.session = session;
    }

    /** @throws IllegalStateException if closed */
    synchronized LettuceConnectionFactory factory() {
        if (closed) {
            throw new IllegalStateException("the lock registry is closed");
        }
        LettuceConnectionFactory own = made;
        if (own == null) {
            own = new LettuceConnectionFactory(redirecting(redis), clientOf(application.getClientConfiguration()));
            own.afterPropertiesSet();
            own.start();
            made = own;
        }
        return own;
    }

    synchronized void close() {
        closed = true;
        LettuceConnectionFactory own = made;
        made = null;
        if (own != null) {
            own.destroy();
            own.getClientConfiguration().getClientResources().ifPresent(ClientResources::shutdown);
        }
    }

    /**
     * Returns the configuration of the factory, read from its field. Not every topology has a getter, and the existing ones silently
     * fall back to localhost.
     *
     * @throws IllegalStateException if this version of Spring Data Redis has no such field
     */
    static RedisConfiguration redisOf(LettuceConnectionFactory application) {
        Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration");
        if (field == null) {
            throw new IllegalStateException("this version of Spring Data Redis does not show the configuration of a"
                    + " LettuceConnectionFactory; qualify a factory for locks, and its connections are used");
        }
        ReflectionUtils.makeAccessible(field);
        Object configuration = ReflectionUtils.getField(field, application);
        return configuration instanceof RedisConfiguration redis ? redis : application.getStandaloneConfiguration();
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

    private LettuceClientConfiguration clientOf(LettuceClientConfiguration client) {
        ClientOptions options = optionsOf(client.getClientOptions().orElseGet(ClientOptions::create));
        LettuceClientConfigurationBuilder own = LettuceClientConfiguration.builder()
                .commandTimeout(commandTimeout)
                .shutdownTimeout(Duration.ZERO)
                .clientOptions(application.isClusterAware() ? adaptive(options) : options)
                .clientResources(resourcesOf(client))
                .clientName(nameOf(client));
        client.getRedisCredentialsProviderFactory().ifPresent(own::redisCredentialsProviderFactory);
        if (client.isUseSsl()) {
            var ssl = own.useSsl().verifyPeer(client.getVerifyMode());
            return (client.isStartTls() ? ssl.startTls() : ssl).build();
        }
        return own.build();
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
                        .connectTimeout(commandTimeout)
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

    /** By default, Lettuce before 7 never notices a failover in a Cluster; later versions look only twice a minute. */
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
                        .adaptiveRefreshTriggersTimeout(
                                between.compareTo(LONGEST_BETWEEN_TOPOLOGIES) < 0
                                        ? between
                                        : LONGEST_BETWEEN_TOPOLOGIES)
                        .build())
                .build();
    }

    /** Limits the delay between attempts to reconnect, which grows to half a minute by default. */
    private ClientResources resourcesOf(LettuceClientConfiguration client) {
        Optional<ClientResources> given = client.getClientResources();
        // A copy shuts down the timer and the executor unless they are set explicitly.
        return given.map(each -> each.mutate().timer(each.timer()).eventExecutorGroup(each.eventExecutorGroup()))
                .orElseGet(ClientResources::builder)
                .reconnectDelay(
                        Delay.exponential(Duration.ofMillis(1), LONGEST_RECONNECT_DELAY, 2, TimeUnit.MILLISECONDS))
                .nettyCustomizer(watchdog.registeredAfter(
                        given.map(ClientResources::nettyCustomizer).orElse(DEFAULT_NETTY_CUSTOMIZER)))
                .build();
    }
}
