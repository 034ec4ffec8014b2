package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NothingStaysTests {

    private static final int NAMES = 100_000;
    private static final int THREADS = 8;

    private final Fleet fleet = new Fleet();

    @AfterEach
    void stop() {
        fleet.close();
    }

    @Test
    void aHundredThousandNamesUsedOnceLeaveNothingBehind() throws Exception {
        RedisLockRegistry registry = fleet.registry();
        List<Actor> actors = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            actors.add(fleet.actor());
            actors.get(t).run(() -> {});
        }
        Set<Thread> before = threads("lock-", "lettuce-");
        Object channels = fleet.server().command("PUBSUB", "CHANNELS", "*");
        List<CompletableFuture<Void>> runs = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            int first = t;
            runs.add(actors.get(t).begin(() -> {
                for (int i = first; i < NAMES; i += THREADS) {
                    NamedLock lock = registry.get("name-" + i);
                    lock.lock();
                    lock.unlock();
                }
            }));
        }
        for (CompletableFuture<Void> run : runs) {
            run.get(120, TimeUnit.SECONDS);
        }
        fleet.awaitNothingLeft();
        assertThat(fleet.server().command("PUBSUB", "CHANNELS", "*")).isEqualTo(channels);
        awaitGone(before, "lock-", "lettuce-");
    }

    @Test
    void aRegistryClosedWhileItSubscribesInVainLeavesNoThread() throws Exception {
        Set<Thread> before = threads("lock-");
        TcpProxy proxy = fleet.proxy();
        RedisLockRegistry closed = fleet.registry(proxy, builder -> builder.commandTimeout(Duration.ofSeconds(4)));
        Actor.get(closed.acquireAsync("x", LockOptions.defaults()));
        proxy.swallowReplies();
        CompletableFuture<?> second = closed.acquireAsync(
                "x", LockOptions.defaults().withWaitTime(Duration.ofMinutes(10))); // the first wait: it subscribes
        Actor.await("subscribing", () -> proxy.connections() > 1);
        closed.close();
        assertThat(second).failsWithin(Duration.ofSeconds(30));
        awaitGone(before, "lock-");
    }

    @Test
    void whoWaitedInAClosedRegistryDoesNotDelayTheNext() throws Exception {
        NamedLock held = fleet.registry().get("x");
        Actor holder = fleet.holder(held);
        RedisLockRegistry leaving = fleet.registry();
        CompletableFuture<?> lease =
                leaving.acquireAsync("x", LockOptions.defaults().withWaitTime(Duration.ofSeconds(30)));
        fleet.awaitQueued("x", 1);
        NamedLock wanted = fleet.registry().get("x");
        Actor next = fleet.actor();
        CompletableFuture<Void> served = next.begin(wanted::lock);
        fleet.awaitQueued("x", 2);
        leaving.close();
        long released = System.nanoTime();
        holder.run(held::unlock);
        Actor.get(served);
        assertThat(Figures.millisSince(released)).as("less than a claim lease").isLessThan(5_000);
        assertThat(lease).isCompletedExceptionally();
        next.run(wanted::unlock);
    }

    @Test
    void aClosedRegistryRefusesInsteadOfHanging() {
        RedisLockRegistry closed = fleet.registry();
        closed.close();
        assertThat(closed.acquireAsync("x", LockOptions.defaults()))
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .withMessageContaining("closing");
    }

    private static void awaitGone(Set<Thread> before, String... prefixes) {
        Supplier<Set<Thread>> more = () -> {
            Set<Thread> threads = threads(prefixes);
            threads.removeAll(before);
            return threads;
        };
        Await.until(
                Duration.ofMinutes(1),
                () -> more.get().isEmpty(),
                () -> "threads stay: "
                        + more.get().stream()
                                .map(thread -> thread + " " + List.of(thread.getStackTrace()))
                                .toList());
    }

    private static Set<Thread> threads(String... prefixes) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> Stream.of(prefixes).anyMatch(thread.getName()::startsWith))
                .collect(Collectors.toSet());
    }
}
