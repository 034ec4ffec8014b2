package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** A lock has no more holders than {@code lock.max-holders}. */
class MaxHoldersTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);
    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(1));

    @Test
    void onRedisAnInstanceThatReadsBeyondThemWaitsUntilAnotherReadsNoMore() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server)) {
            List<LockRegistry> instances = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                RedisLockRegistry registry = registries.registry(builder -> builder.maxHolders(2));
                Actor.get(registry.connect()); // so that its channel is live, without which readers share no hold
                instances.add(registry);
            }
            assertAThirdReaderWaits(instances);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> instances.get(0).get("a", ONCE.withPermits(3)));
        }
    }

    @Test
    void inMemoryAnInstanceThatReadsBeyondThemWaitsUntilAnotherReadsNoMore() throws Exception {
        MemoryLockRegistry first = new MemoryLockRegistry(LockOptions.defaults(), Map.of(), 2);
        assertAThirdReaderWaits(List.of(first, first.newInstance(), first.newInstance()));
    }

    @Test
    void onRedisReadersThatKeepTheLockAreOneHolder() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server)) {
            assertReadersThatKeepTheLockAreOneHolder(List.of(
                    registries.registry(builder -> builder.maxHolders(2)),
                    registries.registry(builder -> builder.maxHolders(2))));
        }
    }

    @Test
    void inMemoryReadersThatKeepTheLockAreOneHolder() throws Exception {
        MemoryLockRegistry first = new MemoryLockRegistry(LockOptions.defaults(), Map.of(), 2);
        assertReadersThatKeepTheLockAreOneHolder(List.of(first, first.newInstance()));
    }

    private static void assertReadersThatKeepTheLockAreOneHolder(List<? extends LockRuntime> instances)
            throws Exception {
        for (int i = 0; i < 6; i++) {
            Lease reader = instances.get(i % 2).acquire("a", ONCE.shared());
            Actor.get(reader.closeAfter(Duration.ofMinutes(1)));
            assertThat(instances.get(0).holders("a")).hasSize(1);
        }
        assertThat(instances.get(0).tryAcquire("a", ONCE)).isEmpty();
    }

    private static void assertAThirdReaderWaits(List<LockRegistry> instances) throws Exception {
        Lease first = instances.get(0).acquire("a", PATIENT.shared());
        Lease second = instances.get(1).acquire("a", PATIENT.shared());
        Lease beside = instances.get(1).acquire("a", PATIENT.shared()); // as part of the same hold
        assertThat(instances.get(2).tryAcquire("a", ONCE.shared())).isEmpty();
        CompletableFuture<Lease> third = instances.get(2).acquireAsync("a", PATIENT.shared());
        second.close();
        assertThat(third).isNotDone();
        beside.close();
        Lease last = Actor.get(third);
        assertThat(first.isValid()).isTrue();
        first.close();
        last.close();
    }
}
