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
 * What a registry talks to Redis with.
 *
 * @param factory gives what may only be made when it is asked for
 * @param subscriptions has a watch told of connections that listen to channels, if nobody else's are among them; a watch that is
 *     there already is not told twice
 */
public record Connections(
        Supplier<? extends RedisConnectionFactory> factory,
        ScriptRunner runner,
        Consumer<SubscriptionWatch> subscriptions,
        Runnable whenClosed) {

    private static final boolean LETTUCE =
            ClassUtils.isPresent("io.lettuce.core.RedisClient", Connections.class.getClassLoader());

    /**
     * @param asItIs whether to use the factory's connections instead of own ones like them
     * @param workers for what blocks
     */
    public static Connections to(
            RedisConnectionFactory factory, boolean asItIs, Duration commandTimeout, Timer timer, Executor workers) {
        CommandTimeouts timeouts = new CommandTimeouts(timer, commandTimeout.toNanos());
        return LETTUCE
                ? Lettuce.connections(factory, asItIs, commandTimeout, timer, timeouts, workers)
                : blocking(factory, timeouts, workers);
    }

    /**
     * Nothing is made yet, but what would make it impossible is found.
     *
     * @throws IllegalStateException if the factory does not tell its settings
     */
    public static void requireSettings(RedisConnectionFactory factory) {
        if (LETTUCE) {
            Lettuce.requireSettings(factory);
        }
    }

    /** What kind of Redis it is, for people. */
    public static String kindOf(RedisConnectionFactory factory) {
        return LETTUCE ? Lettuce.kindOf(factory) : factory.getClass().getSimpleName();
    }

    /** What is to happen when a connection that listens to channels is cut, and when it is connected again. */
    public record SubscriptionWatch(Runnable onCut, Runnable onConnected) {}

    /** {@return the factory, whose connections that listen to channels the watch sees from now on} */
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

    /** Loaded only where Lettuce is. */
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
                        new LettuceScriptRunner(() -> lettuce, timeouts, timer, workers, TopologyRefresh.NONE),
                        watch -> {},
                        () -> {});
            }
            SocketWatchdog watchdog = new SocketWatchdog(timer::nanoTime);
            OwnConnection own = new OwnConnection(lettuce, commandTimeout, watchdog);
            TopologyRefresh topology = TopologyRefresh.over(watchdog, commandTimeout.toNanos(), timer, workers);
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
