package io.github.lockboot.redis;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.LogReader;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** A slot moves, which takes minutes where it has many keys. Meanwhile each of its keys is on one of two servers. */
@Tag("full")
class MovingSlotTests {

    private static final List<String> NAMES = List.of("{x}a", "{x}b");
    private static final Duration SOON = Duration.ofSeconds(10);

    private RedisCluster cluster;
    private TestRegistries registries;
    private RedisServer from;
    private RedisServer to;

    @BeforeEach
    void start() {
        cluster = RedisCluster.start(0);
        registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
        from = cluster.ownerOf("lock:{x}a");
        to = cluster.servers().stream().filter(each -> each != from).findFirst().orElseThrow();
    }

    @AfterEach
    void stop() {
        registries.close();
        cluster.close();
    }

    /** @param blocking whether with a client that only blocks */
    private RedisLockRegistry registry(boolean blocking) {
        if (!blocking) {
            return registries.connected();
        }
        RedisConnectionFactory plain = (RedisConnectionFactory) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RedisConnectionFactory.class}, (proxy, method, args) -> {
                    try {
                        return method.invoke(registries.connectionFactory(), args);
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                });
        return RedisLockRegistry.builder(plain)
                .commandTimeout(Duration.ofSeconds(20))
                .build();
    }

    private long keys() {
        return Stream.of(from, to)
                .mapToLong(each -> (Long) each.command("DBSIZE"))
                .sum();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void severalLocksAreReleased(boolean blocking) {
        RedisLockRegistry registry = registry(blocking);
        try (LogReader log = new LogReader()) {
            Lock both = registry.allOf(NAMES);
            both.lock();
            cluster.moveOnly("lock:{x}a", to);
            both.unlock();
            Actor.await("both are free", SOON, () -> keys() == 0);
            assertThat(log.warnings()).isEmpty();
        } finally {
            closeIf(blocking, registry);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void severalLocksAreAcquired(boolean blocking) {
        RedisLockRegistry registry = registry(blocking);
        try (LogReader log = new LogReader()) {
            cluster.moveOnly("lock:{x}a", to);
            Lock both = registry.allOf(NAMES);
            assertThat(both.tryLock()).isTrue();
            assertThat(keys()).isEqualTo(2);
            both.unlock();
            Actor.await("both are free", SOON, () -> keys() == 0);
            cluster.moveSlotOf("lock:{x}a", to);
            both.lock();
            both.unlock();
            assertThat(log.warnings()).isEmpty();
        } finally {
            closeIf(blocking, registry);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void severalLeasesAreAcquiredAndReleased(boolean blocking) {
        RedisLockRegistry registry = registry(blocking);
        try (LogReader log = new LogReader()) {
            List<LockContext> wanted = NAMES.stream()
                    .map(registry::get)
                    .map(lock -> HeldLocks.wanted(lock, wait -> registry.acquireAsync(lock, wait), null))
                    .toList();
            cluster.moveOnly("lock:{x}a", to);
            HeldLocks.acquireAsync(wanted).join().releaseLater(true).join();
            Actor.await("both are free", SOON, () -> keys() == 0);
            assertThat(log.warnings()).isEmpty();
        } finally {
            closeIf(blocking, registry);
        }
    }

    private static void closeIf(boolean blocking, RedisLockRegistry registry) {
        if (blocking) {
            registry.close();
        }
    }
}
