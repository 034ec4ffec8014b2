package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two key prefixes of which one begins with the other: {@code x:a} under {@code lock:} is {@code a} under
 * {@code lock:x:}.
 */
class NestedPrefixTests {

    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(1));

    private final RedisServer server = RedisServer.start();
    private final TestRegistries registries = TestRegistries.on(server);
    private final RedisLockRegistry outer = registries.registry();
    private final RedisLockRegistry inner = registries.registry(builder -> builder.keyPrefix("lock:x:"));

    @AfterEach
    void stop() {
        registries.close();
        server.close();
    }

    @Test
    void theirLocksExcludeEachOtherAndAreHandedOverByPolls() throws Exception {
        for (RedisLockRegistry registry : new RedisLockRegistry[] {outer, inner}) {
            Actor.get(registry.connect());
        }
        pass(outer, "x:a", inner, "a");
        pass(inner, "a", outer, "x:a");
        Actor.await(
                "nothing is left",
                () -> outer.inspector().inUse() + inner.inspector().inUse() == 0);
        assertThat(server.command("DBSIZE")).isEqualTo(0L);
    }

    private void pass(RedisLockRegistry from, String name, RedisLockRegistry to, String sameName) throws Exception {
        Lease first = from.acquire(name, PATIENT);
        assertThat(to.get(sameName).tryLock()).isFalse();
        CompletableFuture<Lease> next = to.acquireAsync(sameName, PATIENT);
        Actor.await("it waits", () -> StoredLock.at(server, "lock:x:a").isWaitedFor());
        assertThat(next).isNotDone();
        long released = System.nanoTime();
        long token = first.fencingToken();
        first.close();
        Lease second = Actor.get(next);
        Figures.report("a hand-over between nested prefixes: %d ms", Figures.millisSince(released));
        assertThat(second.fencingToken()).isGreaterThan(token);
        assertThat(from.get(name).tryLock()).isFalse();
        second.close();
    }
}
