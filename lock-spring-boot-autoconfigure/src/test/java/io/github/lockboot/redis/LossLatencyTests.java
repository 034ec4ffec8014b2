package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisClock;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long a holder believes in a lock that Redis has lost. It measures, so it runs only when asked for: see
 * {@code docs/evidence/reliability.md}.
 */
@Tag("loss-latency")
class LossLatencyTests {

    private static final int RUNS = Integer.getInteger("runs", 100);
    private static final LockOptions OPTIONS = LockOptions.defaults().withTtl(Duration.ofSeconds(30));

    private interface Harm {
        void on(RedisServer server, RedisClock clock, String key, int run);
    }

    /** Loses locks, and measures how long their holders do not know. */
    private interface Measurement {
        long[] micros(Harm harm) throws Exception;
    }

    private static Map<String, Harm> harms() {
        Map<String, Harm> harms = new LinkedHashMap<>();
        harms.put("DEL", (server, clock, key, run) -> server.command("DEL", key));
        harms.put("FLUSHALL", (server, clock, key, run) -> server.command("FLUSHALL"));
        harms.put("RENAME", (server, clock, key, run) -> server.command("RENAME", key, "old"));
        harms.put("eviction", (server, clock, key, run) -> {
            server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            server.command("CONFIG", "SET", "maxmemory", "1");
            server.command("CONFIG", "SET", "maxmemory", "0");
        });
        harms.put(
                "the clock of Redis 60 s forward",
                (server, clock, key, run) -> clock.step(Duration.ofMinutes(run + 1)));
        return harms;
    }

    /** All harms side by side. {@return for each the share of losses that were known within 100 ms} */
    private static Map<String, Double> measure(Measurement measurement) throws Exception {
        List<Actor> actors = new ArrayList<>();
        Map<String, CompletableFuture<long[]>> measured = new LinkedHashMap<>();
        harms().forEach((what, harm) -> {
            Actor actor = new Actor();
            actors.add(actor);
            measured.put(what, actor.start(() -> measurement.micros(harm)));
        });
        Map<String, Double> soon = new LinkedHashMap<>();
        for (Map.Entry<String, CompletableFuture<long[]>> each : measured.entrySet()) {
            long[] micros = each.getValue().get(30, TimeUnit.MINUTES);
            int runs = micros.length;
            Arrays.sort(micros);
            long within = Arrays.stream(micros).filter(time -> time <= 100_000).count();
            soon.put(each.getKey(), (double) within / runs);
            Figures.report(
                    "a loss by %s is known after (ms): median %.1f, 95 %% %.1f, worst %.1f; within 100 ms in %d of %d",
                    each.getKey(),
                    micros[runs / 2] / 1e3,
                    micros[runs * 95 / 100 - 1] / 1e3,
                    micros[runs - 1] / 1e3,
                    within,
                    runs);
        }
        actors.forEach(Actor::close);
        return soon;
    }

    @Test
    void aLossIsKnownWithin100MillisecondsInMostRuns() throws Exception {
        assertThat(measure(LossLatencyTests::micros))
                .allSatisfy((what, soon) -> assertThat(soon).as(what).isGreaterThanOrEqualTo(0.95));
    }

    @Test
    void withoutAnnouncementsALossIsKnownAtTheNextRenewal() throws Exception {
        assertThat(measure(LossLatencyTests::microsUntilRenewed))
                .allSatisfy((what, soon) -> assertThat(soon).as(what).isLessThan(0.5));
    }

    /**
     * Over RESP2, which has no announcements. Twenty locks are taken half a second apart, so that their renewals are,
     * too.
     */
    private static long[] microsUntilRenewed(Harm harm) throws Exception {
        LettuceClientConfiguration resp2 = LettuceClientConfiguration.builder()
                .clientOptions(ClientOptions.builder()
                        .protocolVersion(ProtocolVersion.RESP2)
                        .build())
                .build();
        try (RedisClock clock = RedisClock.of(RedisBinary.find()).orElseThrow();
                RedisServer server =
                        RedisServer.builder().binary(clock.program()).start();
                TestRegistries registries =
                        TestRegistries.on(new RedisStandaloneConfiguration(server.host(), server.port()), resp2)) {
            RedisLockRegistry registry = registries.connected();
            List<CompletableFuture<Long>> lost = new ArrayList<>();
            List<Lease> held = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                CompletableFuture<Long> known = new CompletableFuture<>();
                Lease lease = Actor.get(registry.acquireAsync("held-" + i, OPTIONS));
                lease.onLost(() -> known.complete(System.nanoTime()));
                held.add(lease);
                lost.add(known);
                Actor.pass(Duration.ofMillis(500));
            }
            long begin = System.nanoTime();
            for (int i = 0; i < lost.size(); i++) {
                harm.on(server, clock, "lock:held-" + i, i);
            }
            long[] micros = new long[lost.size()];
            for (int i = 0; i < micros.length; i++) {
                micros[i] = TimeUnit.NANOSECONDS.toMicros(lost.get(i).get(1, TimeUnit.MINUTES) - begin);
            }
            assertThat(held).noneMatch(Lease::isValid);
            return micros;
        }
    }

    private static long[] micros(Harm harm) throws Exception {
        long[] micros = new long[RUNS];
        try (RedisClock clock = RedisClock.of(RedisBinary.find()).orElseThrow();
                RedisServer server =
                        RedisServer.builder().binary(clock.program()).start();
                TestRegistries registries = TestRegistries.on(server);
                RedisProbe probe = server.probe()) {
            RedisLockRegistry registry = registries.connected();
            for (int run = 0; run < RUNS; run++) {
                probe.command("FLUSHALL"); // the renewal that found the loss before read the key, too
                Lease lease = Actor.get(registry.acquireAsync("held", OPTIONS));
                CompletableFuture<Long> lost = new CompletableFuture<>();
                lease.onLost(() -> lost.complete(System.nanoTime()));
                Actor.await(
                        "it is tracked",
                        () -> probe.info("stats").get("tracking_total_keys").equals("1"));
                Actor.pass(Duration.ofMillis(20 + run));
                assertThat(lease.isValid()).isTrue();
                long begin = System.nanoTime();
                harm.on(server, clock, "lock:held", run);
                micros[run] = TimeUnit.NANOSECONDS.toMicros(Actor.get(lost) - begin);
            }
        }
        return micros;
    }
}
