package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisProbe;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** Several locks on a Cluster, whose commands no other test adds to. */
@Tag("full")
class SeveralSlotsTests {

    private static RedisCluster cluster;
    private static TestRegistries registries;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(0);
        registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
    }

    @AfterAll
    static void stop() {
        registries.close();
        cluster.close();
    }

    @Test
    void locksOfAnySlotsAreTriedAtOnce() {
        String name = "several";
        RedisLockRegistry other = registries.connected();
        RedisLockRegistry registry =
                registries.registry(builder -> builder.commandTimeout(Duration.ofSeconds(20))); // has no connection yet
        List<String> names =
                IntStream.range(0, 10).mapToObj(i -> name + " " + i).toList();
        Lock all = registry.allOf(names);
        all.lock();
        assertThat(other.get(name + " 3").tryLock()).isFalse();
        all.unlock();
        assertThat(other.get(name + " 3").isLocked()).isFalse();
        long before = scripts();
        all.lock();
        all.unlock();
        assertThat(scripts() - before).isEqualTo(20);
        RecordingLockListener listener = new RecordingLockListener();
        registry.addListener(listener);
        other.get(name + " 3").lock();
        assertThat(all.tryLock()).isFalse();
        other.get(name + " 3").unlock();
        assertThat(listener.told)
                .contains("acquired " + name + " 9 ASKED", "notAcquired " + name + " 3")
                .containsOnlyOnce("requested " + name + " 0", "requested " + name + " 3", "requested " + name + " 9");
    }

    private static long scripts() {
        return cluster.nodes().stream()
                .mapToLong(node -> {
                    int colon = node.lastIndexOf(':');
                    try (RedisProbe probe =
                            new RedisProbe(node.substring(0, colon), Integer.parseInt(node.substring(colon + 1)))) {
                        Map<String, Long> calls = probe.commandCalls();
                        return calls.getOrDefault("evalsha", 0L) + calls.getOrDefault("eval", 0L);
                    }
                })
                .sum();
    }
}
