package io.github.lockboot.redis.connection;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.ScriptRunner;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The connections of a registry.
 *
 * @param factory makes the connection factory at the first call
 * @param subscriptions registers a watch on the connections that listen to channels, once; does nothing where the application
 *     uses the same client
 */
public record Connections(
        Supplier<? extends RedisConnectionFactory> factory,
        ScriptRunner runner,
        Consumer<SubscriptionWatch> subscriptions,
        Runnable whenClosed) {

    private static final boolean LETTUCE =
            ClassUtils.isPresent("io.lettuce.core.RedisClient", Connections.class.getClassLoader());

    /**
     * @param asItIs whether to use the factory's own connections instead of new ones with the same settings
     * @param workers run what blocks
     */
    public static Connections to(
            RedisConnectionFactory factory, boolean asItIs, Duration commandTimeout, Timer timer, Executor workers) {
        CommandTimeouts timeouts = new CommandTimeouts(timer, commandTimeout.toNanos());
        return LETTUCE
                ? Lettuce.connections(factory, asItIs, commandTimeout, timer, timeouts, workers)
                : blocking(factory, timeouts, workers);
    }

    /**
     * Checks, without connecting, that connections can be made.
     *
     * @throws IllegalStateException if the settings of the factory cannot be read
     */
    public static void requireSettings(RedisConnectionFactory factory) {
        if (LETTUCE) {
            Lettuce.requireSettings(factory);
        }
    }

    /** The topology of Redis, for messages. */
    public static String kindOf(RedisConnectionFactory factory) {
        return LETTUCE ? Lettuce.kindOf(factory) : factory.getClass().getSimpleName();
    }

    /** Runs when a connection that listens to channels is cut, and when it is connected. */
    public record SubscriptionWatch(Runnable onCut, Runnable onConnected) {}

    /** {@return the factory, after the watch has been registered on it} */
    public RedisConnectionFactory watchedBy(SubscriptionWatch watch) {
        subscriptions.accept(watch);
        return factory.get();
    }

    public void close() {
        runner.close();
        whenClosed.run();
    }

    private static Connections blocking(RedisConnectionFactory factory, CommandTimeouts timeouts, Executor workers) {
        return new Connections(
                () -> factory, new TemplateScriptRunner(factory, timeouts, workers), watch -> {}, () -> {});
    }

    /** Loaded only if Lettuce is on the class path. */
    private static final class Lettuce {

        static Connections connections(
                RedisConnectionFactory factory,
                boolean asItIs,
                Duration commandTimeout,
                Timer timer,
                CommandTimeouts timeouts,
                Executor workers) {
            if (!(factory instanceof LettuceConnectionFactory lettuce)) {
                return blocking(factory, timeouts, workers);
            }
            if (asItIs) {
                return new Connections(
                        () -> lettuce,
                        new LettuceScriptRunner(() -> lettuce, timeouts, timer, workers, null),
                        watch -> {},
                        () -> {});
            }
            SocketWatchdog watchdog = new SocketWatchdog(timer::nanoTime);
            OwnConnection own = new OwnConnection(lettuce, commandTimeout, watchdog);
            TopologyRefresh topology = new TopologyRefresh(watchdog, commandTimeout.toNanos(), timer, workers);
            return new Connections(
                    own::factory,
                    new LettuceScriptRunner(own::factory, timeouts, timer, workers, topology),
                    watch -> watchSubscriptions(own.factory(), watch),
                    own::close);
        }

        static void requireSettings(RedisConnectionFactory factory) {
            if (factory instanceof LettuceConnectionFactory lettuce) {
                OwnConnection.redisOf(lettuce);
            }
        }

        static String kindOf(RedisConnectionFactory factory) {
            if (!(factory instanceof LettuceConnectionFactory lettuce)) {
                return factory.getClass().getSimpleName();
            }
            return lettuce.isClusterAware() ? "cluster" : lettuce.isRedisSentinelAware() ? "sentinel" : "standalone";
        }

        private static void watchSubscriptions(LettuceConnectionFactory own, SubscriptionWatch watch) {
            own.getRequiredNativeClient().removeListener(new Subscriptions(watch));
            own.getRequiredNativeClient().addListener(new Subscriptions(watch));
        }

        private record Subscriptions(SubscriptionWatch watch) implements RedisConnectionStateListener {

            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
                if (connection instanceof StatefulRedisPubSubConnection) {
                    watch.onConnected.run();
                }
            }

            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
                if (connection instanceof StatefulRedisPubSubConnection) {
                    watch.onCut.run();
                }
            }
        }
    }
}
