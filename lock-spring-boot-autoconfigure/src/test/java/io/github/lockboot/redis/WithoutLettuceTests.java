package io.github.lockboot.redis;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.PoorClassLoader;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Locks where another client is used and Lettuce is not on the class path. */
class WithoutLettuceTests {

    private static final ClassLoader WITHOUT_LETTUCE = new PoorClassLoader("io.github.lockboot.redis.", "io.lettuce.");

    @Test
    void whoWaitsListensForMessages() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server);
                Actor waiter = new Actor()) {
            registries.connected().get("a").lock();
            LockRegistry registry = registryOn(registries.plainConnectionFactory());
            try {
                Actor.await("connected", () -> TestRegistries.canLock(registry, "b"));
                waiter.begin(() -> registry.get("a").tryLock(10, TimeUnit.SECONDS));
                Actor.await("it listens", () -> !List.of().equals(server.command("PUBSUB", "CHANNELS")));
            } finally {
                ((AutoCloseable) registry).close();
            }
        }
    }

    private static LockRegistry registryOn(RedisConnectionFactory factory) throws Exception {
        Class<?> type = Class.forName(RedisLockRegistry.class.getName(), true, WITHOUT_LETTUCE);
        Object builder = type.getMethod("builder", RedisConnectionFactory.class).invoke(null, factory);
        LockRegistry registry =
                (LockRegistry) builder.getClass().getMethod("build").invoke(builder);
        assertThat(registry.getClass().getClassLoader()).isSameAs(WITHOUT_LETTUCE);
        return registry;
    }
}
