package io.github.lockboot.redis.connection;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration.LettuceClientConfigurationBuilder;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Connections of the registry, made from the application's settings. The application's shared connection may be in a transaction,
 * a pipeline or a large reply, and has another timeout. Their factory is made at the first use, so an application that does not
 * lock does not pay for it.
 */
final class OwnConnection {

    private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofMillis(500);
    private static final Duration LONGEST_BETWEEN_TOPOLOGIES = Duration.ofSeconds(5);
    private static final Duration KEEP_ALIVE_IDLE = Duration.ofSeconds(30);
    private static final Duration KEEP_ALIVE_INTERVAL = Duration.ofSeconds(10);
    private static final int KEEP_ALIVE_COUNT = 3;

    private final LettuceConnectionFactory application;
    private final RedisConfiguration redis;
    private final Duration commandTimeout;
    private final SocketWatchdog watchdog;
    private @Nullable LettuceConnectionFactory made;
    private boolean closed;

    /** To the same Redis as the application's factory. */
    OwnConnection(LettuceConnectionFactory application, Duration commandTimeout, SocketWatchdog watchdog) {
        this.application = application;
        this.redis = redisOf(application);
        this.commandTimeout = commandTimeout;
        this.watchdog = watchdog;
    }

    /** @throws IllegalStateException after the close */
    synchronized LettuceConnectionFactory factory() {
        if (closed) {
            throw new IllegalStateException("the lock registry is closed");
        }
        LettuceConnectionFactory known = made;
        return known != null ? known : make();
    }

    private LettuceConnectionFactory make() {
        LettuceConnectionFactory own = new LettuceConnectionFactory(
                redis,
                clientOf(application.getClientConfiguration(), commandTimeout, watchdog, application.isClusterAware()));
        own.afterPropertiesSet();
        own.start();
        made = own;
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
     * The configuration of the factory, read from its field: there is no getter for every topology, and those that exist fall
     * back to localhost silently.
     *
     * @throws IllegalStateException if this version of Spring Data Redis has no such field
     */
    static RedisConfiguration redisOf(LettuceConnectionFactory application) {
        Field field = ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration");
        if (field == null) {
            throw new IllegalStateException(
                    "this version of Spring Data Redis does not tell a LettuceConnectionFactory's"
                            + " configuration; qualify a factory for locks to have it used as it is");
        }
        ReflectionUtils.makeAccessible(field);
        Object configuration = ReflectionUtils.getField(field, application);
        return configuration instanceof RedisConfiguration redis ? redis : application.getStandaloneConfiguration();
    }

    private static LettuceClientConfiguration clientOf(
            LettuceClientConfiguration client, Duration commandTimeout, SocketWatchdog watchdog, boolean cluster) {
        ClientOptions options = optionsOf(client.getClientOptions().orElseGet(ClientOptions::create), commandTimeout);
        LettuceClientConfigurationBuilder own = LettuceClientConfiguration.builder()
                .commandTimeout(commandTimeout)
                .shutdownTimeout(Duration.ZERO)
                .clientOptions(cluster ? adaptive(options) : options)
                .clientResources(resourcesOf(client.getClientResources().orElse(null), watchdog));
        client.getClientName().ifPresent(own::clientName);
        client.getRedisCredentialsProviderFactory().ifPresent(own::redisCredentialsProviderFactory);
        if (client.isUseSsl()) {
            LettuceClientConfiguration.LettuceSslClientConfigurationBuilder ssl =
                    own.useSsl().verifyPeer(client.getVerifyMode());
            return (client.isStartTls() ? ssl.startTls() : ssl).build();
        }
        return own.build();
    }

    /** Overrides options that refuse or drop commands or stop reconnecting, which would make locks unavailable. */
    private static ClientOptions optionsOf(ClientOptions application, Duration commandTimeout) {
        return application
                .mutate()
                .autoReconnect(true)
                .suspendReconnectOnProtocolFailure(false)
                .requestQueueSize(ClientOptions.DEFAULT_REQUEST_QUEUE_SIZE)
                .disconnectedBehavior(ClientOptions.DEFAULT_DISCONNECTED_BEHAVIOR)
                .replayFilter(ClientOptions.DEFAULT_REPLAY_FILTER)
                .socketOptions(keptAlive(application.getSocketOptions())
                        .connectTimeout(commandTimeout)
                        .build())
                .timeoutOptions(TimeoutOptions.create()) // see CommandTimeouts
                .build();
    }

    /** A firewall may drop an idle connection without notice. */
    private static SocketOptions.Builder keptAlive(SocketOptions application) {
        SocketOptions.Builder own = application.mutate();
        return application.isKeepAlive()
                ? own
                : own.keepAlive(SocketOptions.KeepAliveOptions.builder()
                        .enable()
                        .idle(KEEP_ALIVE_IDLE)
                        .interval(KEEP_ALIVE_INTERVAL)
                        .count(KEEP_ALIVE_COUNT)
                        .build());
    }

    /** By default, Lettuce before 7 never notices a failover in a Cluster, and later ones look only twice a minute. */
    private static ClientOptions adaptive(ClientOptions options) {
        ClusterClientOptions cluster = options instanceof ClusterClientOptions known
                ? known
                : ClusterClientOptions.builder(options).build();
        ClusterTopologyRefreshOptions application = cluster.getTopologyRefreshOptions();
        Duration between = application.getAdaptiveRefreshTimeout();
        return cluster.mutate()
                .maxRedirects(Math.max(cluster.getMaxRedirects(), ClusterClientOptions.DEFAULT_MAX_REDIRECTS))
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .refreshPeriod(application.getRefreshPeriod())
                        .enablePeriodicRefresh(application.isPeriodicRefreshEnabled())
                        .dynamicRefreshSources(application.useDynamicRefreshSources())
                        .closeStaleConnections(application.isCloseStaleConnections())
                        .refreshTriggersReconnectAttempts(application.getRefreshTriggersReconnectAttempts())
                        .enableAllAdaptiveRefreshTriggers()
                        .adaptiveRefreshTriggersTimeout(
                                between.compareTo(LONGEST_BETWEEN_TOPOLOGIES) < 0
                                        ? between
                                        : LONGEST_BETWEEN_TOPOLOGIES)
                        .build())
                .build();
    }

    /** Shortens Lettuce's delay between attempts to reconnect, which grows to half a minute. */
    private static ClientResources resourcesOf(@Nullable ClientResources application, SocketWatchdog watchdog) {
        ClientResources.Builder own = application == null ? ClientResources.builder() : sharing(application);
        NettyCustomizer customizer = application == null ? new NettyCustomizer() {} : application.nettyCustomizer();
        return own.reconnectDelay(
                        Delay.exponential(Duration.ofMillis(1), LONGEST_RECONNECT_DELAY, 2, TimeUnit.MILLISECONDS))
                .nettyCustomizer(watchdog.reportedAfter(customizer))
                .build();
    }

    /** Sets them explicitly, because a copy shuts down the timer and executor that it did not get this way. */
    private static ClientResources.Builder sharing(ClientResources application) {
        return application.mutate().timer(application.timer()).eventExecutorGroup(application.eventExecutorGroup());
    }
}
