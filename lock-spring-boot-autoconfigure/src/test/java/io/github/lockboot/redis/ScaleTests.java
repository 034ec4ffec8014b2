package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Heap;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a lock takes of the network and of memory: the figures that docs/evidence/scale.md multiplies. {@link Figures}
 * has them all.
 */
@Tag("full")
class ScaleTests extends OnOneServer {

    private static final int MANY = 10_000;
    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(10));

    /** @param traffic {@code input} or {@code output}, as Redis sees it */
    private long bytes(String traffic) {
        return Long.parseLong(probe.info("stats").get("total_net_" + traffic + "_bytes"));
    }

    private long length(String key) {
        return (Long) probe.command("STRLEN", key);
    }

    private long memory(String key) {
        return (Long) probe.command("MEMORY", "USAGE", key);
    }

    @Test
    void aHoldIsFiveHundredBytesToRedisAndAHundredBack() {
        NamedLock lock = registries.connected().get("order:0000000042");
        long input = bytes("input");
        long output = bytes("output");
        for (int i = 0; i < MANY; i++) {
            lock.lock();
            lock.unlock();
        }
        double in = (double) (bytes("input") - input) / MANY;
        double out = (double) (bytes("output") - output) / MANY;
        Figures.report("a hold, uncontended: %.0f bytes to Redis, %.0f bytes from Redis", in, out);
        assertThat(in).isBetween(460.0, 490.0); // the digits of the ids grow
        assertThat(out).isBetween(75.0, 85.0);
    }

    @Test
    void aHandOverToAnotherInstanceIsACommandAndAMessage() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int instance = 0; instance < 2; instance++) {
            RedisLockRegistry registry = registries.registry(builder -> builder.localHandoffLimit(0));
            Actor.await("connected", () -> TestRegistries.canLock(registry, "connecting"));
            NamedLock lock = registry.get("order:0000000042");
            for (int thread = 0; thread < 2; thread++) { // one of them waits while the other holds
                all.add(actor().begin(() -> {
                    while (!enough.get()) {
                        lock.lock();
                        lock.unlock();
                    }
                }));
            }
        }
        Actor.await("both are subscribed and take turns", () -> messages() > 100);
        probe.command("CONFIG", "RESETSTAT");
        Actor.pass(Duration.ofSeconds(3)); // in which nothing but hand-overs happens, which are what is counted
        enough.set(true);
        for (CompletableFuture<Void> each : all) {
            Actor.get(each);
        }
        long in = bytes("input");
        long out = bytes("output");
        double handOvers = messages();
        double commands = probe.commandCalls().get("evalsha");
        Figures.report(
                "a hand-over to another instance: %.2f commands, %.0f bytes to Redis, %.0f bytes from Redis",
                commands / handOvers, in / handOvers, out / handOvers);
        assertThat(handOvers).isPositive();
        assertThat(commands / handOvers).isBetween(0.9, 1.2);
    }

    @Test
    void theTextOfALockGrowsByEightyBytesForEachInstanceThatWaits() throws Exception {
        NamedLock held = registries.connected().get("text");
        held.lock();
        List<Long> lengths = new ArrayList<>(List.of(length("lock:text")));
        List<Long> memories = new ArrayList<>(List.of(memory("lock:text")));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 1; i <= 10; i++) {
            waiting.add(registries.connected().acquireAsync("text", PATIENT));
            int instances = i;
            Actor.await(
                    "it waits", () -> StoredLock.at(probe, "lock:text").queue().size() == instances);
            lengths.add(length("lock:text"));
            memories.add(memory("lock:text"));
        }
        Figures.report("the text of a lock with 0 to 10 waiters: %s bytes; MEMORY USAGE: %s", lengths, memories);
        long each = (lengths.get(10) - lengths.get(1)) / 9;
        assertThat(lengths.get(0)).isBetween(100L, 110L);
        assertThat(lengths.get(1) - lengths.get(0)).isBetween(95L, 100L); // with the times before the queue
        assertThat(each).isBetween(75L, 80L);
        held.unlock();
        for (CompletableFuture<Lease> lease : waiting) {
            Actor.get(lease).close();
        }
    }

    @Test
    void aHeldNameTakesMemoryAndAnIdleOneNone() throws Exception {
        RedisLockRegistry registry = registries.connected();
        List<Lease> held = new ArrayList<>(MANY);
        long heap = Heap.reachable();
        long redis = usedMemory();
        for (int i = 0; i < MANY; i++) {
            held.add(registry.acquire("name-" + i, PATIENT.withTtl(Duration.ofMinutes(10))));
        }
        long heapEach = (Heap.reachable() - heap) / MANY;
        long redisEach = (usedMemory() - redis) / MANY;
        Figures.report(
                "a held name: %d bytes of heap in its JVM, %d bytes of memory in Redis, MEMORY USAGE %d",
                heapEach, redisEach, memory("lock:name-1234"));
        assertThat(heapEach).isLessThan(2_000);
        assertThat(redisEach).isLessThan(500); // a key that Redis tracks is noted besides
        held.forEach(Lease::close);
        held.clear();
        Actor.await("no key is left", () -> probe.command("DBSIZE").equals(0L));
        Actor.await("all answers are here", () -> registry.inspector().inUse() == 0);
        long idle = (Heap.reachable() - heap) / MANY;
        Figures.report("a name that was used and is not any more: %d bytes of heap", idle);
        assertThat(idle).isLessThan(100); // what grew once and is empty
    }

    @Test
    void aWaiterTakesHeapInItsJvmAndNothingInRedisBesideTheFirst() throws Exception {
        NamedLock held = registries.connected().get("waited for");
        held.lock();
        RedisLockRegistry registry = registries.connected();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>(MANY);
        waiting.add(registry.acquireAsync("waited for", PATIENT));
        Actor.await(
                "it waits",
                () -> StoredLock.at(probe, "lock:waited for").queue().size() == 1);
        long length = length("lock:waited for");
        long heap = Heap.reachable();
        for (int i = 0; i < MANY; i++) {
            waiting.add(registry.acquireAsync("waited for", PATIENT));
        }
        long each = (Heap.reachable() - heap) / MANY;
        Figures.report("a future that waits: %d bytes of heap in its JVM", each);
        assertThat(each).isLessThan(1_000);
        assertThat(length("lock:waited for")).isEqualTo(length);
        waiting.forEach(future -> future.cancel(false));
        held.unlock();
    }

    @Test
    void anInstanceHasTwoConnectionsAndOneChannel() throws Exception {
        int instances = 20;
        long connections = connections();
        long redis = usedMemory();
        for (int i = 0; i < instances; i++) {
            Actor.get(registries.connected().connect());
        }
        Actor.await("all listen", () -> ((List<?>) probe.command("PUBSUB", "CHANNELS", "*")).size() == instances);
        Actor.pass(Duration.ofSeconds(15)); // Redis takes back buffers that are not used
        Figures.report(
                "an instance: %.1f connections, %d bytes of memory in Redis for them",
                (double) (connections() - connections) / instances, (usedMemory() - redis) / instances);
        assertThat(connections() - connections).isEqualTo(2L * instances);
    }

    private long connections() {
        return Long.parseLong(probe.info("clients").get("connected_clients"));
    }

    private long usedMemory() {
        return Long.parseLong(probe.info("memory").get("used_memory"));
    }
}
