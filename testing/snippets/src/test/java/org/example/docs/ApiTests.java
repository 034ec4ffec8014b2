package org.example.docs;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUse;
import io.github.lockboot.MultiLock;
import io.github.lockboot.NamedReadWriteLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.stereotype.Component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What docs/api.md shows. */
class ApiTests extends OnRedis {

    @Autowired
    private Refusals refusals;

    @Autowired
    @Qualifier("reports")
    private LockRegistry reports;

    @Test
    void aNameAndItsOptionsMakeALock() throws Exception {
        // tag::get
        LockOptions options = LockOptions.defaults()
                .withGroup("order") // what kind of lock: metrics, lock.locks.order in application.yml
                .withTtl(Duration.ofMinutes(1))
                .withWaitTime(Duration.ofSeconds(2));
        Lock lock = registry.get("order:4711", options);
        // end::get
        assertThat(lock.tryLock()).isTrue();
        assertThat(registry.get("order:4711").isHeldByCurrentThread()).isTrue();
        lock.unlock();
    }

    @Test
    void anAttemptSaysWhetherItRan() throws Exception {
        // tag::try
        LockTemplate.Attempt<String> attempt = template.tryExecute("report", ONCE, () -> "built");
        String text = attempt.isAcquired() ? attempt.get() : "another caller is building it";
        // end::try
        assertThat(text).isEqualTo("built");
        try (Lease other = anotherInstance().acquire("report", ONCE)) {
            assertThat(template.tryExecute("report", ONCE, () -> "built").isAcquired())
                    .isFalse();
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> template.execute("report", ONCE, () -> "built"));
            assertThat(other.isValid()).isTrue();
        }
        assertThat(refusals.count.get()).isEqualTo(2);
    }

    @Test
    void aLeaseIsClosedByWhoeverHasIt() throws Exception {
        // tag::lease
        Optional<Lease> lease = registry.tryAcquire("import", ONCE);
        if (lease.isPresent()) {
            CompletableFuture.runAsync(() -> {
                try (Lease held = lease.get()) { // another thread than the one that took it
                    importFile(held.fencingToken());
                }
            });
        }
        // end::lease
        assertThat(imported.get(60, TimeUnit.SECONDS)).isPositive();
        registry.acquire("import").close();
    }

    @Test
    void allOrNone() throws Exception {
        // tag::all
        MultiLock both = registry.allOf(List.of("account:a", "account:b")); // a java.util.concurrent.locks.Lock
        both.lock();
        try {
            move("a", "b");
        } finally {
            both.unlock();
        }
        // end::all
        assertThat(registry.get("account:a").isLocked()).isFalse();
    }

    @Test
    void aWriterBecomesAReader() {
        // tag::read-write
        NamedReadWriteLock prices = registry.readWrite("prices"); // a java.util.concurrent.locks.ReadWriteLock
        prices.writeLock().lock();
        try {
            load();
            prices.readLock().lock(); // downgrade: nobody writes in between
        } finally {
            prices.writeLock().unlock();
        }
        try {
            report();
        } finally {
            prices.readLock().unlock();
        }
        // end::read-write
        assertThat(prices.readLock().isLocked()).isFalse();
    }

    private void load() {
        assertThat(registry.readWrite("prices").writeLock().isHeldByCurrentThread())
                .isTrue();
    }

    private void report() {
        assertThat(registry.readWrite("prices").readLock().isHeldByCurrentThread())
                .isTrue();
    }

    @Test
    void aPermitIsTakenLikeALock() {
        // tag::permits
        LockOptions five = LockOptions.defaults().withGroup("partner").withPermits(5);
        String answer = template.execute("partner", five, () -> ask("price?"));
        // end::permits
        assertThat(answer).isEqualTo("price? 7");
    }

    private static String ask(String question) {
        return question + " 7";
    }

    @Test
    void aSecondRegistryStandsBesideTheFirst() throws Exception {
        try (Lease lease = reports.acquire("monthly", ONCE)) {
            assertThat(redis("EXISTS", "reports:monthly")).isEqualTo(1L);
            assertThat(lease.name()).isEqualTo("monthly");
        }
    }

    private final CompletableFuture<Long> imported = new CompletableFuture<>();

    private void importFile(long fencingToken) {
        imported.complete(fencingToken);
    }

    private void move(String from, String to) {
        for (String account : List.of(from, to)) {
            assertThat(registry.get("account:" + account).isHeldByCurrentThread())
                    .isTrue();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Refusals.class, ReportLocksConfiguration.class})
    static class Application {}
}

// tag::listener
@Component
class Refusals implements LockListener {

    final AtomicLong count = new AtomicLong();

    @Override
    public void notAcquired(LockUse use, Duration waited) { // on the thread that waited
        count.incrementAndGet();
    }
}
// end::listener

// tag::second
@Configuration(proxyBeanMethods = false)
class ReportLocksConfiguration {

    @Bean(defaultCandidate = false, destroyMethod = "close")
    @Qualifier("reports")
    RedisLockRegistry reportLocks(RedisConnectionFactory redis) {
        return RedisLockRegistry.builder(redis)
                .keyPrefix("reports:")
                .defaults(LockOptions.defaults().withTtl(Duration.ofMinutes(5)))
                .build();
    }
}
// end::second
