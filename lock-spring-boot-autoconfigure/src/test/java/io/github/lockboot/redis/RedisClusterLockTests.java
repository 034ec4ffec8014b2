package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisProbe;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** The contract on a Redis Cluster of three masters. */
@Tag("full")
class RedisClusterLockTests extends LockRegistryContract {

    private static RedisCluster cluster;
    private static TestRegistries registries;
    private static RedisLockRegistry one;
    private static RedisLockRegistry other;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start(0);
        registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
        one = registries.connected();
        other = registries.connected();
    }

    @AfterAll
    static void stop() {
        registries.close();
        cluster.close();
    }

    @Override
    protected LockRegistry registry() {
        return one;
    }

    @Override
    protected LockRegistry otherRegistry() {
        return other;
    }

    @Test
    void locksOfOneSlotAreTakenByOneCommandAndOthersOneByOne() {
        Lock ofOneSlot = one.allOf(List.of("{" + name + "} a", "{" + name + "} b", "{" + name + "} c"));
        Lock ofSeveral = registries
                .registry(builder -> builder.commandTimeout(Duration.ofSeconds(20))) // has no connection yet
                .allOf(IntStream.range(0, 10).mapToObj(i -> name + " " + i).toList());
        long before = scripts();
        ofOneSlot.lock();
        ofOneSlot.unlock();
        assertThat(scripts() - before).isBetween(2L, 4L); // a master that does not know a script yet is sent it
        ofSeveral.lock();
        assertThat(other.get(name + " 3").tryLock()).isFalse();
        ofSeveral.unlock();
        assertThat(other.get(name + " 3").isLocked()).isFalse();
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
