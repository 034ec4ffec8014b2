package io.github.lockboot.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Heap;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The heap of a process that cannot reach Redis after a burst of locks, every half minute. {@code -Dminutes=} says how
 * long; it is to be asked for by its tag, since it takes as long.
 */
@Tag("outage-heap")
class OutageHeapTests {

    private static final int THREADS = 200;
    private static final Duration BURST = Duration.ofSeconds(10);
    private static final Duration STEP = Duration.ofSeconds(30);
    private static final long MAY_GROW_KILOBYTES = 2_000;

    @Test
    void anOutageCostsNoMoreMemoryTheLongerItLasts() throws Exception {
        long steps = Duration.ofMinutes(Long.getLong("minutes", 10)).dividedBy(STEP);
        try (RedisServer server = RedisServer.start()) {
            LettuceConnectionFactory factory = new LettuceConnectionFactory(server.host(), server.port());
            factory.afterPropertiesSet();
            factory.start();
            RedisLockRegistry registry = RedisLockRegistry.builder(factory).build();
            burst(registry, server);
            List<Long> kilobytes = new ArrayList<>();
            for (int step = 0; step <= steps; step++) {
                kilobytes.add(usedKilobytes());
                System.out.println(step * STEP.toSeconds() + " s: " + kilobytes.get(step) + " KB");
                Pause.of(step < steps ? STEP : Duration.ZERO);
            }
            server.restart();
            registry.drain(Duration.ofSeconds(30)).join();
            System.out.println("after it: " + usedKilobytes() + " KB");
            registry.close();
            factory.destroy();
            assertThat(kilobytes.get(kilobytes.size() - 1) - kilobytes.get(1)).isLessThan(MAY_GROW_KILOBYTES);
        }
    }

    /** All use locks of their own; in the middle of it Redis is gone, and they go on for some time. */
    private static void burst(RedisLockRegistry registry, RedisServer server) throws InterruptedException {
        long end = System.nanoTime() + BURST.toNanos();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            String name = "burst-" + i;
            threads.add(new Thread(() -> {
                while (System.nanoTime() - end < 0) {
                    use(registry, name);
                }
            }));
        }
        threads.forEach(Thread::start);
        Pause.of(BURST.dividedBy(2));
        server.kill();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void use(RedisLockRegistry registry, String name) {
        NamedLock lock = registry.get(name);
        try {
            lock.lock();
            Pause.of(Duration.ofMillis(10));
            lock.unlock();
        } catch (LockUnavailableException away) {
            Pause.of(Duration.ofMillis(10));
        }
    }

    private static long usedKilobytes() {
        return Heap.reachable() / 1024;
    }
}
