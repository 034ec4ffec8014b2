package org.example.docs;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.memory.MemoryLockRegistry;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/migration/shedlock.md says, with its own jar: a lock provider, and each step of a migration. */
class ShedLockTests {

    private static final String OF_SHED_LOCK = "job-lock:default:";
    private static final String OURS = "lock:";
    private static final AtomicInteger RUNS = new AtomicInteger();

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void forget() {
        server.command("FLUSHALL");
        RUNS.set(0);
    }

    private static ConfigurableApplicationContext application(Class<?> release, String keyPrefix) {
        return new SpringApplicationBuilder(release)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "lock.startup-check=off",
                        "lock.shutdown-grace-period=0",
                        "lock.redis.command-timeout=10s",
                        "lock.key-prefix=" + keyPrefix)
                .run("--spring.data.redis.host=" + server.host(), "--spring.data.redis.port=" + server.port());
    }

    // --- the provider -----------------------------------------------------------------------------------------

    // tag::provider
    /**
     * Keeps the locks of ShedLock in a registry: renewed while the process lives, and free a ttl after it was killed.
     */
    record RegistryLockProvider(LockRegistry registry) implements LockProvider {

        @Override
        public Optional<SimpleLock> lock(LockConfiguration job) {
            LockOptions once =
                    LockOptions.defaults().withWaitTime(Duration.ZERO).withRenewal();
            try {
                return registry.tryAcquire(job.getName(), once).map(lease -> new Held(job, lease));
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            }
        }

        private static final class Held extends AbstractSimpleLock {

            private final Lease lease;
            private final Future<?> end; // at lockAtMostFor, also of a job that still runs

            Held(LockConfiguration job, Lease lease) {
                super(job);
                this.lease = lease;
                this.end = CompletableFuture.runAsync(
                        lease::close,
                        CompletableFuture.delayedExecutor(
                                job.getLockAtMostFor().toMillis(),
                                TimeUnit.MILLISECONDS,
                                task -> new Thread(task).start())); // the common pool may be busy
            }

            @Override
            protected void doUnlock() {
                end.cancel(false);
                Duration left = Duration.between(ClockProvider.now(), lockConfiguration.getLockAtLeastUntil());
                if (left.isNegative()) {
                    lease.close(); // LockLostException if the lock was lost while the job ran
                } else {
                    lease.closeAfter(left);
                }
            }

            @Override
            protected Optional<SimpleLock> doExtend(LockConfiguration longer) {
                boolean inTime = ClockProvider.now().isBefore(lockConfiguration.getLockAtMostUntil());
                return inTime && end.cancel(false) && lease.isValid()
                        ? Optional.of(new Held(longer, lease))
                        : Optional.empty();
            }
        }
    }
    // end::provider

    private static LockConfiguration job(Duration atMost, Duration atLeast) {
        return new LockConfiguration(Instant.now(), "rates", atMost, atLeast);
    }

    @Test
    void theProviderExcludesOtherInstancesUntilItUnlocks() throws Exception {
        try (ConfigurableApplicationContext application = application(Ours.class, OURS);
                ConfigurableApplicationContext elsewhere = application(Ours.class, OURS)) {
            LockProvider provider = new RegistryLockProvider(application.getBean(LockRegistry.class));
            LockProvider other = new RegistryLockProvider(elsewhere.getBean(LockRegistry.class));
            LockConfiguration quick = job(Duration.ofMinutes(10), Duration.ZERO);
            SimpleLock held = provider.lock(quick).orElseThrow();
            assertThat(provider.lock(quick)).isEmpty();
            assertThat(other.lock(quick)).isEmpty();
            held.unlock();
            other.lock(quick).orElseThrow().unlock();
        }
    }

    @Test
    void theProviderKeepsALockAtLeastAndAtMostSoLong() {
        try (ConfigurableApplicationContext application = application(Ours.class, OURS)) {
            LockProvider provider = new RegistryLockProvider(application.getBean(LockRegistry.class));
            provider.lock(job(Duration.ofMinutes(10), Duration.ofSeconds(2)))
                    .orElseThrow()
                    .unlock();
            assertThat(provider.lock(job(Duration.ofMinutes(10), Duration.ZERO)))
                    .isEmpty();
            awaitNoKey();
            SimpleLock stuck =
                    provider.lock(job(Duration.ofMillis(500), Duration.ZERO)).orElseThrow();
            awaitNoKey();
            assertThat(stuck.extend(Duration.ofMinutes(10), Duration.ZERO)).isEmpty();
        }
    }

    @Test
    void aBusyCommonPoolDoesNotKeepALockBeyondItsTime() throws Exception {
        Process busy = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        BusyCommonPool.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(new String(busy.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains("extended late: false", "free in the end: true");
        } finally {
            busy.destroyForcibly();
        }
    }

    /** A program in which no thread of the common pool is free. */
    static final class BusyCommonPool {

        public static void main(String[] args) throws InterruptedException {
            LockRegistry registry = new MemoryLockRegistry();
            AtomicInteger busy = new AtomicInteger();
            Await.until("all threads are busy", () -> {
                ForkJoinPool.commonPool().execute(() -> {
                    busy.incrementAndGet();
                    LockSupport.park();
                });
                return busy.get() >= ForkJoinPool.commonPool().getParallelism();
            });
            SimpleLock lock = new RegistryLockProvider(registry)
                    .lock(job(Duration.ofSeconds(1), Duration.ZERO))
                    .orElseThrow();
            TimeUnit.MILLISECONDS.sleep(1_500);
            System.out.println("extended late: "
                    + lock.extend(Duration.ofMinutes(10), Duration.ZERO).isPresent());
            System.out.println("free in the end: "
                    + registry.tryAcquire("rates", LockOptions.defaults().withWaitTime(Duration.ofSeconds(10)))
                            .isPresent());
            System.exit(0); // the threads of the pool do not end
        }
    }

    @Test
    void theProviderExtendsALock() {
        try (ConfigurableApplicationContext application = application(Ours.class, OURS)) {
            LockProvider provider = new RegistryLockProvider(application.getBean(LockRegistry.class));
            SimpleLock held =
                    provider.lock(job(Duration.ofSeconds(2), Duration.ZERO)).orElseThrow();
            long since = System.nanoTime();
            SimpleLock extended =
                    held.extend(Duration.ofMinutes(10), Duration.ZERO).orElseThrow();
            Await.until("the first time is over", () -> System.nanoTime() - since > TimeUnit.SECONDS.toNanos(3));
            assertThat(server.command("EXISTS", "lock:rates")).isEqualTo(1L);
            extended.unlock();
            assertThat(server.command("EXISTS", "lock:rates")).isEqualTo(0L);
        }
    }

    @Test
    void theAnnotationOfShedLockUsesTheProvider() {
        try (ConfigurableApplicationContext one = application(ShedLockOnOurs.class, OURS);
                ConfigurableApplicationContext other = application(ShedLockOnOurs.class, OURS)) {
            assertEachTickRunsOnce(one, other);
            one.getBean(Job.class).rates();
            assertThat(server.command("KEYS", "*")).isEqualTo(List.of("lock:rates"));
        }
    }

    // --- a migration ------------------------------------------------------------------------------------------

    @Test
    void oneKeyPrefixExcludesBothReleases() {
        try (ConfigurableApplicationContext before = application(OfShedLock.class, OURS);
                ConfigurableApplicationContext after = application(Ours.class, OF_SHED_LOCK)) {
            assertEachTickRunsOnce(before, after);
        }
    }

    @Test
    void aReleaseWithBothAnnotationsExcludesThatBeforeIt() {
        try (ConfigurableApplicationContext before = application(OfShedLock.class, OURS);
                ConfigurableApplicationContext both = application(Both.class, OURS)) {
            assertEachTickRunsOnce(before, both);
        }
    }

    @Test
    void aReleaseWithBothAnnotationsExcludesThatAfterIt() {
        try (ConfigurableApplicationContext both = application(Both.class, OURS);
                ConfigurableApplicationContext after = application(Ours.class, OURS)) {
            assertEachTickRunsOnce(both, after);
        }
    }

    @Test
    void withoutThatReleaseBetweenThemAJobRunsTwice() {
        try (ConfigurableApplicationContext before = application(OfShedLock.class, OURS);
                ConfigurableApplicationContext after = application(Ours.class, OURS)) {
            before.getBean(Job.class).rates();
            after.getBean(Job.class).rates();
            assertThat(RUNS).hasValue(2);
        }
    }

    /** Each instance is due at about the same time; the clock of one may be late. */
    private static void assertEachTickRunsOnce(
            ConfigurableApplicationContext one, ConfigurableApplicationContext other) {
        Job first = one.getBean(Job.class);
        Job second = other.getBean(Job.class);
        for (List<Job> order : List.of(List.of(first, second), List.of(second, first))) {
            assertRunsOnce(() -> order.forEach(Job::rates));
        }
        Executor threads = task -> new Thread(task).start();
        assertRunsOnce(() -> CompletableFuture.allOf(
                        CompletableFuture.runAsync(first::rates, threads),
                        CompletableFuture.runAsync(second::rates, threads))
                .join());
    }

    private static void assertRunsOnce(Runnable tick) {
        RUNS.set(0);
        tick.run();
        assertThat(RUNS).hasValue(1);
        awaitNoKey();
    }

    private static void awaitNoKey() {
        Await.until("no lock", () -> server.command("DBSIZE").equals(0L));
    }

    abstract static class Job {

        public abstract void rates();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class WithShedLock {

        @Bean
        LockProvider lockProvider(RedisConnectionFactory redis) {
            return new RedisLockProvider(redis);
        }
    }

    @Import(WithShedLock.class)
    static class OfShedLock extends Job {

        @Override
        // tag::before
        @Scheduled(cron = "0 * * * * *")
        @SchedulerLock(name = "rates", lockAtMostFor = "10m", lockAtLeastFor = "2s")
        public void rates() {
            // end::before
            RUNS.incrementAndGet();
            // tag::before
        }
        // end::before
    }

    @Import(WithShedLock.class)
    static class Both extends Job {

        @Override
        // tag::both
        @Scheduled(cron = "0 * * * * *")
        @SchedulerLock(name = "rates", lockAtMostFor = "10m", lockAtLeastFor = "2s")
        @ScheduledLock(name = "rates", atLeastFor = "2s", ttl = "2s")
        public void rates() {
            // end::both
            RUNS.incrementAndGet();
            // tag::both
        }
        // end::both
    }

    @EnableAutoConfiguration
    static class Ours extends Job {

        @Override
        // tag::after
        @Scheduled(cron = "0 * * * * *")
        @ScheduledLock(name = "rates", atLeastFor = "2s", ttl = "2s")
        public void rates() {
            // end::after
            RUNS.incrementAndGet();
            // tag::after
        }
        // end::after
    }

    @EnableAutoConfiguration
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class ShedLockOnOurs {

        // tag::provider-bean
        @Bean
        LockProvider lockProvider(LockRegistry registry) {
            return new RegistryLockProvider(registry);
        }
        // end::provider-bean

        @Bean
        Job job() {
            return new OfShedLock();
        }
    }
}
