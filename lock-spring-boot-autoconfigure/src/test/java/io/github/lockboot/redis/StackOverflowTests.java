package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** A stack that is used up in the middle of a call, at whatever depth, leaves no lock taken. */
class StackOverflowTests {

    private static final int SMALL_STACK = 256 * 1024;
    private static final int DEPTHS = 50;
    private static final Duration TTL = Duration.ofSeconds(2);

    private static RedisServer server;
    private static TestRegistries registries;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
    }

    @AfterAll
    static void stop() {
        registries.close();
        server.close();
    }

    private final RedisLockRegistry registry = registries.registry(
            builder -> builder.defaults(LockOptions.defaults().withTtl(TTL)));
    private final RedisLockRegistry other = registries.registry(
            builder -> builder.defaults(LockOptions.defaults().withTtl(TTL)));

    private enum Use {
        LOCK {
            @Override
            void use(RedisLockRegistry registry, String name) {
                NamedLock lock = registry.get(name);
                lock.lock();
                lock.unlock();
            }
        },
        TRY_LOCK {
            @Override
            void use(RedisLockRegistry registry, String name) throws InterruptedException {
                NamedLock lock = registry.get(name);
                if (lock.tryLock(1, TimeUnit.SECONDS)) {
                    try {
                        lock.fencingToken();
                    } finally {
                        lock.unlock();
                    }
                }
            }
        },
        LEASE {
            @Override
            void use(RedisLockRegistry registry, String name) throws InterruptedException {
                registry.acquire(name, LockOptions.defaults()).close();
            }
        },
        SEVERAL {
            @Override
            void use(RedisLockRegistry registry, String name) {
                Lock both = registry.allOf(List.of(name, name + " 2"));
                both.lock();
                both.unlock();
            }
        };

        abstract void use(RedisLockRegistry registry, String name) throws InterruptedException;
    }

    private interface Step {
        void run() throws Exception;
    }

    /** So many frames down the stack. */
    private static int down(int frames, Step step) throws Exception {
        if (frames == 0) {
            step.run();
            return 0;
        }
        return down(frames - 1, step) + 1;
    }

    private static int depth;

    private static int downUntilItOverflows() {
        depth++;
        return downUntilItOverflows() + depth;
    }

    /** On a fresh thread with a small stack. @return what came out of it, if anything */
    private static @Nullable Throwable onSmallStack(Step step) throws InterruptedException {
        Throwable[] thrown = new Throwable[1];
        Runnable task = () -> {
            try {
                step.run();
            } catch (Throwable failure) {
                thrown[0] = failure;
            }
        };
        Thread thread = new Thread(null, task, "small", SMALL_STACK);
        thread.setDaemon(true);
        thread.start();
        thread.join(TimeUnit.SECONDS.toMillis(20));
        assertThat(thread.isAlive()).as("the thread hangs").isFalse();
        return thrown[0];
    }

    /** How many frames a small stack has room for, now that some code may have been compiled. */
    private static int room() throws Exception {
        int[] room = new int[1];
        onSmallStack(() -> {
            int frames = 1 << 16;
            while (room[0] == 0) {
                try {
                    room[0] = down(frames, () -> {});
                } catch (StackOverflowError overflow) {
                    frames -= frames / 64 + 1;
                }
            }
        });
        return room[0];
    }

    @ParameterizedTest
    @EnumSource
    void aCallDeepDownTheStackLeavesNothingBehind(Use use) throws Exception {
        Actor.await("connected", () -> TestRegistries.canLock(registry, "warm"));
        use.use(registry, "warm");
        List<String> names = new ArrayList<>();
        int overflows = 0;
        for (int i = 0; i < DEPTHS; i++) {
            String name = use + "-" + i;
            names.add(name);
            int room = room();
            int frames = room - room * i / DEPTHS / 2;
            Throwable thrown = onSmallStack(() -> down(frames, () -> use.use(registry, name)));
            overflows += thrown == null ? 0 : 1;
        }
        assertThat(overflows).as("depths at which the stack overflows").isBetween(1, DEPTHS - 1);
        allAreFree(names);
    }

    /** A finally block, entered because the stack has overflowed. */
    @Test
    void aReleaseAfterAnOverflowReleases() throws Exception {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < DEPTHS; i++) {
            NamedLock lock = registry.get("release-" + i);
            names.add(lock.getName());
            int frames = room() * i / DEPTHS;
            onSmallStack(() -> down(frames, () -> {
                lock.lock();
                try {
                    downUntilItOverflows();
                } finally {
                    lock.unlock();
                }
            }));
        }
        allAreFree(names);
    }

    /**
     * The thread lives on, so that nothing but the failed release itself can tell. With no stack at all it cannot even
     * find its hold; then that ends with the thread.
     */
    @Test
    void aReleaseDeeperThanItsLockReleases() throws Exception {
        List<String> names = new ArrayList<>();
        CountDownLatch over = new CountDownLatch(1);
        for (int i = 0; i < DEPTHS; i++) {
            NamedLock lock = registry.get("deeper-" + i);
            names.add(lock.getName());
            int room = room();
            int frames = room - room * i / DEPTHS / 2;
            Thread thread = new Thread(
                    null,
                    () -> {
                        boolean[] reached = new boolean[1];
                        lock.lock();
                        try {
                            down(frames, () -> {
                                reached[0] = true;
                                lock.unlock();
                            });
                        } catch (Throwable overflow) {
                            if (!reached[0]) {
                                lock.unlock();
                            }
                            awaitUninterruptibly(over);
                        }
                    },
                    "small",
                    SMALL_STACK);
            thread.setDaemon(true);
            thread.start();
        }
        int held = notFree(other, names);
        over.countDown();
        assertThat(held).as("still held of %d", names.size()).isLessThanOrEqualTo(DEPTHS / 25);
        allAreFree(names);
    }

    /**
     * At depths about the limit, so that the stack is used up at each step of the call. The thread lives on. What the
     * first call did not do, the second one does.
     */
    @Test
    void aReleaseThatOverflowsIsDoneByItselfOrByTheNextOne() throws Exception {
        List<String> names = new ArrayList<>();
        CountDownLatch over = new CountDownLatch(1);
        int[] overflows = new int[1];
        for (int i = 0; i < DEPTHS; i++) {
            NamedLock lock = registry.get("again-" + i);
            names.add(lock.getName());
            int room = room();
            int frames = room + room / 64 - room / 32 * i / DEPTHS;
            onSmallStackThatLives(over, () -> {
                lock.lock();
                try {
                    down(frames, lock::unlock);
                } catch (StackOverflowError overflow) {
                    overflows[0]++;
                    try {
                        lock.unlock();
                    } catch (IllegalMonitorStateException released) {
                        // by the first call
                    }
                }
            });
        }
        assertThat(overflows[0]).isPositive();
        int held = notFree(other, names);
        over.countDown();
        assertThat(held).as("still held of %d", names.size()).isZero();
    }

    private static void onSmallStackThatLives(CountDownLatch until, Step step) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Runnable task = () -> {
            try {
                step.run();
            } catch (Throwable failure) {
                // what is held tells
            } finally {
                done.countDown();
                awaitUninterruptibly(until);
            }
        };
        Thread thread = new Thread(null, task, "small", SMALL_STACK);
        thread.setDaemon(true);
        thread.start();
        assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void allAreFree(List<String> names) throws Exception {
        for (RedisLockRegistry each : List.of(other, registry)) {
            assertThat(notFree(each, names))
                    .as("still held of %d", names.size())
                    .isZero();
        }
    }

    private static int notFree(RedisLockRegistry registry, List<String> names) throws Exception {
        List<CompletableFuture<Lease>> leases = new ArrayList<>();
        for (String name : names) {
            leases.add(registry.acquireAsync(name, LockOptions.defaults().withWaitTime(TTL.multipliedBy(5))));
        }
        int notFree = 0;
        for (CompletableFuture<Lease> lease : leases) {
            try {
                lease.get(30, TimeUnit.SECONDS).close();
            } catch (ExecutionException failure) {
                notFree++;
            }
        }
        return notFree;
    }
}
