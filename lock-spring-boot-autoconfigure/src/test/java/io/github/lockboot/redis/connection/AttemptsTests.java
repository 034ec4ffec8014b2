package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** How often instances without Redis try to connect, counted where they do. */
class AttemptsTests {

    private static final Duration AWAY = Duration.ofSeconds(4);
    private static final int INSTANCES = 10;

    /** Ten until the pause is the longest, then two a second at most, and twice that for a busy machine. */
    private static final long AT_MOST = 2 * (10 + 2 * 4);

    private final RedisServer server = RedisServer.start();
    private final TcpProxy proxy = TcpProxy.to(server);

    @AfterEach
    void close() {
        proxy.close();
        server.close();
    }

    private TestRegistries instance(LettuceClientConfiguration client) {
        return TestRegistries.on(new RedisStandaloneConfiguration(proxy.host(), proxy.port()), client);
    }

    private TestRegistries instance() {
        return instance(LettuceClientConfiguration.defaultConfiguration());
    }

    @Test
    void thoseThatHaveLostRedisTryWithTheDelayOfTheApplication() throws Exception {
        ClientResources resources = ClientResources.builder()
                .reconnectDelay(Delay.constant(Duration.ofHours(1)))
                .build();
        try (TestRegistries application = instance(
                LettuceClientConfiguration.builder().clientResources(resources).build())) {
            RedisLockRegistry registry = application.registry(builder -> builder.commandTimeout(Duration.ofSeconds(1)));
            Actor.await("connected", () -> TestRegistries.canLock(registry, "a"));
            long before = proxy.connections();
            proxy.refuse();
            Actor.await("gone", () -> !TestRegistries.canLock(registry, "a"));
            Actor.pass(AWAY);
            assertThat(proxy.connections()).isEqualTo(before);
        } finally {
            resources.shutdown(0, 0, TimeUnit.SECONDS).await(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void thoseThatHaveLostRedisTryLessAndLess() {
        List<TestRegistries> instances = new ArrayList<>();
        try {
            for (int i = 0; i < INSTANCES; i++) {
                instances.add(instance());
                instances.get(i).connected();
            }
            long before = proxy.connections();
            proxy.refuse();
            Actor.pass(AWAY);
            assertThat(proxy.connections() - before).isBetween((long) INSTANCES, INSTANCES * AT_MOST);
        } finally {
            instances.forEach(TestRegistries::close);
        }
    }

    /** Each call asks for a connection, and there has never been one. */
    @Test
    void thoseThatStartWithoutRedisTryLessAndLessWhateverTheirCallersDo() throws Exception {
        proxy.refuse();
        List<Actor> callers = new ArrayList<>();
        try (TestRegistries instance = instance()) {
            RedisLockRegistry registry = instance.registry();
            TestRegistries.canLock(registry, "first");
            long before = proxy.connections();
            long end = System.nanoTime() + AWAY.toNanos();
            List<CompletableFuture<Void>> calls = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Actor caller = new Actor();
                callers.add(caller);
                calls.add(caller.begin(() -> {
                    while (System.nanoTime() - end < 0) {
                        TestRegistries.canLock(registry, caller.toString());
                    }
                }));
            }
            for (CompletableFuture<Void> call : calls) {
                Actor.get(call);
            }
            assertThat(proxy.connections() - before).isBetween(1L, AT_MOST);
            proxy.pass();
            Actor.await("connected", () -> TestRegistries.canLock(registry, "a"));
        } finally {
            callers.forEach(Actor::close);
        }
    }
}
