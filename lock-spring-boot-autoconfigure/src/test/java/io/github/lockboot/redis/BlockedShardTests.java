package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Fuzz;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A Cluster of three masters of which one hangs: the locks of the other two go on. */
@Tag("full")
class BlockedShardTests {

    private static final Duration TTL = Duration.ofSeconds(9);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);
    private static final int LEASES = 50;
    private static final Duration FLOODED_TTL = Duration.ofSeconds(10);
    private static final int FLOODED_LEASES = 2_000;
    private static final int FLOOD = 20_000;

    private static RedisCluster cluster;

    private TestRegistries registries;
    private RedisLockRegistry one;
    private RedisLockRegistry other;
    private RedisServer blocked;

    @BeforeAll
    static void startCluster() {
        cluster = RedisCluster.start(0, server -> server.args("--cluster-require-full-coverage", "no"));
    }

    @AfterAll
    static void stopCluster() {
        cluster.close();
    }

    @BeforeEach
    void start() {
        registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
        one = registries.registry(this::quick);
        other = registries.registry(this::quick);
        blocked = cluster.servers().get(1);
        for (int shard = 0; shard < 3; shard++) {
            String name = nameOn(cluster.servers().get(shard), "connect");
            for (RedisLockRegistry registry : List.of(one, other)) {
                Actor.await("connected", () -> {
                    NamedLock lock = registry.get(name);
                    try {
                        lock.lock();
                        lock.unlock();
                        return true;
                    } catch (LockUnavailableException notYet) {
                        return false;
                    }
                });
            }
        }
    }

    private RedisLockRegistry.Builder quick(RedisLockRegistry.Builder builder) {
        return builder.commandTimeout(COMMAND_TIMEOUT)
                .defaults(LockOptions.defaults().withTtl(TTL));
    }

    @AfterEach
    void stop() {
        blocked.resume();
        Actor.await(
                "nothing in use",
                () -> one.inspector().inUse() + other.inspector().inUse() == 0);
        registries.close();
        cluster.servers()
                .forEach(server -> Actor.await(
                        "no key is left", () -> server.command("DBSIZE").equals(0L)));
    }

    private static String nameOn(RedisServer shard, String prefix) {
        for (int i = 0; ; i++) {
            String name = prefix + "-" + i;
            if (cluster.ownerOf("lock:" + name) == shard) {
                return name;
            }
        }
    }

    private List<String> healthyNames(String prefix) {
        return cluster.servers().stream()
                .filter(shard -> shard != blocked)
                .map(shard -> nameOn(shard, prefix))
                .toList();
    }

    @Test
    void leasesOfHealthyShardsAreRenewedAndTheirLocksHandedOver() throws Exception {
        AtomicInteger losses = new AtomicInteger();
        List<Lease> held = new ArrayList<>();
        for (String name : healthyNames("held")) {
            Lease lease = one.acquire(name, LockOptions.defaults());
            lease.onLost(losses::incrementAndGet);
            held.add(lease);
        }
        List<Lease> lost = new ArrayList<>();
        for (int i = 0; i < LEASES; i++) {
            lost.add(one.acquire(nameOn(blocked, "stuck-" + i), LockOptions.defaults()));
        }
        blocked.pause();
        long end = System.nanoTime() + TTL.multipliedBy(2).toNanos();
        int handovers = 0;
        long longest = 0;
        while (System.nanoTime() - end < 0) {
            for (String name : healthyNames("passed")) {
                Lease mine = one.acquire(name, LockOptions.defaults());
                CompletableFuture<Lease> next = other.acquireAsync(name, LockOptions.defaults());
                Actor.await(
                        "queued",
                        () -> StoredLock.at(cluster.ownerOf("lock:" + name), "lock:" + name)
                                .isWaitedFor());
                long released = System.nanoTime();
                mine.close();
                Actor.get(next).close();
                longest = Math.max(longest, Figures.millisSince(released));
                handovers++;
            }
            assertThat(held)
                    .allSatisfy(lease -> assertThat(lease.remainingLease()).isGreaterThan(TTL.dividedBy(3)));
        }
        Figures.report(
                "one of three shards blocked for %d s: %d leases renewed, %d hand-overs on the others, longest %d ms",
                TTL.multipliedBy(2).toSeconds(), held.size(), handovers, longest);
        assertThat(losses).hasValue(0);
        assertThat(lost).noneMatch(Lease::isValid);
        NamedLock stuck = one.get(nameOn(blocked, "new"));
        long start = System.nanoTime();
        assertThatThrownBy(() -> stuck.tryLock(100, TimeUnit.MILLISECONDS))
                .isInstanceOf(LockUnavailableException.class);
        assertThat(Figures.millisSince(start)).isLessThan(COMMAND_TIMEOUT.toMillis() + 10_000);
        held.forEach(Lease::close);
        blocked.resume();
        Actor.await("the shard's locks work again", () -> {
            try {
                return stuck.tryLock();
            } catch (LockUnavailableException notYet) {
                return false;
            }
        });
        stuck.unlock();
    }

    /** Beginnings of names, each of another slot. */
    private static List<String> tagsOf(Predicate<RedisServer> shards) {
        return IntStream.range(0, 300)
                .mapToObj(i -> "{" + i + "}")
                .filter(tag -> shards.test(cluster.ownerOf("lock:" + tag)))
                .toList();
    }

    /** Each request for it waits for a connection, and none for the others may wait for them. */
    @Test
    void aFloodForTheBlockedShardLosesNoLeaseOfTheHealthyOnes() throws Exception {
        LockOptions options = LockOptions.defaults().withTtl(FLOODED_TTL);
        AtomicInteger losses = new AtomicInteger();
        List<Lease> held = new ArrayList<>();
        List<String> healthy = tagsOf(shard -> shard != blocked);
        List<String> dead = tagsOf(shard -> shard == blocked);
        for (int i = 0; i < FLOODED_LEASES; i++) {
            Lease lease = one.acquire(healthy.get(i % healthy.size()) + "-" + i, options);
            lease.onLost(losses::incrementAndGet);
            held.add(lease);
        }
        blocked.pause();
        Actor.await("there is no connection to it", () -> {
            String failure = Assertions.catchThrowable(
                            () -> one.get(nameOn(blocked, "new")).tryLock())
                    .getMessage();
            return failure.contains("no connection to Redis") || failure.contains("the connection was lost");
        });
        List<CompletableFuture<Lease>> flood = new ArrayList<>();
        long end = System.nanoTime() + FLOODED_TTL.plusSeconds(5).toNanos();
        for (int i = 0; i < FLOOD; i++) {
            String name = dead.get(i % dead.size()) + "-" + i;
            flood.add(one.acquireAsync(name, options.withWaitTime(Duration.ofMinutes(1))));
        }
        int holds = 0;
        while (System.nanoTime() - end < 0) {
            for (String name : healthyNames("passing")) {
                one.acquire(name, options).close();
                holds++;
            }
        }
        Figures.report(
                "%d requests for a shard that hangs, %d leases on the others for longer than their ttl: %d lost, and %d holds",
                FLOOD, FLOODED_LEASES, losses.get(), holds);
        assertThat(losses).hasValue(0);
        assertThat(held).allMatch(Lease::isValid);
        flood.forEach(each -> each.cancel(false));
        held.forEach(Lease::close);
    }

    @Test
    void hashTagsInNamesAreLikeAnyOtherCharacters() {
        Fuzz.times(2_000, "names with hash tags on a Cluster", fuzz -> {
            String name = fuzz.oneOf("{", "}", "{}", "{a}", "a{b}c", "{{", "}{", "x")
                    + fuzz.below(1_000)
                    + fuzz.oneOf("{", "}", "{}", "{b}", "", "{\r\n}");
            NamedLock lock = one.get(name);
            if (!lock.tryLock() || other.get(name).tryLock()) {
                throw new AssertionError("not exclusive: " + name);
            }
            lock.unlock();
        });
    }
}
