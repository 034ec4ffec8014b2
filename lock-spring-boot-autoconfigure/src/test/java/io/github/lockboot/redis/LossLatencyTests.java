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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How long a holder believes in a lock that Redis has lost. It measures, so it runs only when asked for: see {@code
 * docs/reliability.md}.
 */
@Tag("loss-latency")
class LossLatencyTests {

    private static final int RUNS = Integer.getInteger("runs", 100);
    private static final LockOptions OPTIONS = LockOptions.defaults().withTtl(Duration.ofSeconds(30));

    private interface Harm {
        void on(RedisServer server, RedisClock clock, int run);
    }

    @Test
    void aLossIsKnownWithin100MillisecondsInMostRuns() throws Exception {
        Map<String, Harm> harms = new LinkedHashMap<>();
        harms.put("DEL", (server, clock, run) -> server.command("DEL", "lock:held"));
        harms.put("FLUSHALL", (server, clock, run) -> server.command("FLUSHALL"));
        harms.put("RENAME", (server, clock, run) -> server.command("RENAME", "lock:held", "old"));
        harms.put("eviction", (server, clock, run) -> {
            server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            server.command("CONFIG", "SET", "maxmemory", "1");
            server.command("CONFIG", "SET", "maxmemory", "0");
        });
        harms.put("the clock of Redis 60 s forward", (server, clock, run) -> clock.step(Duration.ofMinutes(run + 1)));
        List<Actor> actors = new ArrayList<>();
        Map<String, CompletableFuture<long[]>> measured = new LinkedHashMap<>();
        harms.forEach((what, harm) -> {
            Actor actor = new Actor();
            actors.add(actor);
            measured.put(what, actor.start(() -> micros(harm)));
        });
        for (Map.Entry<String, CompletableFuture<long[]>> each : measured.entrySet()) {
            long[] micros = each.getValue().get(30, TimeUnit.MINUTES);
            Arrays.sort(micros);
            long soon = Arrays.stream(micros).filter(time -> time <= 100_000).count();
            Figures.report(
                    "a loss by %s is known after (ms): median %.1f, 95 %% %.1f, worst %.1f; within 100 ms in %d of %d",
                    each.getKey(),
                    micros[RUNS / 2] / 1e3,
                    micros[RUNS * 95 / 100 - 1] / 1e3,
                    micros[RUNS - 1] / 1e3,
                    soon,
                    RUNS);
            assertThat(soon).as(each.getKey()).isGreaterThanOrEqualTo(RUNS * 95L / 100);
        }
        actors.forEach(Actor::close);
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
                harm.on(server, clock, run);
                micros[run] = TimeUnit.NANOSECONDS.toMicros(Actor.get(lost) - begin);
            }
        }
        return micros;
    }
}
