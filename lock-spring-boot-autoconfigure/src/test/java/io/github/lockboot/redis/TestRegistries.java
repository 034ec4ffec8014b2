package io.github.lockboot.redis;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.UnaryOperator;

import io.github.lockboot.fixture.RedisServer;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Registries on one Redis, each like the one of an application instance; closed together. */
public final class TestRegistries implements AutoCloseable {

    private final LettuceConnectionFactory connectionFactory;
    private final Deque<RedisLockRegistry> made = new ArrayDeque<>();

    private TestRegistries(RedisConfiguration redis) {
        connectionFactory = new LettuceConnectionFactory(redis);
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
        return new TestRegistries(redis);
    }

    public RedisLockRegistry registry() {
        return registry(UnaryOperator.identity());
    }

    public RedisLockRegistry registry(UnaryOperator<RedisLockRegistry.Builder> settings) {
        RedisLockRegistry registry =
                settings.apply(RedisLockRegistry.builder(connectionFactory)).build();
        made.push(registry);
        return registry;
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
