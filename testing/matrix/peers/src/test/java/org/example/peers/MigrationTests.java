package org.example.peers;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;

import com.baomidou.lock.annotation.Lock4j;
import com.baomidou.lock.exception.LockFailureException;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.fixture.RedisServer;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/migration says of other libraries, and what it shows of their code and of that which replaces it. */
class MigrationTests {

    private static final LockOptions ONCE = LockOptions.defaults().withWaitTime(Duration.ZERO);

    private static RedisServer server;
    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        application = application("lock:");
    }

    @AfterAll
    static void stop() {
        application.close();
        server.close();
    }

    @BeforeEach
    void forget() {
        server.command("FLUSHALL");
    }

    private static ConfigurableApplicationContext application(String keyPrefix) {
        return new SpringApplicationBuilder(Application.class)
                .bannerMode(Banner.Mode.OFF)
                .properties(
                        "lock.redis.command-timeout=10s",
                        "lock.startup-check=off",
                        "lock.shutdown-grace-period=0",
                        "lock.key-prefix=" + keyPrefix)
                .run("--spring.data.redis.host=" + server.host(), "--spring.data.redis.port=" + server.port());
    }

    private static LockRegistry registry() {
        return application.getBean("lockbootLockRegistry", LockRegistry.class);
    }

    private static Set<String> keys() {
        Set<String> keys = new TreeSet<>();
        ((List<?>) server.command("KEYS", "*")).forEach(key -> keys.add((String) key));
        return keys;
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    private static <T> T elsewhere(Callable<T> call) throws Exception {
        return begin(call).get(60, TimeUnit.SECONDS);
    }

    private static <T> CompletableFuture<T> begin(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        result.complete(call.call());
                    } catch (Throwable failure) {
                        result.completeExceptionally(failure);
                    }
                })
                .start();
        return result;
    }

    // --- Redisson ---------------------------------------------------------------------------------------------

    private void pay(String id) {
        assertThat(keys()).anyMatch(key -> key.endsWith("order:" + id));
    }

    @Test
    void anRLockAndALockOfOurs() throws Exception {
        RedissonClient redisson = application.getBean(RedissonClient.class);
        LockRegistry registry = registry();
        String id = "4711";
        {
            // tag::redisson
            RLock lock = redisson.getLock("order:" + id);
            if (lock.tryLock(5, TimeUnit.SECONDS)) {
                try {
                    pay(id);
                } finally {
                    lock.unlock();
                }
            }
            // end::redisson
        }
        {
            // tag::redisson-after
            NamedLock lock = registry.get("order:" + id);
            if (lock.tryLock(5, TimeUnit.SECONDS)) {
                try {
                    pay(id);
                } finally {
                    lock.unlock();
                }
            }
            // end::redisson-after
        }
        await(() -> keys().isEmpty()); // Redisson clears up a moment later
    }

    @Test
    void anRLockWithALeaseIsNotRenewedAndShowsItsLossAtUnlock() throws Exception {
        RLock lock = application.getBean(RedissonClient.class).getLock("lease");
        lock.lock(500, TimeUnit.MILLISECONDS);
        await(() -> keys().isEmpty());
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
    }

    @Test
    void anRLockCountsInRedis() {
        RLock lock = application.getBean(RedissonClient.class).getLock("nested");
        lock.lock();
        lock.lock();
        assertThat((List<?>) server.command("HVALS", "nested")).hasToString("[2]");
        lock.unlock();
        lock.unlock();
    }

    @Test
    void anRLockFailsOnAKeyOfOursAndWeWaitForItsKey() throws Exception {
        RLock theirs = application.getBean(RedissonClient.class).getLock("lock:shared");
        theirs.lock();
        assertThat(registry().get("shared").tryLock(100, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(theirs.isHeldByCurrentThread()).isTrue();
        theirs.unlock();
        try (Lease ours = registry().acquire("shared", LockOptions.defaults())) {
            assertThatExceptionOfType(RedisException.class).isThrownBy(theirs::tryLock);
            assertThat(ours.isValid()).isTrue();
        }
        await(() -> keys().isEmpty());
        assertThat(theirs.tryLock()).isTrue();
        theirs.unlock();
    }

    @Test
    void aReaderOfRedissonGetsTheLockBeforeAWriterThatWaits() throws Exception {
        RReadWriteLock prices = application.getBean(RedissonClient.class).getReadWriteLock("prices");
        prices.readLock().lock();
        CompletableFuture<Boolean> writer = begin(() -> lockOnce(prices.writeLock(), 60));
        await(() -> !server.command("PUBSUB", "CHANNELS", "redisson_rwlock*").equals(List.of()));
        boolean later = elsewhere(() -> lockOnce(prices.readLock(), 0));
        assertThat(later).isTrue();
        assertThat(writer).isNotDone();
        prices.readLock().unlock();
        assertThat(writer.get(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aReaderOfRedissonThatAsksForTheWriteLockWaitsForItself() throws Exception {
        RReadWriteLock prices = application.getBean(RedissonClient.class).getReadWriteLock("prices");
        prices.readLock().lock();
        assertThat(prices.writeLock().tryLock(300, TimeUnit.MILLISECONDS)).isFalse();
        prices.readLock().unlock();
    }

    private static boolean lockOnce(RLock lock, int seconds) throws InterruptedException {
        boolean locked = lock.tryLock(seconds, TimeUnit.SECONDS);
        if (locked) {
            lock.unlock();
        }
        return locked;
    }

    @Test
    void aPermitOfAnRSemaphoreHasNoLease() {
        RSemaphore partner = application.getBean(RedissonClient.class).getSemaphore("partner");
        partner.trySetPermits(5);
        assertThat(partner.tryAcquire()).isTrue();
        assertThat(server.command("GET", "partner")).isEqualTo("4");
        assertThat(server.command("PTTL", "partner")).as("stays for ever").isEqualTo(-1L);
    }

    @Test
    void aPermitOfAnRPermitExpirableSemaphoreEndsWithItsLease() throws Exception {
        RPermitExpirableSemaphore partner =
                application.getBean(RedissonClient.class).getPermitExpirableSemaphore("partner");
        partner.trySetPermits(1);
        String permit = partner.acquire(500, TimeUnit.MILLISECONDS);
        assertThat(partner.tryAcquire()).isNull();
        await(() -> partner.availablePermits() == 1);
        assertThat(partner.tryRelease(permit)).isFalse();
    }

    // --- lock4j -----------------------------------------------------------------------------------------------

    private static Lock4jPayments lock4j() {
        return application.getBean(Lock4jPayments.class);
    }

    @Test
    void lock4jsAnnotationAndOurs() {
        assertThat(lock4j().before("1")).containsExactly("lock4j:order#1");
        assertThat(lock4j().after("1")).containsExactly("lock:order:1");
    }

    @Test
    void lock4jDoesNotRenewWhereExpireIsSet() throws Exception {
        assertThat(lock4j().withExpire("1")).isEqualTo("returned without its lock");
    }

    @Test
    void lock4jIsNotReentrant() {
        assertThatExceptionOfType(LockFailureException.class)
                .isThrownBy(() -> lock4j().again("1"));
    }

    @Test
    void lock4jJoinsKeysWithADotAndNullAsText() {
        assertThat(lock4j().joined("a.b", "c")).isEqualTo(lock4j().joined("a", "b.c"));
        assertThat(lock4j().joined("a", null)).containsExactly("lock4j:joined#a.null");
    }

    @Test
    void withoutANameLock4jsKeyBeginsWithClassAndMethod() throws Exception {
        String key = "lock4j:" + Lock4jPayments.class.getName() + "noName#1";
        assertThat(lock4j().noName("1")).containsExactly(key);
        try (ConfigurableApplicationContext same = application("lock4j:")) {
            server.command("SET", key, "of lock4j", "PX", "60000");
            LockRegistry ours = same.getBean("lockbootLockRegistry", LockRegistry.class);
            assertThat(ours.get(key.substring("lock4j:".length())).tryLock()).isFalse();
            server.command("DEL", key);
        }
        assertThat(lock4j().withTheKeyOfNoName("1")).containsExactly("lock:com.example.Paymentspay#1");
    }

    @Test
    void lock4jAndOursOnOneKeyExcludeEachOther() throws Exception {
        try (ConfigurableApplicationContext same = application("lock4j:")) {
            Lock4jPayments payments = same.getBean(Lock4jPayments.class);
            LockRegistry registry = same.getBean("lockbootLockRegistry", LockRegistry.class);
            assertThat(payments.withTheirKey("1")).containsExactly("lock4j:order#1");
            try (Lease ours = registry.acquire("order#1", ONCE)) {
                assertThatExceptionOfType(LockFailureException.class).isThrownBy(() -> payments.beforeAtOnce("1"));
                assertThat(ours.isValid()).isTrue();
            }
            server.command("SET", "lock4j:order#2", "of lock4j", "PX", "60000");
            assertThat(registry.tryAcquire("order#2", ONCE)).isEmpty();
        }
    }

    // --- Spring Integration -----------------------------------------------------------------------------------

    @Test
    void aLockOfSpringIntegrationAndOneOfOurs() throws Exception {
        RedisLockRegistry locks = application.getBean(RedisLockRegistry.class);
        LockRegistry registry = registry();
        String id = "4711";
        {
            // tag::integration
            Lock lock = locks.obtain("order:" + id); // org.springframework.integration.support.locks.LockRegistry
            lock.lock();
            try {
                pay(id);
            } finally {
                lock.unlock();
            }
            // end::integration
        }
        {
            // tag::integration-after
            Lock lock = registry.get("order:" + id); // io.github.lockboot.LockRegistry
            lock.lock();
            try {
                pay(id);
            } finally {
                lock.unlock();
            }
            // end::integration-after
        }
        assertThat(keys()).isEmpty();
    }

    @Test
    void aLockOfSpringIntegrationIsNotRenewedByDefaultAndShowsItsLossAtUnlock() throws Exception {
        RedisLockRegistry brief =
                new RedisLockRegistry(application.getBean(RedisConnectionFactory.class), "brief", 500);
        Lock lock = brief.obtain("a");
        lock.lock();
        await(() -> keys().isEmpty());
        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
        brief.destroy();
    }

    @Test
    void springIntegrationAndOursOnOneKeyExcludeEachOther() throws Exception {
        RedisLockRegistry same = new RedisLockRegistry(application.getBean(RedisConnectionFactory.class), "lock");
        Lock theirs = same.obtain("taken");
        try (Lease ours = registry().acquire("taken", ONCE)) {
            assertThat(theirs.tryLock()).isFalse();
            assertThat(ours.isValid()).isTrue();
        }
        assertThat(theirs.tryLock()).isTrue();
        assertThat(registry().tryAcquire("taken", ONCE)).isEmpty();
        theirs.unlock();
        same.destroy();
    }

    @Test
    void twoReleasesExcludeByWhatTheyHaveInCommon() throws Exception {
        RedisLockRegistry locks = application.getBean(RedisLockRegistry.class);
        LockRegistry registry = registry();
        String id = "4712";
        // tag::both
        Lock old = locks.obtain("order:" + id);
        old.lock();
        try {
            registry.get("order:" + id).lock();
            try {
                pay(id);
                // end::both
                assertThat(keys()).containsExactly("integration:order:4712", "lock:order:4712");
                boolean byTheOld = elsewhere(() -> locks.obtain("order:4712").tryLock());
                assertThat(byTheOld).isFalse();
                assertThat(registry.tryAcquire("order:4712", ONCE)).isEmpty();
                // tag::both
            } finally {
                registry.get("order:" + id).unlock();
            }
        } finally {
            old.unlock();
        }
        // end::both
    }

    // --- ShedLock ---------------------------------------------------------------------------------------------

    private static ShedLockJobs jobs() {
        return application.getBean(ShedLockJobs.class);
    }

    @Test
    void shedLocksAnnotationAndOurs() throws Exception {
        ShedLockJobs jobs = jobs();
        jobs.before();
        assertThat(jobs.seen()).containsExactly("job-lock:default:nightly");
        assertThat(keys()).as("for lockAtLeastFor").containsExactly("job-lock:default:nightly");
        jobs.before();
        assertThat(jobs.runs()).as("skipped").isOne();
        server.command("FLUSHALL");
        jobs.after();
        jobs.after();
        assertThat(jobs.seen()).containsExactly("lock:nightly");
        assertThat(jobs.runs()).as("skipped").isEqualTo(2);
    }

    @Test
    void shedLocksLockEndsAtLockAtMostFor() throws Exception {
        jobs().slow();
        assertThat(jobs().ended()).as("without its lock").isTrue();
    }

    @Test
    void shedLockAndOursOnOneKeyExcludeEachOther() throws Exception {
        try (ConfigurableApplicationContext same = application("job-lock:default:")) {
            ShedLockJobs jobs = same.getBean(ShedLockJobs.class);
            LockRegistry registry = same.getBean("lockbootLockRegistry", LockRegistry.class);
            try (Lease ours = registry.acquire("nightly", ONCE)) {
                jobs.before();
                assertThat(jobs.runs()).isZero();
                assertThat(ours.isValid()).isTrue();
            }
            jobs.before();
            assertThat(jobs.runs()).isOne();
            assertThat(registry.tryAcquire("nightly", ONCE)).as("kept by ShedLock").isEmpty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class Application {

        @Bean
        Lock4jPayments payments(ObjectProvider<Lock4jPayments> self) {
            return new Lock4jPayments(self);
        }

        @Bean
        ShedLockJobs jobs() {
            return new ShedLockJobs();
        }

        @Bean(destroyMethod = "destroy")
        RedisLockRegistry lockRegistry(RedisConnectionFactory redis) {
            return new RedisLockRegistry(redis, "integration");
        }

        @Bean
        LockProvider lockProvider(RedisConnectionFactory redis) {
            return new RedisLockProvider(redis);
        }
    }

    public static class Lock4jPayments {

        private final ObjectProvider<Lock4jPayments> self;

        Lock4jPayments(ObjectProvider<Lock4jPayments> self) {
            this.self = self;
        }

        private Set<String> pay(String id) {
            return keys();
        }

        // tag::lock4j
        @Lock4j(name = "order", keys = "#id", acquireTimeout = 3000)
        public Set<String> before(String id) {
            return pay(id);
        }
        // end::lock4j

        // tag::lock4j-after
        @DistributedLock(name = "order", key = "#id", waitTime = "3s")
        public Set<String> after(String id) {
            return pay(id);
        }
        // end::lock4j-after

        // tag::lock4j-same-key
        @DistributedLock(key = "'order#' + #id") // lock4j:order#<id>, the key of @Lock4j(name = "order", keys = "#id")
        public Set<String> withTheirKey(String id) {
            return pay(id);
        }
        // end::lock4j-same-key

        @Lock4j(keys = "#id")
        public Set<String> noName(String id) {
            return pay(id);
        }

        // tag::lock4j-no-name
        @DistributedLock(key = "'com.example.Paymentspay#' + #id") // @Lock4j(keys = "#id") on com.example.Payments.pay
        public Set<String> withTheKeyOfNoName(String id) {
            return pay(id);
        }
        // end::lock4j-no-name

        @Lock4j(name = "order", keys = "#id", acquireTimeout = 0)
        public Set<String> beforeAtOnce(String id) {
            return pay(id);
        }

        @Lock4j(name = "expire", keys = "#id", expire = 500)
        public String withExpire(String id) throws InterruptedException {
            await(() -> keys().isEmpty());
            return "returned without its lock";
        }

        @Lock4j(name = "again", keys = "#id", acquireTimeout = 300)
        public Set<String> again(String id) {
            return self.getObject().again(id);
        }

        @Lock4j(name = "joined", keys = {"#a", "#b"})
        public Set<String> joined(String a, String b) {
            return keys();
        }
    }

    public static class ShedLockJobs {

        private Set<String> seen = Set.of();
        private int runs;
        private boolean ended;

        public boolean ended() {
            return ended;
        }

        public Set<String> seen() {
            return seen;
        }

        public int runs() {
            return runs;
        }

        private void run() {
            runs++;
            seen = keys();
        }

        // tag::shedlock
        @Scheduled(cron = "0 0 3 * * *")
        @SchedulerLock(name = "nightly", lockAtMostFor = "10m", lockAtLeastFor = "1m")
        public void before() {
            run();
        }
        // end::shedlock

        // tag::shedlock-after
        @Scheduled(cron = "0 0 3 * * *")
        @ScheduledLock(name = "nightly", atLeastFor = "1m", ttl = "1m")
        public void after() {
            run();
        }
        // end::shedlock-after

        @SchedulerLock(name = "slow", lockAtMostFor = "500ms")
        public void slow() throws InterruptedException {
            await(() -> keys().isEmpty());
            ended = true;
        }
    }
}
