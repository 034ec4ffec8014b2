package org.example.peers;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.annotation.Lock4j;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What docs/evidence/comparison.md says of this library and of others: a group of tests for each row of its table that can be run. */
class ComparisonTests {

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final long LONGER_THAN_A_LEASE = 1_600;
    private static final long A_WHILE = 550;

    private static RedisServer redis;
    private static ConfigurableApplicationContext application;

    private final List<RedissonClient> clients = new ArrayList<>();

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        application = new SpringApplicationBuilder(PeersTests.Application.class, Later.class)
                .bannerMode(Banner.Mode.OFF)
                .properties("lock.redis.command-timeout=900ms", "lock.ttl=1s", "lock.startup-check=off", "lock4j.expire=1000")
                .run("--spring.data.redis.host=" + redis.host(), "--spring.data.redis.port=" + redis.port());
    }

    @AfterAll
    static void stop() {
        application.close();
        redis.close();
    }

    @BeforeEach
    void forget() {
        redis.command("FLUSHALL");
    }

    @AfterEach
    void shutDown() {
        clients.forEach(RedissonClient::shutdown);
    }

    // --- the libraries ----------------------------------------------------------------------------------------

    private static NamedLock ours(String name) {
        return application
                .getBean("lockbootLockRegistry", LockRegistry.class)
                .get(name, LockOptions.defaults().withTtl(LEASE));
    }

    private RLock redisson(String name) {
        return redisson().getLock(name);
    }

    /** Another instance of an application, with leases that are renewed. */
    private RedissonClient redisson() {
        Config config = new Config().setLockWatchdogTimeout(LEASE.toMillis());
        config.useSingleServer().setAddress(redis.uri());
        RedissonClient client = Redisson.create(config);
        clients.add(client);
        return client;
    }

    private static com.baomidou.lock.LockTemplate lock4j() {
        return application.getBean(com.baomidou.lock.LockTemplate.class);
    }

    private static RedisLockRegistry integration() {
        return integration(LEASE);
    }

    private static RedisLockRegistry integration(Duration lease) {
        return new RedisLockRegistry(application.getBean(RedisConnectionFactory.class), "integration", lease.toMillis());
    }

    private static SimpleLock shedLock(LockProvider provider) {
        return provider.lock(job("job")).orElseThrow();
    }

    private static LockConfiguration job(String name) {
        return new LockConfiguration(Instant.now(), name, LEASE, Duration.ZERO);
    }

    private static LockProvider shedLock() {
        return application.getBean(LockProvider.class);
    }

    // --- what is looked at ------------------------------------------------------------------------------------

    private interface Action {

        void run() throws Exception;
    }

    /** Scripts that clients have run meanwhile; SET is ShedLock's. */
    private static long commands(Action action) throws Exception {
        try (RedisProbe probe = redis.probe()) {
            probe.command("CONFIG", "RESETSTAT");
            action.run();
            Map<String, Long> calls = probe.commandCalls();
            return calls.getOrDefault("eval", 0L) + calls.getOrDefault("evalsha", 0L);
        }
    }

    private static boolean exists(String key) {
        return redis.command("EXISTS", key).equals(1L);
    }

    /** The only key there is. */
    private static String key() {
        List<?> keys = (List<?>) redis.command("KEYS", "*");
        assertThat(keys).hasSize(1);
        return (String) keys.get(0);
    }

    private static void elsewhere(Action action) throws Exception {
        CompletableFuture.runAsync(() -> {
                    try {
                        action.run();
                    } catch (Exception failure) {
                        throw new IllegalStateException(failure);
                    }
                })
                .get(20, TimeUnit.SECONDS);
    }

    @Nested
    class WhoWaits {

        @Test
        void ofOursIsHandedTheLockInTheOrderOfTheQueue() throws Exception {
            NamedLock held = ours("a");
            held.lock();
            List<Integer> order = new ArrayList<>();
            List<CompletableFuture<?>> waits = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                int number = i;
                waits.add(application
                        .getBean("lockbootLockRegistry", LockRegistry.class)
                        .acquireAsync("a", LockOptions.defaults())
                        .thenAccept(lease -> {
                            order.add(number);
                            lease.close();
                        }));
            }
            held.unlock();
            CompletableFuture.allOf(waits.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            assertThat(order).containsExactly(0, 1, 2, 3, 4);
        }

        @Test
        void ofRedissonAsksAgainInEveryInstance() throws Exception {
            RLock held = redisson("a");
            held.lock(20, TimeUnit.SECONDS);
            CountDownLatch done = new CountDownLatch(2);
            for (RLock waiter : List.of(redisson("a"), redisson("a"))) {
                new Thread(() -> {
                            waiter.lock(20, TimeUnit.SECONDS);
                            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(A_WHILE)); // the other has asked by then
                            waiter.unlock();
                            done.countDown();
                        })
                        .start();
            }
            Thread.sleep(A_WHILE);
            long commands = commands(() -> {
                held.unlock();
                assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
            });
            // Three releases; and both ask after the first, of whom one asks again after the second.
            assertThat(commands).isGreaterThanOrEqualTo(6);
        }

        @Test
        void ofLock4jAsksEvery100Milliseconds() throws Exception {
            LockInfo held = lock4j().lock("a", 20_000, 0);
            assertThat(commands(() -> assertThat(lock4j().lock("a", 20_000, A_WHILE)).isNull()))
                    .isBetween(2L, 7L);
            lock4j().releaseLock(held);
        }

        @Test
        void ofSpringIntegrationAsksEvery100MillisecondsOrIsWoken() throws Exception {
            RedisLockRegistry holder = integration(LEASE.multipliedBy(10));
            RedisLockRegistry spinning = integration();
            RedisLockRegistry listening = integration();
            listening.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
            holder.obtain("a").lock();
            assertThat(commands(() -> assertThat(spinning.obtain("a").tryLock(A_WHILE, TimeUnit.MILLISECONDS))
                            .isFalse()))
                    .isBetween(3L, 8L);
            assertThat(commands(() -> assertThat(listening.obtain("a").tryLock(A_WHILE, TimeUnit.MILLISECONDS))
                            .isFalse()))
                    .isBetween(1L, 4L);
            List.of(holder, spinning, listening).forEach(RedisLockRegistry::destroy);
        }

        @Test
        void ofShedLockIsSkipped() {
            SimpleLock held = shedLock(shedLock());
            assertThat(shedLock().lock(job("job"))).isEmpty();
            held.unlock();
        }
    }

    @Nested
    class HeldAgainByItsHolder {

        @Test
        void oursCostsNothing() throws Exception {
            NamedLock lock = application
                    .getBean("lockbootLockRegistry", LockRegistry.class)
                    .get("a", LockOptions.defaults().withTtl(Duration.ofMinutes(1)).withoutRenewal());
            lock.lock();
            assertThat(commands(() -> {
                        lock.lock();
                        lock.unlock();
                    }))
                    .isZero();
            lock.unlock();
        }

        @Test
        void redissonsCostsTwoCommands() throws Exception {
            RLock lock = redisson("a");
            lock.lock(20, TimeUnit.SECONDS);
            assertThat(commands(() -> {
                        lock.lock(20, TimeUnit.SECONDS);
                        lock.unlock();
                    }))
                    .isEqualTo(2);
            lock.unlock();
        }

        @Test
        void springIntegrationsCostsOne() throws Exception {
            RedisLockRegistry registry = integration();
            var lock = registry.obtain("a");
            lock.lock();
            assertThat(commands(() -> {
                        lock.lock();
                        lock.unlock();
                    }))
                    .isEqualTo(1);
            lock.unlock();
            registry.destroy();
        }

        @Test
        void lock4jsIsRefused() {
            LockInfo held = lock4j().lock("a", 20_000, 0);
            assertThat(lock4j().lock("a", 20_000, 0)).isNull();
            lock4j().releaseLock(held);
        }

        @Test
        void shedLocksIsKnownToItsExecutor() throws Throwable {
            DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(shedLock());
            AtomicInteger ran = new AtomicInteger();
            Runnable inner = () -> executor.executeWithLock((Runnable) ran::incrementAndGet, job("job"));
            executor.executeWithLock(inner, job("job"));
            assertThat(ran).hasValue(1);
        }
    }

    @Nested
    class FencingTokens {

        @Test
        void oursHasOneForEveryHold() {
            NamedLock lock = ours("a");
            lock.lock();
            long first = lock.fencingToken();
            lock.unlock();
            lock.lock();
            assertThat(lock.fencingToken()).isGreaterThan(first);
            lock.unlock();
        }

        @Test
        void redissonHasAKindOfLockWithOne() {
            RFencedLock lock = redisson().getFencedLock("a");
            long first = lock.lockAndGetToken();
            lock.unlock();
            assertThat(lock.lockAndGetToken()).isGreaterThan(first);
            lock.unlock();
        }
    }

    @Nested
    class SeveralHolders {

        @Test
        void ofOursAreReadersOrHavePermits() throws Exception {
            LockRegistry registry = application.getBean("lockbootLockRegistry", LockRegistry.class);
            LockOptions once = LockOptions.defaults().withWaitTime(Duration.ZERO);
            for (LockOptions options : List.of(once.shared(), once.withPermits(2))) {
                try (Lease one = registry.acquire("a", options);
                        Lease two = registry.acquire("a", options)) {
                    assertThat(one.isValid() && two.isValid()).isTrue();
                    assertThat(registry.tryAcquire("a", once)).isEmpty();
                }
            }
        }

        @Test
        void ofRedissonAreReadersOrHavePermits() throws Exception {
            redisson().getReadWriteLock("a").readLock().lock();
            assertThat(redisson().getReadWriteLock("a").readLock().tryLock()).isTrue();
            RSemaphore semaphore = redisson().getSemaphore("b");
            semaphore.trySetPermits(2);
            assertThat(semaphore.tryAcquire() && redisson().getSemaphore("b").tryAcquire())
                    .isTrue();
            assertThat(semaphore.tryAcquire()).isFalse();
        }
    }

    /** Leases of a second, looked at after more than that. */
    @Nested
    class RenewedWhileHeld {

        @Test
        void oursIs() throws Exception {
            NamedLock lock = ours("a");
            lock.lock();
            Thread.sleep(LONGER_THAN_A_LEASE);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
        }

        @Test
        void redissonsIs() throws Exception {
            RLock lock = redisson("a");
            lock.lock();
            Thread.sleep(LONGER_THAN_A_LEASE);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
        }

        @Test
        void lock4jsIsUnlessItIsGivenAnExpiry() throws Exception {
            LockInfo unlimited = lock4j().lock("unlimited", -1, 0);
            LockInfo limited = lock4j().lock("limited", LEASE.toMillis(), 0);
            Thread.sleep(LONGER_THAN_A_LEASE);
            assertThat(exists("unlimited")).isTrue();
            assertThat(exists("limited")).isFalse();
            lock4j().releaseLock(unlimited);
            lock4j().releaseLock(limited);
        }

        @Test
        void springIntegrationsIsIfItIsGivenAScheduler() throws Exception {
            ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
            scheduler.initialize();
            RedisLockRegistry plain = integration();
            RedisLockRegistry renewing = integration();
            renewing.setRenewalTaskScheduler(scheduler);
            plain.obtain("plain").lock();
            renewing.obtain("renewed").lock();
            Thread.sleep(LONGER_THAN_A_LEASE);
            assertThat(exists("integration:plain")).isFalse();
            assertThat(exists("integration:renewed")).isTrue();
            renewing.obtain("renewed").unlock();
            plain.destroy();
            renewing.destroy();
            scheduler.shutdown();
        }

        @Test
        void shedLocksIsNotByItself() throws Exception {
            shedLock(shedLock());
            Thread.sleep(LONGER_THAN_A_LEASE);
            assertThat(shedLock().lock(job("job"))).isPresent();
        }
    }

    /** Somebody deletes the key, and another takes the lock. */
    @Nested
    class WhenTheLockWasLost {

        @Test
        void oursTellsAtOnceAndDeletesNothing() throws Exception {
            NamedLock lock = ours("a");
            lock.lock();
            AtomicBoolean told = new AtomicBoolean();
            lock.onLost(() -> told.set(true));
            String key = takenByAnother();
            Thread.sleep(LONGER_THAN_A_LEASE);
            assertThat(told).isTrue();
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThatThrownBy(lock::unlock).isInstanceOf(LockLostException.class);
            assertThat(exists(key)).isTrue();
        }

        @Test
        void redissonTellsAtTheReleaseAndDeletesNothing() throws Exception {
            RLock lock = redisson("a");
            lock.lock();
            redis.command("DEL", "a");
            RLock others = redisson("a");
            elsewhere(() -> others.lock(20, TimeUnit.SECONDS));
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
            assertThat(exists("a")).isTrue();
        }

        @Test
        void lock4jReturnsFalseFromTheReleaseAndDeletesNothing() {
            LockInfo held = lock4j().lock("a", 20_000, 0);
            String key = takenByAnother();
            assertThat(lock4j().releaseLock(held)).isFalse();
            assertThat(exists(key)).isTrue();
        }

        @Test
        void aMethodOfLock4jReturnsAsIfNothingHadHappened() {
            assertThat(application.getBean(Later.class).loseOfLock4j()).isEqualTo("done");
        }

        @Test
        void springIntegrationTellsAtTheReleaseAndDeletesNothing() {
            RedisLockRegistry registry = integration();
            var lock = registry.obtain("a");
            lock.lock();
            String key = takenByAnother();
            assertThatThrownBy(lock::unlock)
                    .isInstanceOfAny(ConcurrentModificationException.class, IllegalStateException.class);
            assertThat(exists(key)).isTrue();
            registry.destroy();
        }

        @Test
        void shedLockTellsNobodyAndDeletesTheLockOfAnotherUnlessItIsSafe() {
            SimpleLock usual = shedLock(shedLock());
            String key = takenByAnother();
            usual.unlock();
            assertThat(exists(key)).isFalse();

            LockProvider provider = new RedisLockProvider.Builder(application.getBean(RedisConnectionFactory.class))
                    .safeUpdate(true)
                    .build();
            SimpleLock safe = shedLock(provider);
            takenByAnother();
            safe.unlock();
            assertThat(exists(key)).isTrue();
        }

        private String takenByAnother() {
            String key = key();
            redis.command("DEL", key);
            redis.command("SET", key, "another");
            return key;
        }
    }

    @Nested
    class AMethodThatReturnsAFuture {

        @Test
        void holdsOursUntilThatCompletes() throws Exception {
            CompletableFuture<String> work = new CompletableFuture<>();
            CompletableFuture<String> result = application.getBean(Later.class).ours(work);
            Thread.sleep(A_WHILE);
            assertThat(key()).isEqualTo("lock:later");
            work.complete("done");
            assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(exists("lock:later")).isFalse();
        }

        @Test
        void hasGivenBackThatOfLock4jWhenItReturns() {
            CompletableFuture<String> work = new CompletableFuture<>();
            assertThat(application.getBean(Later.class).ofLock4j(work)).isNotDone();
            assertThat((List<?>) redis.command("KEYS", "*")).isEmpty();
        }
    }

    public static class Later {

        @DistributedLock(name = "later")
        public CompletableFuture<String> ours(CompletableFuture<String> work) {
            return work;
        }

        @Lock4j(name = "later")
        public CompletableFuture<String> ofLock4j(CompletableFuture<String> work) {
            return work;
        }

        @Lock4j(name = "lost")
        public String loseOfLock4j() {
            redis.command("FLUSHALL");
            return "done";
        }
    }
}
