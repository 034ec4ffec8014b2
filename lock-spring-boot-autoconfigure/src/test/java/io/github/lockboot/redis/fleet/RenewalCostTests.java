package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RenewalCostTests {

    private static final int LOCKS = 1_000;
    private static final int SECONDS = 20;

    private final Fleet fleet = new Fleet();

    @AfterEach
    void stop() {
        fleet.close();
    }

    @Test
    void aThousandIdleLocksCostAHundredRenewalsASecond() throws Exception {
        TcpProxy proxy = fleet.proxy();
        RedisLockRegistry registry = fleet.registry(proxy, Fleet.ttl(Duration.ofSeconds(30)));
        List<CompletableFuture<Lease>> held = new ArrayList<>();
        for (int i = 0; i < LOCKS; i++) {
            held.add(registry.acquireAsync("idle-" + i, LockOptions.defaults()));
        }
        for (CompletableFuture<Lease> lease : held) {
            Actor.get(lease);
        }
        Actor.await("each was renewed, so that Redis tracks it", () -> calls("client|caching") >= LOCKS);
        fleet.server().command("CONFIG", "RESETSTAT");
        long chunks = proxy.requestChunks();
        long start = System.nanoTime();
        Actor.pass(Duration.ofSeconds(SECONDS)); // nothing happens but renewals, which are what is counted
        long renewals = calls("evalsha");
        long roundTrips = proxy.requestChunks() - chunks;
        long seconds = Figures.millisSince(start) / 1_000 + 1;
        Figures.report(
                "%d idle locks, ttl 30 s: %d renewals in %d s, in %d pieces", LOCKS, renewals, SECONDS, roundTrips);
        assertThat(renewals).isBetween((long) LOCKS, 110L * seconds);
        assertThat(calls("client|caching")).isLessThanOrEqualTo(110L * seconds);
        assertThat(calls("client|tracking")).isZero();
        for (CompletableFuture<Lease> lease : held) {
            assertThat(lease.join().isValid()).isTrue();
            lease.join().close();
        }
        fleet.awaitNothingLeft();
    }

    private long calls(String command) {
        try (RedisProbe probe = fleet.server().probe()) {
            return probe.commandCalls().getOrDefault(command, 0L);
        }
    }
}
