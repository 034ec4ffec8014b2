package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LogReader;
import io.github.lockboot.SlowStart;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A machine on which the first connection takes longer than three commands may. */
class SlowFirstConnectionTests {

    private RedisServer server;
    private TcpProxy proxy;
    private TestRegistries registries;
    private RedisLockRegistry registry;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        proxy = TcpProxy.to(server);
        registries = TestRegistries.at(proxy.host(), proxy.port());
        registry = registries.registry(builder -> builder.commandTimeout(Duration.ofMillis(1_500)));
    }

    @AfterEach
    void stop() {
        registries.close();
        proxy.close();
        server.close();
    }

    @Test
    void itIsMadeByOneAttemptAndTheCheckFindsNothing() {
        SlowStart.delay(proxy);
        assertThat(registry.check()).succeedsWithin(Duration.ofMinutes(1)).isEqualTo(List.of());
        Actor.await("it listens", () -> GrantChannels.isLive(registry));
        assertThat(proxy.connections()).as("one for commands, one for messages").isEqualTo(2);
    }

    @Test
    void aCallerThatHasTheTimeWaitsForIt() throws Exception {
        SlowStart.delay(proxy);
        LockOptions patient = LockOptions.defaults().withWaitTime(Duration.ofMinutes(1));
        Lease lease = Actor.get(registry.acquireAsync("x", patient));
        assertThat(lease.isValid()).isTrue();
        lease.close();
    }

    @Test
    void whatTheLastAttemptMetIsNamedWhileAnotherIsMade() {
        proxy.refuse();
        assertThatThrownBy(() -> registry.get("x").tryLock()).hasMessageContaining("(no connection to Redis: ");
        proxy.pass();
        proxy.swallowReplies();
        assertThatThrownBy(() -> registry.get("x").tryLock())
                .hasMessageContaining("(the connection is still being made; the last attempt failed: ");
        proxy.pass();
    }

    @Test
    void whatCouldNotBeCheckedIsCheckedOnceThereIsAConnection() {
        server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
        proxy.refuse();
        try (LogReader log = new LogReader()) {
            assertThat(registry.check().join())
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.problem()).startsWith("Redis could not be checked ("));
            proxy.pass();
            Actor.await(
                    "the warning",
                    () -> log.warnings().stream().anyMatch(line -> line.contains("maxmemory-policy allkeys-lru")));
        }
    }
}
