package io.github.lockboot.redis;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.MaxWaitingContract;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The limit of waiting callers on a Redis. */
class RedisMaxWaitingTests extends MaxWaitingContract {

    private static RedisServer server;
    private static TestRegistries registries;
    private static LockRegistry one;
    private static LockRegistry other;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        one = registries.connected();
        other = registries.connected();
    }

    @AfterAll
    static void stop() {
        registries.close();
        server.close();
    }

    @Override
    protected LockRegistry registry() {
        return one;
    }

    @Override
    protected LockRegistry otherRegistry() {
        return other;
    }

    @Test
    void aRefusalCostsNoCommand() throws Exception {
        LockOptions options = LockOptions.defaults().withMaxWaiting(1);
        Lease held = one.acquire("counted", options);
        CompletableFuture<Lease> waits = one.acquireAsync("counted", options);
        try (RedisProbe probe = server.probe()) {
            long before = probe.commandCalls().getOrDefault("evalsha", 0L);
            for (int i = 0; i < 10_000; i++) {
                assertThatExceptionOfType(LockNotAcquiredException.class)
                        .isThrownBy(() -> one.acquire("counted", options));
            }
            assertThat(probe.commandCalls().getOrDefault("evalsha", 0L) - before)
                    .as("renewals and polls only")
                    .isLessThan(1_000);
        }
        held.close();
        Actor.get(waits).close();
    }
}
