package io.github.lockboot.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The application stays connected to a server that has become a replica and is empty, as a Redis that cannot load the
 * data of a newer one. The new master has all locks.
 */
class DemotedServerTests {

    private final RedisServer server = RedisServer.start();
    private final RedisServer newMaster = RedisServer.start();
    private final TestRegistries registries = TestRegistries.on(server);
    private final RedisLockRegistry registry = registries.connected();
    private final NamedLock lock = registry.get("a", LockOptions.defaults().withTtl(Duration.ofMinutes(10)));
    private final AtomicInteger losses = new AtomicInteger();
    private long commandsBefore;

    @BeforeEach
    void holdAndDemote() {
        lock.lock();
        lock.onLost(losses::incrementAndGet);
        newMaster.command("REPLICAOF", server.host(), String.valueOf(server.port()));
        Actor.await("copied", () -> newMaster.command("EXISTS", "lock:a").equals(1L));
        newMaster.command("REPLICAOF", "NO", "ONE");
        server.command(
                "SET", "later", "1"); // so that it needs a whole copy when it becomes a replica of the new master
        commandsBefore = commands();
        try (RedisProbe probe = server.probe()) { // at once: a master that lost its data has lost the lock
            probe.command("MULTI");
            probe.command("FLUSHALL");
            probe.command("REPLICAOF", server.host(), "1");
            probe.command("EXEC");
        }
    }

    @AfterEach
    void close() {
        registries.close();
        server.close();
        newMaster.close();
    }

    private long commands() {
        try (RedisProbe probe = server.probe()) {
            Map<String, Long> calls = probe.commandCalls();
            return calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L);
        }
    }

    /** The address leads to a master that has the lock. */
    private void promote() {
        server.command("REPLICAOF", newMaster.host(), String.valueOf(newMaster.port()));
        Actor.await("copied", () -> server.command("EXISTS", "lock:a").equals(1L));
        server.command("REPLICAOF", "NO", "ONE");
    }

    private void awaitReleased() {
        Actor.await("released", () -> server.command("EXISTS", "lock:a").equals(0L));
    }

    @Test
    void aHoldIsNotLostByIt() {
        Actor.await("renewals", () -> commands() >= commandsBefore + 3);
        assertThat(losses).hasValue(0);
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        promote();
        lock.unlock();
        awaitReleased();
        assertThat(losses).hasValue(0);
    }

    @Test
    void aReleaseIsNotALossAndIsRepeatedUntilAMasterAnswers() {
        lock.unlock();
        promote();
        awaitReleased();
        assertThat(losses).hasValue(0);
    }

    @Test
    void nobodyIsToldThatALockIsFree() {
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> registry.get("b").isLocked());
        assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.holders("a"));
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> registry.inspector().stateOf("a"));
    }

    @Test
    void aFenceReadsNothingFromIt() {
        RedisFence fence = new RedisFence(registries.connectionFactory());
        assertThatExceptionOfType(DataAccessException.class)
                .isThrownBy(() -> fence.get("price"))
                .withStackTraceContaining("READONLY");
    }
}
