package io.github.lockboot.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** What locks take of a Cluster of six masters: the figures that docs/evidence/scale.md multiplies. */
@Tag("full")
class ScaleOnClusterTests {

    private static final int MASTERS = 6;

    private static RedisCluster cluster;
    private static TestRegistries registries;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.ofMasters(MASTERS);
        registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
    }

    @AfterAll
    static void stop() {
        registries.close();
        cluster.close();
    }

    /** @param way {@code sent} or {@code received}; the field is missing while there were none */
    private static long busMessages(RedisCluster cluster, String way) {
        Pattern count = Pattern.compile("cluster_stats_messages_publish_" + way + ":(\\d+)");
        return cluster.servers().stream()
                .map(node -> count.matcher(String.valueOf(node.command("CLUSTER", "INFO"))))
                .filter(Matcher::find)
                .mapToLong(found -> Long.parseLong(found.group(1)))
                .sum();
    }

    private static long published() {
        return cluster.servers().stream()
                .mapToLong(node -> {
                    try (RedisProbe probe = node.probe()) {
                        return probe.commandCalls().getOrDefault("publish", 0L);
                    }
                })
                .sum();
    }

    @Test
    void eachMessageOfALockGoesOverTheBusToEveryOtherMaster() throws Exception {
        NamedLock held = registries.connected().get("bus");
        held.lock();
        List<RedisLockRegistry> others =
                List.of(registries.connected(), registries.connected(), registries.connected());
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        RedisServer owner = cluster.ownerOf("lock:bus");
        for (RedisLockRegistry other : others) {
            waiting.add(other.acquireAsync("bus"));
            Actor.await(
                    "it waits", () -> StoredLock.at(owner, "lock:bus").queue().size() == waiting.size());
        }
        held.unlock();
        for (CompletableFuture<Lease> lease : waiting) {
            Actor.get(lease).close();
        }
        Actor.await("all have arrived", () -> busMessages(cluster, "received") == (MASTERS - 1) * published());
        assertThat(published()).isGreaterThanOrEqualTo(3);
        assertThat(busMessages(cluster, "sent")).isEqualTo((MASTERS - 1) * published());
        Figures.report(
                "%d messages on a Cluster of %d masters: %d over its bus",
                published(), MASTERS, busMessages(cluster, "sent"));
    }

    @Test
    void replicasGetEachMessageToo() {
        try (RedisCluster copied = RedisCluster.start(1)) {
            copied.servers().get(0).command("PUBLISH", "channel", "message");
            Actor.await("all have it", () -> busMessages(copied, "received") == 5);
        }
    }

    @Test
    void anInstanceConnectsToEveryMasterWhoseNamesItUses() throws Exception {
        long before = connections();
        RedisLockRegistry registry = registries.connected();
        Actor.get(registry.connect());
        for (int i = 0; i < 100; i++) {
            assertThat(TestRegistries.canLock(registry, "name-" + i)).isTrue();
        }
        List<Long> each = IntStream.range(0, MASTERS)
                .mapToObj(i -> clients(cluster.servers().get(i)))
                .toList();
        Figures.report(
                "an instance on a Cluster of %d masters: %d connections; at each of them %s",
                MASTERS, connections() - before, each);
        assertThat(connections() - before).isBetween(MASTERS + 1L, MASTERS + 2L);
    }

    private static long connections() {
        return cluster.servers().stream()
                .mapToLong(ScaleOnClusterTests::clients)
                .sum();
    }

    /** Those of clients, without the one that asks. */
    private static long clients(RedisServer node) {
        try (RedisProbe probe = node.probe()) {
            return Long.parseLong(probe.info("clients").get("connected_clients")) - 1;
        }
    }

    /** With sharded channels an instance would have to listen at every master whose locks it waits for. */
    @Test
    void aScriptPublishesOnShardChannelsOfItsOwnMasterOnly() {
        RedisServer node = cluster.ownerOf("lock:shards");
        assumeTrue(!node.version().startsWith("6."), "Sharded channels: need Redis 7; set LOCK_REDIS_SERVER");
        String there = channel(node, true);
        String elsewhere = channel(node, false);
        String script = "return redis.call('SPUBLISH', ARGV[1], 'message')";
        assertThat(node.command("EVAL", script, "1", "lock:shards", there)).isEqualTo(0L);
        assertThatThrownBy(() -> node.command("EVAL", script, "1", "lock:shards", elsewhere))
                .isInstanceOf(RedisProbe.ErrorReply.class)
                .hasMessageContaining("non local");
    }

    private static String channel(RedisServer node, boolean there) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "channel-" + i)
                .filter(channel -> (cluster.ownerOf(channel) == node) == there)
                .findFirst()
                .orElseThrow();
    }
}
