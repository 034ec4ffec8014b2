package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.NamedReadWriteLock;
import io.github.lockboot.fixture.FakeRedis;
import io.github.lockboot.fixture.FakeRedis.Answer;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.protocol.LiteralKeys;
import io.github.lockboot.redis.protocol.LuaScript;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Behind a proxy that reads the text of each script and refuses keys that are not literally elements of KEYS. */
class ScriptReadingProxyTests {

    private RedisServer server;
    private FakeRedis proxy;
    private TestRegistries registries;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        proxy = FakeRedis.before(server);
        registries = TestRegistries.at(proxy.host(), proxy.port());
    }

    @AfterEach
    void stop() {
        registries.close();
        proxy.close();
        server.close();
    }

    private void refuseScripts() {
        proxy.answer(
                command -> command.get(0).equalsIgnoreCase("EVAL")
                        && !LiteralKeys.refused(command.get(1)).isEmpty(),
                Answer.error(LiteralKeys.REFUSAL),
                FakeRedis.FOR_EVER);
    }

    @Test
    void theSelfCheckFindsNothing() {
        refuseScripts();
        assertThat(registries.registry().check().join()).isEmpty();
        assertThat(proxy.answered()).isEmpty();
    }

    @Test
    void aValueWithATokenIsWritten() {
        refuseScripts();
        new RedisFence(registries.connectionFactory()).set("price", "7", 1, Duration.ofMinutes(1));
        assertThat(server.command("HGET", "price", "value")).isEqualTo("7");
    }

    @Test
    void locksOfAllKindsAreHandedOverRenewedAndReleased() throws Exception {
        refuseScripts();
        RedisLockRegistry one = registries.connected();
        RedisLockRegistry other = registries.connected();
        LockOptions options = LockOptions.defaults().withTtl(Duration.ofSeconds(9));
        for (LockOptions kind : List.of(options, options.shared(), options.withPermits(2))) {
            Lease lease = Actor.get(one.acquireAsync("a", kind));
            CompletableFuture<Lease> next = other.acquireAsync("a", options);
            Actor.awaitRenewals(1, lease::remainingLease);
            assertThat(lease.isValid()).isTrue();
            lease.close();
            Actor.get(next).close();
        }
        NamedReadWriteLock both = one.readWrite("a");
        both.writeLock().lock();
        both.readLock().lock();
        both.writeLock().unlock();
        both.readLock().unlock();
        assertThat(proxy.answered()).isEmpty();
        Actor.await("nothing stays", () -> server.command("DBSIZE").equals(0L));
    }

    @Test
    void severalLocksAreAcquiredAndReleased() {
        refuseScripts();
        RedisLockRegistry registry = registries.connected();
        Lock both = registry.allOf(List.of("a", "b"));
        NamedLock second = registries.connected().get("b");
        for (int i = 0; i < 3; i++) {
            both.lock();
            assertThat(server.command("EXISTS", "lock:a", "lock:b")).isEqualTo(2L);
            both.unlock();
            assertThat(server.command("EXISTS", "lock:a", "lock:b")).isEqualTo(0L);
        }
        second.lock();
        assertThat(both.tryLock()).isFalse();
        second.unlock();
        assertThat(proxy.answered()).isEmpty();
        Actor.await("nothing stays", () -> server.command("DBSIZE").equals(0L));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                LiteralKeys.REFUSAL,
                "ERR bad lua script for redis cluster, first parameter of redis.call/redis.pcall must be a single literal"
                        + " string"
            })
    void aRefusalOfTheTextIsFoundAsSuch(String refusal) {
        proxy.answer(
                command -> command.get(0).equalsIgnoreCase("EVAL")
                        && command.get(1).equals(LuaScript.ACQUIRE.getScriptAsString()),
                Answer.error(refusal),
                FakeRedis.FOR_EVER);
        assertThat(registries.registry().check().join())
                .containsExactly(new Finding(
                        false,
                        "A proxy in front of Redis rejects the lock scripts (" + refusal + ")",
                        "disable its script check, as script_check_enable=0 does on Alibaba Cloud, or connect to Redis"
                                + " without it"));
    }
}
