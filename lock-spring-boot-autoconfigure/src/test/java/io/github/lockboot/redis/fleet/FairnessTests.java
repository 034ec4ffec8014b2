package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** With a local hand-off limit of 0 the order of the grants is the order of the queue in Redis. */
class FairnessTests {

    private static final int REGISTRIES = 5;

    private final Fleet fleet = new Fleet();
    private final List<RedisLockRegistry> all = new ArrayList<>();
    private final Queue<String> grants = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void start() {
        for (int i = 0; i < REGISTRIES; i++) {
            all.add(GrantChannels.open(fleet.registry(builder -> builder.localHandoffLimit(0))));
        }
    }

    @AfterEach
    void stop() {
        fleet.close();
    }

    private CompletableFuture<Void> lockOnce(RedisLockRegistry registry, String who) {
        NamedLock lock = registry.get("fair");
        return fleet.actor().begin(() -> {
            lock.lock();
            grants.add(who);
            lock.unlock();
        });
    }

    @Test
    void registriesAreServedInTheOrderTheyQueued() throws Exception {
        RedisLockRegistry first = fleet.registry();
        for (int round = 0; round < 10; round++) {
            grants.clear();
            Actor holder = fleet.holder(first.get("fair"));
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, REGISTRIES).boxed().toList());
            Collections.shuffle(order, new Random(round));
            List<CompletableFuture<Void>> runs = new ArrayList<>();
            for (int i = 0; i < REGISTRIES; i++) {
                runs.add(lockOnce(all.get(order.get(i)), "" + order.get(i)));
                fleet.awaitQueued("fair", i + 1);
            }
            holder.run(first.get("fair")::unlock);
            for (CompletableFuture<Void> run : runs) {
                Actor.get(run);
            }
            assertThat(grants)
                    .containsExactlyElementsOf(
                            order.stream().map(String::valueOf).toList());
        }
        fleet.awaitNothingLeft();
    }

    @Test
    void aSecondThreadOfTheHoldersJvmQueuesBehindTheOthers() throws Exception {
        Actor holder = fleet.holder(all.get(0).get("fair"));
        List<CompletableFuture<Void>> runs = new ArrayList<>();
        runs.add(lockOnce(all.get(1), "b"));
        fleet.awaitQueued("fair", 1);
        runs.add(lockOnce(all.get(2), "c"));
        fleet.awaitQueued("fair", 2);
        runs.add(lockOnce(all.get(0), "a2"));
        Actor.pass(Duration.ofMillis(100)); // in memory only: nothing in Redis tells that it waits
        holder.run(all.get(0).get("fair")::unlock);
        for (CompletableFuture<Void> run : runs) {
            Actor.get(run);
        }
        assertThat(grants).containsExactly("b", "c", "a2");
    }
}
