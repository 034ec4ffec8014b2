package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** Another server becomes the master: locks find it, whatever the old one does. */
@Tag("full")
class MasterChangeTests {

    private static final Duration FAILOVER = Duration.ofSeconds(30);

    /** Two command timeouts, a look and a poll, and as much again for a busy machine. */
    private static final Duration FOUND_WITHIN = Duration.ofSeconds(15);

    /** That a master hangs shows only in a command that is not answered in time. */
    private static final UnaryOperator<RedisLockRegistry.Builder> THAT_NOTICES =
            builder -> builder.commandTimeout(Duration.ofSeconds(2));

    private static TestRegistries on(RedisSentinel sentinel) {
        return TestRegistries.on(new RedisSentinelConfiguration(sentinel.masterName(), Set.copyOf(sentinel.nodes())));
    }

    private static TestRegistries on(RedisCluster cluster) {
        return TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
    }

    private static void awaitLocking(RedisLockRegistry registry, String name) {
        long start = System.nanoTime();
        Actor.await("locks again", FOUND_WITHIN, () -> Fleet.canLock(registry, name));
        Figures.report("a new master: lock works %d ms after it is one", Figures.millisSince(start));
    }

    private static String nameOn(RedisCluster cluster, RedisServer owner) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "name-" + i)
                .filter(name -> cluster.ownerOf("lock:" + name) == owner)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whereTheMasterHangsThoseBehindItsOpenConnectionsFindTheNewOne() {
        try (RedisSentinel sentinel = RedisSentinel.start();
                TestRegistries registries = on(sentinel)) {
            RedisLockRegistry registry = registries.registry(THAT_NOTICES);
            assertThat(Fleet.canLock(registry, "a")).isTrue();
            RedisServer old = sentinel.master();
            old.pause();
            sentinel.awaitMasterOtherThan(old, FAILOVER);
            awaitLocking(registry, "a");
        }
    }

    @Test
    void whereTheMasterBecameAReplicaThoseStillConnectedFindTheNewOne() {
        try (RedisSentinel sentinel = RedisSentinel.start();
                TestRegistries registries = on(sentinel)) {
            RedisLockRegistry registry = registries.registry();
            assertThat(Fleet.canLock(registry, "a")).isTrue();
            RedisServer old = sentinel.master();
            RedisServer promoted = sentinel.failOver(FAILOVER);
            old.command("REPLICAOF", promoted.host(), String.valueOf(promoted.port())); // keeps its clients
            awaitLocking(registry, "a");
        }
    }

    @Test
    void whereTheMasterBecameAReplicaThatIsCutOffThoseStillConnectedFindTheNewOne() {
        try (RedisSentinel sentinel = RedisSentinel.start();
                TestRegistries registries = on(sentinel)) {
            RedisLockRegistry registry = registries.registry();
            assertThat(Fleet.canLock(registry, "a")).isTrue();
            RedisServer old = sentinel.master();
            RedisServer promoted = sentinel.failOver(FAILOVER);
            old.command("CONFIG", "SET", "replica-serve-stale-data", "no");
            old.command("CONFIG", "SET", "masteruser", "nobody"); // the new master refuses it
            old.command("CONFIG", "SET", "masterauth", "wrong");
            old.command("REPLICAOF", promoted.host(), String.valueOf(promoted.port()));
            awaitLocking(registry, "a");
        }
    }

    @Test
    void whereAMasterOfAClusterDiesLocksOnItFindTheNewOne() {
        try (RedisCluster cluster = RedisCluster.start(1);
                TestRegistries registries = on(cluster)) {
            RedisLockRegistry registry = registries.registry();
            RedisServer old = cluster.servers().get(1);
            String name = nameOn(cluster, old);
            assertThat(Fleet.canLock(registry, name)).isTrue();
            old.kill();
            cluster.awaitOwnerOtherThan(old, "lock:" + name, FAILOVER);
            awaitLocking(registry, name);
        }
    }

    @Test
    void whereAMasterOfAClusterHangsLocksOnItFindTheNewOne() {
        try (RedisCluster cluster = RedisCluster.start(1);
                TestRegistries registries = on(cluster)) {
            RedisLockRegistry registry = registries.registry(THAT_NOTICES);
            RedisServer old = cluster.servers().get(1);
            String name = nameOn(cluster, old);
            assertThat(Fleet.canLock(registry, name)).isTrue();
            old.pause();
            Actor.await("failover", FAILOVER, () -> cluster.ownerOf("lock:" + name) != old);
            awaitLocking(registry, name);
        }
    }

    @Test
    void whereAMasterLeftTheClusterLocksOnItsSlotsFindTheNewOne() {
        try (RedisCluster cluster = RedisCluster.start();
                TestRegistries registries = on(cluster)) {
            RedisLockRegistry registry = registries.registry();
            RedisServer old = cluster.servers().get(1);
            String name = nameOn(cluster, old);
            assertThat(Fleet.canLock(registry, name)).isTrue();
            cluster.remove(old, cluster.servers().get(2)); // keeps its clients
            awaitLocking(registry, name);
        }
    }

    @Test
    void aHoldOutlivesAFailoverThatIsAgreedUpon() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(1);
                TestRegistries registries = on(cluster)) {
            NamedLock lock =
                    registries.registry(Fleet.ttl(Duration.ofSeconds(9))).get("a");
            lock.lock();
            cluster.failOver(cluster.ownerOf("lock:a"), "lock:a", FAILOVER);
            Actor.awaitRenewals(4, lock::remainingLease); // for longer than the lease
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
            assertThat(cluster.ownerOf("lock:a").command("EXISTS", "lock:a")).isEqualTo(0L);
        }
    }

    @Test
    void aHoldOutlivesTheMoveOfItsSlot() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                TestRegistries registries = on(cluster)) {
            NamedLock lock =
                    registries.registry(Fleet.ttl(Duration.ofSeconds(9))).get("a");
            lock.lock();
            RedisServer from = cluster.ownerOf("lock:a");
            List<RedisServer> others =
                    cluster.servers().stream().filter(each -> each != from).toList();
            cluster.moveSlotOf("lock:a", others.get(0));
            Actor.awaitRenewals(4, lock::remainingLease); // for longer than the lease
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
            assertThat(others.get(0).command("EXISTS", "lock:a")).isEqualTo(0L);
        }
    }
}
