package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The address of a single server leads to a node of a Cluster, or to a Sentinel. */
class WrongServerTests {

    @Test
    void aNodeOfAClusterIsFoundAtEachStartAndWhateverItHasNot() {
        try (RedisCluster cluster = RedisCluster.start(0);
                TestRegistries registries = TestRegistries.on(cluster.servers().get(0))) {
            for (int start = 0; start < 20; start++) {
                RedisLockRegistry registry = registries.registry();
                assertThat(registry.check().join()).singleElement().satisfies(finding -> {
                    assertThat(finding.problem())
                            .startsWith("Redis is a node of a Cluster and does not have all locks, ")
                            .contains("MOVED ");
                    assertThat(finding.action()).startsWith("set spring.data.redis.cluster.nodes instead of ");
                });
                registry.close();
            }
        }
    }

    /** A client of a single server does not go where the node refers it to, however long it waits. */
    @Test
    void aLockThatANodeDoesNotHaveFailsAtOnce() {
        try (RedisCluster cluster = RedisCluster.start(0);
                TestRegistries registries = TestRegistries.on(cluster.servers().get(0))) {
            RedisLockRegistry registry = registries.registry();
            String elsewhere = List.of("a", "b", "c", "d", "e").stream()
                    .filter(name ->
                            cluster.ownerOf("lock:" + name) != cluster.servers().get(0))
                    .findFirst()
                    .orElseThrow();
            long start = System.nanoTime();
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> registry.get(elsewhere).tryLock(2, TimeUnit.MINUTES))
                    .withMessageContaining("MOVED ");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
            Actor.await("nothing is left", () -> registry.inspector().inUse() == 0);
        }
    }

    @Test
    void aClusterOfOneNodeMayBeUsedAsASingleServer() {
        try (RedisServer node = RedisServer.start("--cluster-enabled", "yes")) {
            node.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
            Actor.await(
                    "it has the slots",
                    () -> String.valueOf(node.command("CLUSTER", "INFO")).contains("cluster_state:ok"));
            try (TestRegistries registries = TestRegistries.on(node)) {
                assertThat(registries.registry().check().join()).isEmpty();
            }
        }
    }

    @Test
    void aSentinelIsFound() {
        try (RedisSentinel sentinel = RedisSentinel.start(0);
                TestRegistries registries =
                        TestRegistries.on(sentinel.sentinels().get(0))) {
            assertThat(registries.registry().check().join()).singleElement().satisfies(finding -> {
                assertThat(finding.problem()).isEqualTo("Redis is a Sentinel, which has no locks");
                assertThat(finding.action()).startsWith("set spring.data.redis.sentinel.master and ");
            });
        }
    }
}
