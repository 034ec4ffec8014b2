package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.UnaryOperator;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Registries on one Redis, each like the one of an application instance; closed together. */
public final class TestRegistries implements AutoCloseable {

    /** Unless a test asks for less: the first command of a registry loads classes, and the machine may be busy. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final LettuceConnectionFactory connectionFactory;
    private final Deque<RedisLockRegistry> made = new ArrayDeque<>();

    private TestRegistries(RedisConfiguration redis, LettuceClientConfiguration client) {
        connectionFactory = new LettuceConnectionFactory(redis, client);
        connectionFactory.afterPropertiesSet();
        connectionFactory.start();
    }

    public static TestRegistries on(RedisServer server) {
        return at(server.host(), server.port());
    }

    public static TestRegistries at(String host, int port) {
        return on(new RedisStandaloneConfiguration(host, port));
    }

    public static TestRegistries on(RedisConfiguration redis) {
        return on(redis, LettuceClientConfiguration.defaultConfiguration());
    }

    public static TestRegistries on(RedisConfiguration redis, LettuceClientConfiguration client) {
        return new TestRegistries(redis, client);
    }

    public RedisLockRegistry registry() {
        return registry(UnaryOperator.identity());
    }

    public RedisLockRegistry registry(UnaryOperator<RedisLockRegistry.Builder> settings) {
        RedisLockRegistry registry = settings.apply(
                        RedisLockRegistry.builder(connectionFactory).commandTimeout(PATIENCE))
                .build();
        made.push(registry);
        return registry;
    }

    /**
     * One that has connected: its first command loads classes, which on a busy machine takes longer than a command may.
     */
    public RedisLockRegistry connected() {
        RedisLockRegistry registry = registry();
        Await.until("connected", () -> canLock(registry, "connecting"));
        return registry;
    }

    /** Whether the lock can be taken now; it is given back at once. */
    public static boolean canLock(RedisLockRegistry registry, String name) {
        NamedLock lock = registry.get(name);
        try {
            if (!lock.tryLock()) {
                return false;
            }
            lock.unlock();
            return true;
        } catch (LockUnavailableException unavailable) {
            return false;
        }
    }

    public LettuceConnectionFactory connectionFactory() {
        return connectionFactory;
    }

    @Override
    public void close() {
        made.forEach(RedisLockRegistry::close);
        connectionFactory.destroy();
    }
}
