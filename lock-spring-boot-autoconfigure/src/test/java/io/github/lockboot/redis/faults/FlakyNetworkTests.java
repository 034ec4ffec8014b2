package io.github.lockboot.redis.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.faults.Event.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Each JVM has its own bad connection, which loses, delays and cuts at random, so that leases end while they are held. */
class FlakyNetworkTests {

    private static final int JVMS = 3;
    private static final Duration TIME = Duration.ofSeconds(15);

    private final Fleet fleet = new Fleet();
    private final EventLog log = new EventLog();
    private final ScheduledExecutorService background = Executors.newScheduledThreadPool(2);

    @AfterEach
    void stop() {
        background.shutdownNow();
        fleet.close();
    }

    @Test
    void noTwoBelieveToHoldOneLockWhateverTheNetworkDoes(@TempDir Path folder) throws Exception {
        Counters counters = Counters.in(folder.resolve("counters"), 2);
        List<CompletableFuture<?>> runs = new ArrayList<>();
        for (int r = 0; r < JVMS; r++) {
            TcpProxy proxy = fleet.proxy();
            RedisLockRegistry registry = fleet.registry(
                    proxy,
                    builder -> builder.commandTimeout(Duration.ofMillis(400))
                            .retryInterval(Duration.ofMillis(500))
                            .defaults(LockOptions.defaults().withTtl(Duration.ofSeconds(1))));
            for (int t = 0; t < 2; t++) {
                Participant participant = new Participant(registry, r + "/" + t, log);
                Load load =
                        new Load(participant, counters, 2, 10 * r + t, background).holdingUpTo(Duration.ofSeconds(2));
                runs.add(fleet.actor().start(() -> load.run(TIME)));
            }
            Random random = new Random(r);
            runs.add(fleet.actor().begin(() -> trouble(proxy, random)));
        }
        for (CompletableFuture<?> run : runs) {
            run.get(TIME.toSeconds() + 30, TimeUnit.SECONDS);
        }
        Figures.report(
                "flaky network for %d s: %d grants, %d given up, %d lost, %d found not held",
                TIME.toSeconds(),
                log.count(Kind.GRANTED),
                log.count(Kind.FAILED),
                log.count(Kind.LOST),
                log.count(Kind.NOT_HELD));
        assertThat(HistoryChecker.violationsOf(log.events())).isEmpty();
        assertThat(log.count(Kind.GRANTED)).isGreaterThan(100);
        fleet.awaitNothingLeft();
    }

    private static void trouble(TcpProxy proxy, Random random) {
        long end = System.nanoTime() + TIME.toNanos();
        while (System.nanoTime() - end < 0) {
            switch (random.nextInt(5)) {
                case 0 -> proxy.cut();
                case 1 -> proxy.swallowRequests();
                case 2 -> proxy.swallowReplies();
                case 3 -> proxy.delay(Duration.ofMillis(random.nextInt(100)));
                default -> proxy.refuse();
            }
            Actor.pass(Duration.ofMillis(random.nextInt(3) == 0 ? 1_000 + random.nextInt(1_000) : random.nextInt(300)));
            proxy.pass();
            Actor.pass(Duration.ofMillis(random.nextInt(500)));
        }
    }
}
