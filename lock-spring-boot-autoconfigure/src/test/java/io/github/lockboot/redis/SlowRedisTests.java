package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What callers are told where Redis answers, but late. */
class SlowRedisTests {

    private static final LockOptions SHORT =
            LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withWaitTime(Duration.ZERO);

    private RedisServer server;
    private TcpProxy proxy;
    private TestRegistries behind;
    private TestRegistries near;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        proxy = TcpProxy.to(server);
        behind = TestRegistries.at(proxy.host(), proxy.port());
        near = TestRegistries.on(server);
    }

    @AfterEach
    void stop() {
        behind.close();
        near.close();
        proxy.close();
        server.close();
    }

    @Test
    void aFreeLockWhoseAnswerTakesLongerThanItsLeaseIsNotToldAsHeldByAnother() {
        RedisLockRegistry slow = behind.registry(builder -> builder.commandTimeout(Duration.ofSeconds(20)));
        Actor.await("connected", () -> TestRegistries.canLock(slow, "connecting"));
        proxy.delay(Duration.ofMillis(800)); // one way
        NamedLock lock = slow.get("free", SHORT);
        assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(lock::tryLock);
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> lock.tryLock(2, TimeUnit.SECONDS))
                .withMessageContaining("Redis granted the lock, but too late");
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> new LockTemplate(slow).execute("free too", SHORT, () -> "ran"));
        proxy.pass();
    }

    /** Redis may grant it the lock until it has the cancel, which passes the lock on. */
    @Test
    void aWaiterThatHasJustGivenUpMayBeGrantedTheLockUntilRedisHasItsCancel() throws Exception {
        RedisLockRegistry far = behind.connected();
        RedisLockRegistry here = near.connected();
        Lease held = here.acquire("moment");
        NamedLock waiting = far.get("moment");
        try (Actor actor = new Actor()) {
            CompletableFuture<Boolean> acquired = actor.start(() -> waiting.tryLock(5, TimeUnit.SECONDS));
            Actor.await("it waits", () -> StoredLock.at(server, "lock:moment").isWaitedFor());
            proxy.delay(Duration.ofSeconds(5)); // so the cancel comes long after the two calls below
            assertThat(Actor.get(acquired)).isFalse();
            held.close();
            assertThat(here.get("moment").tryLock()).as("nobody holds it").isFalse();
        }
        assertThat(here.get("moment").tryLock(1, TimeUnit.MINUTES))
                .as("it passes on as soon as Redis has the cancel")
                .isTrue();
        here.get("moment").unlock();
        proxy.pass();
    }
}
