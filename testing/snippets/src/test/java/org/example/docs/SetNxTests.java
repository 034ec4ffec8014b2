package org.example.docs;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/migration/set-nx.md shows: two releases of one application, side by side on one Redis. */
@TestPropertySource(properties = "lock.key-prefix=shop:lock:")
class SetNxTests extends OnRedis {

    @Autowired
    private StringRedisTemplate strings;

    @Autowired
    private Payments after;

    @Test
    void theOldReleaseAndTheNewOneExcludeEachOther() throws Exception {
        OldPayments before = new OldPayments(strings, after);
        CyclicBarrier together = new CyclicBarrier(8);
        AtomicInteger number = new AtomicInteger();
        atOnce(8, () -> {
            boolean old = number.getAndIncrement() % 2 == 0;
            together.await(60, TimeUnit.SECONDS);
            for (int i = 0; i < 25; i++) {
                Callable<Boolean> pay = old ? () -> before.pay("1") : () -> after.pay("1");
                while (!pay.call()) {
                    Thread.sleep(2);
                }
            }
            return null;
        });
        assertThat(after.paid()).isEqualTo(200);
    }

    @Test
    void anOldHoldersKeyIsWaitedForAndLeftAlone() throws Exception {
        strings.opsForValue().set("shop:lock:order:2", "old", Duration.ofMinutes(1));
        assertThat(registry.get("order:2").tryLock(100, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(strings.opsForValue().get("shop:lock:order:2")).isEqualTo("old");
    }

    @Test
    void aReleaseOfAnOldHolderThatIsTooLateDeletesNothing() throws Exception {
        OldPayments before = new OldPayments(strings, after);
        try (Lease held = registry.acquire("order:3")) {
            before.unlock("shop:lock:order:3", "its lease ran out");
            assertThat(held.isValid()).isTrue();
            assertThat(redis("EXISTS", "shop:lock:order:3")).isEqualTo(1L);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Payments.class)
    static class Application {}
}

// tag::before
class OldPayments {

    private static final RedisScript<Long> UNLOCK = RedisScript.of(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
            Long.class);

    private final StringRedisTemplate redis;
    // end::before
    private final Payments payments;

    OldPayments(StringRedisTemplate redis, Payments payments) {
        this.redis = redis;
        this.payments = payments;
    }

    private boolean book(String id) {
        return payments.book(id);
    }

    // tag::before
    boolean pay(String id) {
        String key = "shop:lock:order:" + id;
        String value = UUID.randomUUID().toString();
        if (!Boolean.TRUE.equals(redis.opsForValue().setIfAbsent(key, value, Duration.ofSeconds(30)))) {
            return false;
        }
        try {
            return book(id);
        } finally {
            unlock(key, value);
        }
    }

    void unlock(String key, String value) {
        redis.execute(UNLOCK, List.of(key), value);
    }
}
// end::before

class Payments {

    private int paid;

    // tag::after
    @DistributedLock(name = "order", key = "#id") // with lock.key-prefix that is shop:lock:order:<id>, the old key
    public boolean pay(String id) {
        return book(id);
    }
    // end::after

    /** Loses payments unless one at a time comes here. */
    boolean book(String id) {
        int before = paid;
        Thread.yield();
        paid = before + (id.isEmpty() ? 0 : 1);
        return true;
    }

    int paid() {
        return paid;
    }
}
