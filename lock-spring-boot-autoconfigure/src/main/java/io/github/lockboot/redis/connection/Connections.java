package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The connections of a registry.
 *
 * @param factory makes the connection factory at the first call
 * @param watching takes the watch of {@link #watchedBy}; no cast to the class for Lettuce does, which only loads beside Lettuce
 * @param whenClosed closes those that the registry has made; called once the runner is closed
 */
public record Connections(
        Supplier<? extends RedisConnectionFactory> factory,
        ScriptStore.Runner runner,
        Consumer<Consumer<Boolean>> watching,
        Runnable whenClosed) {

    /**
     * @param sharing whether to use the connections of the factory instead of new ones with the same settings
     * @param workers for blocking tasks
     */
    public static Connections to(
            RedisConnectionFactory factory, boolean sharing, Duration commandTimeout, Timer timer, Executor workers) {
        if (!(factory instanceof LettuceConnectionFactory lettuce)) {
            return new Connections(() -> factory, new BlockingScripts(factory, workers), watch -> {}, () -> {});
        }
        if (sharing) {
            return new Connections(
                    () -> lettuce, new LettuceScripts(() -> lettuce, timer, workers, null), watch -> {}, () -> {});
        }
        SocketWatchdog watchdog = new SocketWatchdog(timer, commandTimeout, workers);
        OwnConnection own = new OwnConnection(lettuce, commandTimeout, watchdog);
        LettuceScripts scripts = new LettuceScripts(own::factory, timer, workers, watchdog);
        return new Connections(own::factory, scripts, scripts::setWatch, () -> watchdog.close(own::close));
    }

    /**
     * Checks, without connecting, that connections can be made.
     *
     * @throws IllegalStateException if the settings of the factory cannot be read
     */
    public static void requireSettings(RedisConnectionFactory factory) {
        if (factory instanceof LettuceConnectionFactory lettuce) {
            OwnConnection.redisOf(lettuce);
        }
    }

    /** The topology of Redis, for messages. */
    public static String kindOf(RedisConnectionFactory factory) {
        if (!(factory instanceof LettuceConnectionFactory lettuce)) {
            return factory.getClass().getSimpleName();
        }
        return lettuce.isClusterAware() ? "cluster" : lettuce.isRedisSentinelAware() ? "sentinel" : "standalone";
    }

    /**
     * Returns the factory.
     *
     * @param watch gets true when a connection that listens to channels is connected, false when it is cut; not called for
     *     connections of the application
     */
    public RedisConnectionFactory watchedBy(Consumer<Boolean> watch) {
        watching.accept(watch);
        return factory.get();
    }
}
