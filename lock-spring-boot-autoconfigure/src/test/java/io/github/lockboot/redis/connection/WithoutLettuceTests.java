package io.github.lockboot.redis.connection;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.github.lockboot.PoorClassLoader;
import io.github.lockboot.internal.Timer;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisAccessor;

import static org.assertj.core.api.Assertions.assertThat;

/** The package works with another client where Lettuce is not on the class path. */
class WithoutLettuceTests {

    @Test
    void whoWaitsGetsAConnectionToListenOn() throws Exception {
        RedisConnectionFactory factory = (RedisConnectionFactory) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RedisConnectionFactory.class},
                (proxy, method, args) -> null);
        ClassLoader withoutLettuce = new PoorClassLoader("io.github.lockboot.redis.connection.", "io.lettuce.");
        Class<?> type = Class.forName(Connections.class.getName(), true, withoutLettuce);
        assertThat(type.getClassLoader()).isSameAs(withoutLettuce);
        Class<?> acknowledgedBy = Class.forName(Connections.AcknowledgedBy.class.getName(), true, withoutLettuce);
        try (Timer timer = Timer.system("test")) {
            Object connections = type.getMethod(
                            "to",
                            RedisConnectionFactory.class,
                            boolean.class,
                            acknowledgedBy,
                            Duration.class,
                            Supplier.class,
                            Timer.class,
                            Executor.class)
                    .invoke(
                            null,
                            factory,
                            false,
                            acknowledgedBy.getEnumConstants()[0],
                            Duration.ofSeconds(2),
                            (Supplier<String>) () -> "0123456789",
                            timer,
                            (Executor) Runnable::run);
            Supplier<?> made = (Supplier<?>) type.getMethod("template").invoke(connections);
            RedisConnectionFactory used = ((RedisAccessor) made.get()).getConnectionFactory();
            assertThat(used == factory).isTrue(); // it answers no other question, such as equals
            Object runner = type.getMethod("runner").invoke(connections);
            runner.getClass()
                    .getMethod("whenCut", RedisConnection.class, Runnable.class)
                    .invoke(runner, null, null);
        }
    }
}
