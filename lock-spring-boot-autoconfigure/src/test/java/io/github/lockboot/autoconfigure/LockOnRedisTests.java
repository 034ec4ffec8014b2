package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.FencingToken;
import io.github.lockboot.Lease;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What of the annotation shows over time, with real locks and another application instance beside. */
class LockOnRedisTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);
    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofSeconds(30));

    private static RedisServer server;
    private static TestRegistries registries;
    private static LockRegistry registry;
    private static LockRegistry other;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
            .withBean(LockRegistry.class, () -> registry, bean -> bean.setDestroyMethodName(""))
            .withBean(Work.class);

    private interface WorkTest {
        void accept(Work work) throws Exception;
    }

    private void run(WorkTest test) {
        runner.run(context -> test.accept(context.getBean(Work.class)));
    }

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        registry = registries.registry();
        other = registries.registry();
    }

    @AfterAll
    static void stop() {
        registries.close();
        server.close();
    }

    @Test
    void aKeptLockIsHeldByNobodyElseUntilItsTimeHasPassed() {
        run(work -> {
            long began = System.nanoTime();
            work.submit();
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(work::submit);
            assertThat(other.tryAcquire("submit", ONCE)).isEmpty();
            try (Lease lease = other.acquire("submit", PATIENT)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Work.KEPT);
            }
        });
    }

    @Test
    void aLockIsKeptBeyondItsTtlAndItsMaximalHold() {
        run(work -> {
            long began = System.nanoTime();
            work.submitWithShortTtl();
            try (Lease lease = other.acquire("short", PATIENT)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Work.KEPT);
            }
        });
    }

    @Test
    void aLockThatIsNotRenewedIsKeptBeyondItsTtl() {
        run(work -> {
            long began = System.nanoTime();
            work.submitWithoutRenewal();
            try (Lease lease = other.acquire("unrenewed", PATIENT)) {
                assertThat(lease.isValid()).isTrue();
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Work.KEPT);
            }
        });
    }

    @Test
    void aLockKeptOnSuccessIsFreeAfterAFailure() {
        run(work -> {
            assertThatThrownBy(work::fail).hasMessage("body");
            Optional<Lease> lease = other.tryAcquire("fail", ONCE);
            assertThat(lease).isPresent();
            lease.orElseThrow().close();
        });
    }

    @Test
    void stagesOfOneKeyDoNotOverlapThoughNoThreadHoldsTheLock() {
        run(work -> {
            CompletableFuture<?>[] calls =
                    IntStream.range(0, 20).mapToObj(i -> work.stage("s", 0)).toArray(CompletableFuture<?>[]::new);
            assertThat(CompletableFuture.allOf(calls)).succeedsWithin(Duration.ofSeconds(60));
            assertThat(work.overlaps()).isZero();
        });
    }

    @Test
    void withAsyncTheBodyRunsOnTheExecutorsThread() {
        runner.withUserConfiguration(AsyncConfiguration.class).run(context -> {
            AsyncWork work = context.getBean(AsyncWork.class);
            Lease lease = other.acquire("async", PATIENT);
            CompletableFuture<String> result = work.threadName();
            assertThat(result).isNotDone();
            lease.close();
            assertThat(result).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("executor-1");
        });
    }

    @Test
    void subscriptionsOfOneKeyDoNotOverlap() {
        run(work -> {
            Flux.range(0, 20).flatMap(i -> work.mono("m"), 20).collectList().block(Duration.ofSeconds(60));
            assertThat(work.overlaps()).isZero();
        });
    }

    @Test
    void theTokenGrowsFromCallToCall() {
        run(work -> {
            long first = work.token("t", 0);
            assertThat(work.token("t", 0)).isGreaterThan(first);
        });
    }

    @Test
    void twoCallsThatNeedTheSameTwoLocksInOppositeOrderBothEnd() {
        run(work -> {
            CompletableFuture<?>[] calls = IntStream.range(0, 40)
                    .mapToObj(i -> CompletableFuture.runAsync(
                            () -> {
                                if (i % 2 == 0) {
                                    work.both("a", "b");
                                } else {
                                    work.both("b", "a");
                                }
                            },
                            task -> new Thread(task).start()))
                    .toArray(CompletableFuture<?>[]::new);
            assertThat(CompletableFuture.allOf(calls)).succeedsWithin(Duration.ofSeconds(60));
            assertThat(work.overlaps()).isZero();
        });
    }

    @Test
    void allElementsAreHeldAndNoneAfterwards() {
        run(work -> {
            work.elements("e1", "e2");
            assertThat(other.get("e1").tryLock()).isTrue();
            assertThat(other.get("e2").tryLock()).isTrue();
            other.get("e1").unlock();
            other.get("e2").unlock();
        });
    }

    static class AsyncWork {
        @Async
        @DistributedLock(name = "async", waitTime = "60s")
        public CompletableFuture<String> threadName() {
            LockAssert.assertLocked("async");
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class AsyncConfiguration {

        @Bean
        AsyncWork asyncWork() {
            return new AsyncWork();
        }

        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setThreadNamePrefix("executor-");
            return executor;
        }
    }

    static class Work {

        static final Duration KEPT = Duration.ofMillis(2_500);

        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();

        int overlaps() {
            return overlaps.get();
        }

        private void enter() {
            if (inside.incrementAndGet() > 1) {
                overlaps.incrementAndGet();
            }
        }

        private void exit() {
            inside.decrementAndGet();
        }

        @DistributedLock(name = "submit", waitTime = "0", keepFor = "2500ms", keepOn = KeepOn.SUCCESS)
        void submit() {}

        @DistributedLock(name = "short", ttl = "1s", maxHold = "1ms", keepFor = "2500ms")
        void submitWithShortTtl() {}

        @DistributedLock(name = "unrenewed", ttl = "1s", renew = Renewal.OFF, keepFor = "2500ms")
        void submitWithoutRenewal() {}

        @DistributedLock(name = "fail", keepFor = "1m", keepOn = KeepOn.SUCCESS)
        void fail() {
            throw new IllegalStateException("body");
        }

        @DistributedLock(key = "#key", waitTime = "60s")
        CompletableFuture<Void> stage(String key, @FencingToken long token) {
            enter();
            return CompletableFuture.runAsync(this::exit, CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS));
        }

        @DistributedLock(key = "#key", waitTime = "60s")
        Mono<Void> mono(String key) {
            enter();
            return Mono.delay(Duration.ofMillis(5)).doOnNext(tick -> exit()).then();
        }

        @DistributedLock(key = "#key")
        long token(String key, @FencingToken long token) {
            assertThat(LockContext.current().isValid()).isTrue();
            assertThat(LockContext.current().fencingToken()).isEqualTo(token);
            assertThat(LockContext.current().remainingLease()).isPositive();
            return token;
        }

        @DistributedLock(name = "pair", key = "#one", waitTime = "60s")
        @DistributedLock(name = "pair", key = "#other", waitTime = "60s")
        void both(String one, String other) {
            enter();
            exit();
        }

        @DistributedLock(key = "#keys", perElement = true)
        void elements(String... keys) {
            for (String key : keys) {
                assertThat(LockContext.current(key).isValid()).isTrue();
                assertThat(LockOnRedisTests.other.get(key).tryLock()).isFalse();
            }
        }
    }
}
