package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node joins a Cluster and takes over slots. Lettuce refuses to follow a redirection to it until it has the new
 * topology.
 */
class JoinedNodeTests {

    private static final List<String> NAMES = List.of("a", "b", "c");

    @Test
    void callersWithTimeLeftGetTheLockFromANodeThatHasJoined() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(0);
                TestRegistries registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()));
                Load load = new Load(registries.connected(), registries.connected())) {
            for (String name : NAMES) {
                RedisServer joined = cluster.join();
                cluster.moveSlotOf("lock:" + name, joined);
                long before = load.granted(name);
                Actor.await(
                        "the lock is granted on " + joined,
                        Duration.ofSeconds(30),
                        () -> load.granted(name) > before + 100 || !load.failures.isEmpty());
                assertThat(load.failures).isEmpty();
            }
        }
    }

    /** Of two instances, each with a caller for each name. */
    private static final class Load implements AutoCloseable {

        private final Map<String, Long> granted = new ConcurrentHashMap<>();
        final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        private final List<CompletableFuture<Void>> callers;
        private volatile boolean over;

        Load(RedisLockRegistry... instances) {
            callers = Stream.of(instances)
                    .flatMap(instance -> NAMES.stream().map(instance::get))
                    .map(lock -> CompletableFuture.runAsync(() -> call(lock), task -> new Thread(task).start()))
                    .toList();
        }

        private void call(NamedLock lock) {
            while (!over) {
                try {
                    if (lock.tryLock(20, TimeUnit.SECONDS)) {
                        lock.unlock();
                        granted.merge(lock.getName(), 1L, Long::sum);
                    }
                } catch (Throwable failure) {
                    failures.add(failure);
                }
            }
        }

        long granted(String name) {
            return granted.getOrDefault(name, 0L);
        }

        @Override
        public void close() {
            over = true;
            callers.forEach(CompletableFuture::join);
        }
    }
}
