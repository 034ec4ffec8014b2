package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Every thread of the application's executors is busy for good, and a thousand tasks wait for one: locks have their
 * own.
 */
class SaturatedExecutorTests {

    private static final Duration TTL = Duration.ofSeconds(6);
    private static final int WAITING_TASKS = 1_000;

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static void saturated(RegistryTest test) {
        CountDownLatch end = new CountDownLatch(1);
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class))
                .withUserConfiguration(BusyApplication.class)
                .withPropertyValues("lock.ttl=" + TTL.toMillis() + "ms", "lock.startup-check=off")
                .run(context -> {
                    RedisLockRegistry locks = context.getBean(RedisLockRegistry.class);
                    Actor.await("connected", () -> TestRegistries.canLock(locks, "connecting"));
                    ForkJoinPool common = ForkJoinPool.commonPool();
                    try {
                        for (int i = 0; i < WAITING_TASKS; i++) {
                            context.getBean(ThreadPoolTaskExecutor.class).execute(() -> await(end));
                            context.getBean(ThreadPoolTaskScheduler.class).execute(() -> await(end));
                        }
                        for (int i = 0; i < common.getParallelism(); i++) {
                            common.execute(() -> await(end));
                        }
                        test.accept(context.getBean(LockRegistry.class), context.getBean(Work.class));
                    } finally {
                        end.countDown();
                    }
                });
    }

    private interface RegistryTest {
        void accept(LockRegistry registry, Work work) throws Exception;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void locksAreTakenWaitedForAndHandedOver() {
        saturated((registry, work) -> {
            assertThat(work.locked("x")).isTrue();
            try (Actor waiter = new Actor()) {
                NamedLock lock = registry.get("y");
                lock.lock();
                CompletableFuture<Boolean> served = waiter.start(() -> lock.tryLock(20, TimeUnit.SECONDS));
                Actor.await("it waits", waiter::isWaiting);
                lock.unlock();
                assertThat(Actor.get(served)).isTrue();
                waiter.run(lock::unlock);
            }
        });
    }

    @Test
    void leasesAreGrantedByFuturesAndRenewed() {
        saturated((registry, work) -> {
            Lease first = Actor.get(registry.acquireAsync("x", LockOptions.defaults()));
            CompletableFuture<Long> next = registry.acquireAsync("x", LockOptions.defaults())
                    .thenApply(lease -> {
                        long token = lease.fencingToken();
                        lease.close();
                        return token;
                    });
            Actor.awaitRenewals(2, first::remainingLease);
            assertThat(first.isValid()).isTrue();
            first.close();
            assertThat(Actor.get(next)).isGreaterThan(first.fencingToken());
            assertThat(registry.acquire("x", LockOptions.defaults()).closeAfter(Duration.ofMillis(50)))
                    .succeedsWithin(Duration.ofSeconds(60));
        });
    }

    @Test
    void aLossIsTold() {
        saturated((registry, work) -> {
            NamedLock lock = registry.get("lost");
            AtomicInteger losses = new AtomicInteger();
            lock.lock();
            lock.onLost(losses::incrementAndGet);
            server.command("DEL", "lock:lost");
            Actor.await("told", () -> losses.get() == 1);
            assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
        });
    }

    static class Work {

        @DistributedLock(key = "#id")
        boolean locked(String id) {
            return server.command("EXISTS", "lock:" + id).equals(1L);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class BusyApplication {

        @Bean
        LettuceConnectionFactory redisConnectionFactory() {
            return new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port()));
        }

        @Bean
        ThreadPoolTaskExecutor applicationTaskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(2);
            executor.setMaxPoolSize(2);
            return executor;
        }

        @Bean
        ThreadPoolTaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        Work work() {
            return new Work();
        }
    }
}
