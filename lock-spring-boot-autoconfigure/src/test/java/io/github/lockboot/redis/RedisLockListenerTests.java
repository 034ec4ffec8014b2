package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockListenerContract;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUse;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.ScriptedEngine;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class RedisLockListenerTests extends LockListenerContract {

    private static final LockOptions SHORT =
            LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withGroup("short");

    private static RedisServer server;
    private final TestRegistries registries = TestRegistries.on(server);
    private final RecordingLockListener scriptedListener = new RecordingLockListener();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @AfterEach
    void closeAll() {
        registries.close();
    }

    @Override
    protected RedisLockRegistry registry(LockListener... listeners) {
        return registries.registry(builder -> {
            for (LockListener each : listeners) {
                builder.listener(each);
            }
            return builder.commandTimeout(Duration.ofSeconds(20)) // of a slow machine that connects
                    .defaults(LockOptions.defaults().withTtl(Duration.ofSeconds(3)));
        });
    }

    @Override
    protected LockRegistry other(LockRegistry registry) {
        return registries.registry();
    }

    @Override
    protected void close(LockRegistry registry) {
        ((RedisLockRegistry) registry).close();
    }

    @Override
    protected void lose(LockRegistry registry, String name) {
        new StringRedisTemplate(registries.connectionFactory()).delete("lock:" + name);
    }

    /** Until the channel is subscribed to, Redis is asked in between. */
    @Test
    void anotherThreadsReleaseHandsItOverLocally() throws Exception {
        LockRegistry registry = registry(listener);
        try (Actor actor = new Actor()) {
            do {
                listener.clear();
                registry.get("local").lock();
                CompletableFuture<Void> waiting =
                        actor.begin(() -> registry.get("local").lock());
                Actor.await("it waits", actor::isWaiting);
                registry.get("local").unlock();
                Actor.get(waiting);
                actor.run(() -> registry.get("local").unlock());
            } while (!listener.told.contains("acquired local LOCAL"));
        }
        assertThat(listener.told)
                .filteredOn(told -> told.startsWith("released"))
                .hasSize(2);
    }

    @Test
    void theOwnerIdIsTheOneInRedis() throws Exception {
        LockRegistry registry = registry(listener);
        try (Lease lease = registry.acquire("owner", LockOptions.defaults())) {
            LockUse use = listener.uses.get(0);
            Object state = new StringRedisTemplate(registries.connectionFactory())
                    .opsForValue()
                    .get("lock:owner");
            assertThat(use.holderId()).isEqualTo(StoredLock.of(state).owner());
            assertThat(use.fencingToken()).isEqualTo(lease.fencingToken());
        }
    }

    @Test
    void renewalsAreToldAndAStuckHolderIsToldOnceBeforeItsLoss() throws Exception {
        LockRegistry registry = registry(listener);
        Lease stuck = registry.acquire("stuck", SHORT.withMaxHold(Duration.ofMillis(500)));
        Actor.await("it is lost", () -> listener.told.stream().anyMatch(told -> told.startsWith("lost stuck")));
        assertThat(listener.told)
                .contains("renewed stuck")
                .containsOnlyOnce("stuck stuck")
                .doesNotContain("released stuck");
        assertThat(listener.told.get(listener.told.size() - 1))
                .isEqualTo("lost stuck it was held beyond lock.max-hold (500ms)");
        assertThat(listener.times.get(listener.indexOf("stuck"))).isPositive(); // from when its caller had it
        assertThat(stuck.isValid()).isFalse();
    }

    @Test
    void aFailedRenewalIsTold() {
        ScriptedEngine scripted = new ScriptedEngine(64, scriptedListener);
        scripted.granted(100, ScriptedEngine.TTL);
        scripted.timer.tick(Duration.ofSeconds(10));
        scripted.next("renew").fail("cut");
        scripted.timer.tick(Duration.ofSeconds(3));
        scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
        assertThat(scriptedListener.told)
                .containsExactly("requested name", "acquired name ASKED", "renewalFailed name", "renewed name");
    }

    @Test
    void aReleaseOfUnknownOutcomeIsToldAsSuch() {
        ScriptedEngine scripted = new ScriptedEngine(64, scriptedListener);
        Lease lease = scripted.granted(100, ScriptedEngine.TTL);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);
        Actor.await("it is sent", () -> scripted.sentCount() > 0);
        scripted.next("unlock").fail("timed out");
        closing.join();
        assertThat(scriptedListener.told.get(2)).isEqualTo("released name unknown");
    }
}
