package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.Executor;

import io.lettuce.core.resource.ClientResources;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

/** What a registry talks to Redis with. */
record Connections(RedisConnectionFactory factory, ScriptRunner runner, Runnable whenClosed) {

    private static final boolean LETTUCE =
            ClassUtils.isPresent("io.lettuce.core.RedisClient", Connections.class.getClassLoader());

    /**
     * @param asItIs whether to use the factory's connections instead of own ones like them
     * @param workers for what blocks
     */
    static Connections to(
            RedisConnectionFactory factory, boolean asItIs, Duration commandTimeout, Timer timer, Executor workers) {
        Expiry expiry = new Expiry(timer, commandTimeout.toNanos());
        return LETTUCE
                ? Lettuce.connections(factory, asItIs, commandTimeout, expiry, workers)
                : blocking(factory, expiry, workers);
    }

    /** What kind of Redis it is, for people. */
    static String kindOf(RedisConnectionFactory factory) {
        return LETTUCE ? Lettuce.kindOf(factory) : factory.getClass().getSimpleName();
    }

    void close() {
        runner.close();
        whenClosed.run();
    }

    private static Connections blocking(RedisConnectionFactory factory, Expiry expiry, Executor workers) {
        return new Connections(factory, new TemplateScriptRunner(factory, expiry, workers), () -> {});
    }

    /** Loaded only where Lettuce is. */
    private static final class Lettuce {

        static Connections connections(
                RedisConnectionFactory factory,
                boolean asItIs,
                Duration commandTimeout,
                Expiry expiry,
                Executor workers) {
            if (!(factory instanceof LettuceConnectionFactory lettuce)) {
                return blocking(factory, expiry, workers);
            }
            if (asItIs) {
                return new Connections(lettuce, new LettuceScriptRunner(lettuce, expiry, workers), () -> {});
            }
            LettuceConnectionFactory own = OwnConnection.like(lettuce, commandTimeout);
            return new Connections(own, new LettuceScriptRunner(own, expiry, workers), () -> destroy(own));
        }

        static String kindOf(RedisConnectionFactory factory) {
            if (!(factory instanceof LettuceConnectionFactory lettuce)) {
                return factory.getClass().getSimpleName();
            }
            return lettuce.isClusterAware() ? "cluster" : lettuce.isRedisSentinelAware() ? "sentinel" : "standalone";
        }

        private static void destroy(LettuceConnectionFactory own) {
            own.destroy();
            own.getClientConfiguration().getClientResources().ifPresent(ClientResources::shutdown);
        }
    }
}
