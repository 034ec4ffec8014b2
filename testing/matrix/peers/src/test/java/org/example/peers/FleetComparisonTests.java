package org.example.peers;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Lock;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/** The rows of docs/evidence/comparison.md about replicas, several instances and transactions; {@link ComparisonTests} has the others. */
class FleetComparisonTests {

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final long LONGER_THAN_A_LEASE = 1_600;

    private static RedisServer master;
    private static RedisServer replica;
    private static LettuceConnectionFactory lettuce;
    private static ConfigurableApplicationContext application;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    @BeforeAll
    static void start() {
        master = RedisServer.start();
        replica = RedisServer.start("--replicaof", master.host(), String.valueOf(master.port()));
        Await.until(
                "the replica is connected",
                () -> String.valueOf(master.command("INFO", "replication")).contains("state=online"));
        lettuce = new LettuceConnectionFactory(master.host(), master.port());
        lettuce.afterPropertiesSet();
        lettuce.start();
        application = new SpringApplicationBuilder(PeersTests.Application.class, Transactions.class)
                .bannerMode(Banner.Mode.OFF)
                .properties("lock.redis.command-timeout=900ms", "lock.ttl=1s", "lock.startup-check=off")
                .run("--spring.data.redis.host=" + master.host(), "--spring.data.redis.port=" + master.port());
    }

    @AfterAll
    static void stop() {
        application.close();
        lettuce.destroy();
        replica.close();
        master.close();
    }

    @BeforeEach
    void forget() {
        master.command("FLUSHALL");
        application.getBean(Transactions.class).ends.clear();
    }

    @AfterEach
    void shutDown() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    /** Of another instance of an application. */
    private LockRegistry ours(Acknowledge acknowledge) {
        var registry = io.github.lockboot.redis.RedisLockRegistry.builder(lettuce)
                .acknowledge(acknowledge)
                .build();
        open.push(registry);
        return registry;
    }

    private RedissonClient redisson(boolean withReplica) {
        Config config = new Config().setLockWatchdogTimeout(LEASE.toMillis());
        if (withReplica) {
            config.useMasterSlaveServers().setMasterAddress(master.uri()).addSlaveAddress(replica.uri());
        } else {
            config.useSingleServer().setAddress(master.uri());
        }
        RedissonClient client = Redisson.create(config);
        open.push(client::shutdown);
        return client;
    }

    private static LockTemplate lock4j() {
        return application.getBean(LockTemplate.class);
    }

    private RedisLockRegistry integration() {
        RedisLockRegistry registry = new RedisLockRegistry(lettuce, "integration", LEASE.toMillis());
        open.push(registry::destroy);
        return registry;
    }

    private static SimpleLock shedLock() {
        LockConfiguration job = new LockConfiguration(Instant.now(), "job", LEASE, Duration.ZERO);
        return application.getBean(LockProvider.class).lock(job).orElseThrow();
    }

    @Nested
    class Replicas {

        @Test
        void areWaitedForByOursIfConfigured() {
            Lock plain = ours(Acknowledge.NONE).get("a");
            Lock acknowledged = ours(Acknowledge.ALL).get("b");
            assertThat(waits(plain::lock, plain::unlock)).isZero();
            assertThat(waits(acknowledged::lock, acknowledged::unlock)).isPositive();
        }

        @Test
        void areWaitedForByRedissonUnlessItKnowsOneServerOnly() {
            Lock single = redisson(false).getLock("a");
            Lock replicated = redisson(true).getLock("b");
            assertThat(waits(single::lock, single::unlock)).isZero();
            assertThat(waits(replicated::lock, replicated::unlock)).isPositive();
        }

        @Test
        void areNotWaitedForByOthers() {
            Lock integration = integration().obtain("a");
            assertThat(waits(integration::lock, integration::unlock)).isZero();
            assertThat(waits(() -> lock4j().releaseLock(lock4j().lock("a", 20_000, 0)))).isZero();
            assertThat(waits(() -> shedLock().unlock())).isZero();
        }

        private static long waits(Runnable... actions) {
            try (RedisProbe probe = master.probe()) {
                probe.command("CONFIG", "RESETSTAT");
                List.of(actions).forEach(Runnable::run);
                Map<String, Long> calls = probe.commandCalls();
                return calls.getOrDefault("wait", 0L) + calls.getOrDefault("waitaof", 0L);
            }
        }
    }

    /** Two instances stand for a role, and the leader leaves. */
    @Nested
    class Leaders {

        @Test
        void areElectedByOurs() {
            LeaderElection first = LeaderElection.of(ours(Acknowledge.NONE), "role");
            LeaderElection second = LeaderElection.of(ours(Acknowledge.NONE), "role");
            first.start();
            Await.until("the first leads", first::isLeader);
            second.start();
            assertThat(second.isLeader()).isFalse();
            first.stop();
            Await.until("the second leads", second::isLeader);
            assertThat(first.isLeader()).isFalse();
            second.stop();
        }

        @Test
        void areElectedBySpringIntegration() {
            LockRegistryLeaderInitiator first = new LockRegistryLeaderInitiator(integration());
            LockRegistryLeaderInitiator second = new LockRegistryLeaderInitiator(integration());
            first.start();
            Await.until("the first leads", () -> first.getContext().isLeader());
            second.start();
            assertThat(second.getContext().isLeader()).isFalse();
            first.stop();
            Await.until("the second leads", () -> second.getContext().isLeader());
            second.stop();
        }
    }

    @Nested
    class TheTransactionOfAHolderThatLostItsLock {

        private final Transactions transactions = application.getBean(Transactions.class);

        @Test
        void isRolledBackByOurs() {
            Lock lock = application
                    .getBean("lockbootLockRegistry", LockRegistry.class)
                    .get("a", LockOptions.defaults().withTtl(LEASE));
            lock.lock();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(this::loseAndCommit);
            assertThat(transactions.ends).containsExactly("rollback");
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        }

        @Test
        void isCommittedWithOthers() throws Exception {
            for (Lock lock : List.of(redisson(false).getLock("a"), integration().obtain("b"))) {
                lock.lock();
                loseAndCommit();
                assertThat(catchThrowable(lock::unlock)).isNotNull();
            }
            LockInfo held = lock4j().lock("c", -1, 0);
            loseAndCommit();
            assertThat(lock4j().releaseLock(held)).isFalse();
            SimpleLock job = shedLock();
            loseAndCommit();
            job.unlock();
            assertThat(transactions.ends).containsExactly("commit", "commit", "commit", "commit");
        }

        private void loseAndCommit() throws InterruptedException {
            TransactionStatus transaction = transactions.getTransaction(TransactionDefinition.withDefaults());
            master.command("FLUSHALL");
            Thread.sleep(LONGER_THAN_A_LEASE);
            transactions.commit(transaction);
        }
    }

    /** Features for which docs/evidence/comparison.md names other libraries. */
    @Nested
    class NotHere {

        @Test
        void areALatchAndARateLimiterWhichRedissonHas() {
            RedissonClient redisson = redisson(false);
            RCountDownLatch latch = redisson.getCountDownLatch("latch");
            assertThat(latch.trySetCount(1)).isTrue();
            latch.countDown();
            assertThat(latch.getCount()).isZero();
            RRateLimiter limiter = redisson.getRateLimiter("rate");
            limiter.trySetRate(RateType.OVERALL, 1, Duration.ofHours(1));
            assertThat(limiter.tryAcquire()).isTrue();
            assertThat(limiter.tryAcquire()).isFalse();
        }

        @Test
        void areConditionsWhichNoneHas() {
            for (Lock lock :
                    List.of(ours(Acknowledge.NONE).get("a"), redisson(false).getLock("a"), integration().obtain("a"))) {
                assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
            }
        }
    }

    /** Remembers what became of transactions. */
    static class Transactions extends AbstractPlatformTransactionManager {

        final transient List<String> ends = new ArrayList<>();

        @Override
        protected Object doGetTransaction() {
            return this;
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {}

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            ends.add("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            ends.add("rollback");
        }
    }
}
