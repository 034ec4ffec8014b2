package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
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
        long threads = registryThreads();
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
        Actor.await("threads as before", () -> registryThreads() <= threads);
    }

    @Test
    void aRegistryClosedWhileItSubscribesInVainLeavesNoThread() throws Exception {
        TcpProxy proxy = fleet.proxy();
        RedisLockRegistry closed = fleet.registry(proxy, builder -> builder.commandTimeout(Duration.ofMillis(500)));
        Actor.get(closed.acquireAsync("x", LockOptions.defaults()));
        proxy.swallowReplies();
        CompletableFuture<?> second = closed.acquireAsync("x", LockOptions.defaults()); // the first wait: it subscribes
        Actor.await("subscribing", () -> proxy.connections() > 1);
        closed.close();
        assertThat(second).failsWithin(Duration.ofSeconds(1));
        Actor.await("threads gone", () -> threadsNamed("lock-") == 0);
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
                .failsWithin(Duration.ofSeconds(5))
                .withThrowableThat()
                .withMessageContaining("closing");
    }

    private static long registryThreads() {
        return threadsNamed("lock-") + threadsNamed("lettuce-");
    }

    private static long threadsNamed(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .count();
    }
}
