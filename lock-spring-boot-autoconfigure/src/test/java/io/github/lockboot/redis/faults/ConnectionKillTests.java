package io.github.lockboot.redis.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.faults.Event.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Every connection is cut again and again, with commands in flight that Lettuce then sends a second time. */
class ConnectionKillTests {

    private static final Duration TIME = Duration.ofSeconds(10);
    private static final int LOCKS = 2;

    private final Fleet fleet = new Fleet();
    private final EventLog log = new EventLog();
    private final ScheduledExecutorService background = Executors.newScheduledThreadPool(2);

    @AfterEach
    void stop() {
        background.shutdownNow();
        fleet.close();
    }

    @Test
    void noGrantIsExecutedTwiceAndNothingIsLeft(@TempDir Path folder) throws Exception {
        Counters counters = Counters.in(folder.resolve("counters"), LOCKS);
        List<CompletableFuture<long[]>> loads = new ArrayList<>();
        for (int r = 0; r < 3; r++) {
            RedisLockRegistry registry = fleet.registry(Fleet.ttl(Duration.ofSeconds(5)));
            for (int t = 0; t < 3; t++) {
                Participant participant = new Participant(registry, r + "/" + t, log);
                Load load = new Load(participant, counters, LOCKS, 3 * r + t, background);
                loads.add(fleet.actor().start(() -> load.run(TIME)));
            }
        }
        try (RedisProbe probe = fleet.server().probe()) {
            long connections = clients(probe);
            background.scheduleWithFixedDelay(
                    () -> {
                        probe.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
                        probe.command("CLIENT", "KILL", "TYPE", "pubsub");
                    },
                    200,
                    200,
                    TimeUnit.MILLISECONDS);
            long[] counted = new long[LOCKS];
            for (CompletableFuture<long[]> load : loads) {
                long[] own = load.get(TIME.toSeconds() + 30, TimeUnit.SECONDS);
                for (int i = 0; i < LOCKS; i++) {
                    counted[i] += own[i];
                }
            }
            background.shutdown();
            assertThat(background.awaitTermination(5, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < LOCKS; i++) {
                assertThat(counters.get(i)).as("counter of " + Load.lock(i)).isEqualTo(counted[i]);
            }
            fleet.awaitNothingLeft();
            assertThat(clients(probe)).isLessThanOrEqualTo(connections + 3);
        }
        Figures.report(
                "CLIENT KILL every 200 ms for %d s: %d grants, %d lost",
                TIME.toSeconds(), log.count(Kind.GRANTED), log.count(Kind.LOST));
        assertThat(HistoryChecker.violationsOf(log.events())).isEmpty();
        assertThat(log.count(Kind.GRANTED)).isGreaterThan(100);
        assertThat(log.count(Kind.LOST))
                .as("losses invented by a command sent twice")
                .isZero();
    }

    private static long clients(RedisProbe probe) {
        return String.valueOf(probe.command("CLIENT", "LIST")).lines().count();
    }
}
