package io.github.lockboot.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The contract on the Redis that is found first. */
class RedisLockTests extends LockRegistryContract {

    private static RedisServer server;
    private static TestRegistries registries;
    private static RedisLockRegistry one;
    private static RedisLockRegistry other;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        one = GrantChannels.open(registries.connected());
        other = GrantChannels.open(registries.connected());
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
    void aReaderWhoseInstanceDiesDelaysAWriterByItsTtlAtMost() throws Exception {
        RedisLockRegistry dying = holder(LockOptions.defaults().shared());
        assertThat(other.get(name).tryLock()).isFalse();
        dying.close();
        assertThat(other.get(name).tryLock(20, TimeUnit.SECONDS)).isTrue();
        other.get(name).unlock();
    }

    @Test
    void aPermitOfAnInstanceThatDiesComesBackWithinItsTtl() throws Exception {
        LockOptions two = LockOptions.defaults().withPermits(2);
        NamedLock alive = one.get(name, two);
        NamedLock next = other.get(name, two);
        RedisLockRegistry dying = holder(two);
        alive.lock();
        assertThat(next.tryLock()).isFalse();
        dying.close();
        assertThat(next.tryLock(20, TimeUnit.SECONDS)).isTrue();
        assertThat(alive.isHeldByCurrentThread()).isTrue();
        next.unlock();
        alive.unlock();
    }

    /** A holder whose registry was closed finds the loss itself, at its release. */
    @Test
    void aCallbackForALossMayWaitForAnotherUserOfTheLockAlsoAfterTheClose() throws Exception {
        RedisLockRegistry closed = registries.connected();
        NamedLock lock = closed.get(name, LockOptions.defaults().withTtl(LockOptions.MIN_TTL));
        CompletableFuture<Exception> refused = new CompletableFuture<>();
        try (Actor another = new Actor()) {
            lock.lock();
            lock.onLost(() -> {
                try {
                    another.run(lock::tryLock);
                } catch (Exception refusal) {
                    refused.complete(refusal);
                }
            });
            closed.close();
            Actor.await("it is lost", () -> !lock.isHeldByCurrentThread());
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertThat(Actor.get(refused)).isInstanceOf(LockUnavailableException.class);
        }
    }

    @Test
    void aKeyOfAnotherApplicationAmongSeveralIsLeftAloneAndNoneIsHeld() {
        List<String> names = List.of(name + " a", name + " b", name + " c");
        server.command("SET", "lock:" + name + " b", "theirs");
        Lock all = one.allOf(names);
        assertThat(all.tryLock()).isFalse();
        assertThat(server.command("GET", "lock:" + name + " b")).isEqualTo("theirs");
        assertThat(List.of(
                        other.get(name + " a").isLocked(),
                        other.get(name + " c").isLocked()))
                .containsOnly(false);
        server.command("DEL", "lock:" + name + " b");
        assertThat(all.tryLock()).isTrue();
        all.unlock();
    }

    @Test
    void aThousandAndMoreAreAcquiredAtOnce() {
        Lock all = one.allOf(
                IntStream.range(0, 1_001).mapToObj(i -> name + " " + i).toList());
        all.lock();
        assertThat(other.get(name + " 1000").tryLock()).isFalse();
        all.unlock();
        assertThat(other.get(name + " 1000").isLocked()).isFalse();
    }

    /** An instance that holds the lock and renews it. */
    private RedisLockRegistry holder(LockOptions kind) throws Exception {
        RedisLockRegistry holder = registries.connected();
        assertThat(holder.get(name, kind.withTtl(LockOptions.MIN_TTL)).tryLock(5, TimeUnit.SECONDS))
                .isTrue();
        return holder;
    }
}
