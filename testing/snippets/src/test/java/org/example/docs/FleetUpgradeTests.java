package org.example.docs;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What docs/recipes.md says of instances with other settings: here the application is the release between two prefixes.
 */
@TestPropertySource(properties = {"lock.key-prefix=lock:shop:", "lock.wait-time=0"})
class FleetUpgradeTests extends OnRedis {

    @Autowired
    private Shipments shipments;

    @Test
    void instancesWithOtherTimesExcludeEachOther() throws Exception {
        LockRegistry old = anotherInstance();
        LockRegistry renewed = anotherInstance();
        LockOptions shorter = ONCE.withTtl(Duration.ofSeconds(5)).withoutRenewal();
        LockOptions longer = LockOptions.defaults()
                .withTtl(Duration.ofMinutes(5))
                .withWaitTime(Duration.ofMillis(100))
                .withMaxHold(Duration.ofMinutes(10));
        try (Lease held = old.acquire("times", shorter)) {
            assertThat(renewed.tryAcquire("times", longer)).isEmpty();
            assertThat(held.remainingLease()).isLessThanOrEqualTo(Duration.ofSeconds(5));
        }
        try (Lease held = renewed.acquire("times", longer)) {
            assertThat(old.tryAcquire("times", shorter)).isEmpty();
            assertThat(held.remainingLease()).isGreaterThan(Duration.ofMinutes(1));
        }
    }

    @Test
    void theReleaseBetweenTwoPrefixesExcludesBoth() throws Exception {
        shipments.ship("1");
        for (String prefix : List.of("lock:", "lock:shop:")) {
            try (RedisLockRegistry other =
                            RedisLockRegistry.builder(redis).keyPrefix(prefix).build();
                    Lease held = other.acquire("shipment:1", ONCE)) {
                assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> shipments.ship("1"));
                assertThat(held.isValid()).isTrue();
            }
        }
        assertThat(shipments.locked()).containsExactly(List.of(1L, 1L));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Shipments.class)
    static class Application {

        // tag::old-prefix
        @Bean(defaultCandidate = false)
        LockRegistry oldLocks(RedisConnectionFactory redis) { // in addition to lock.key-prefix, which is the new one
            return RedisLockRegistry.builder(redis).keyPrefix("lock:").build();
        }
        // end::old-prefix
    }
}

class Shipments {

    private final List<List<Object>> locked = new CopyOnWriteArrayList<>();

    List<List<Object>> locked() {
        return locked;
    }

    // tag::both-prefixes
    @DistributedLock(name = "shipment", key = "#id")
    @DistributedLock(name = "shipment", key = "#id", registry = "oldLocks")
    public void ship(String id) {
        send(id);
    }
    // end::both-prefixes

    private void send(String id) {
        locked.add(List.of(
                OnRedis.redis("EXISTS", "lock:shipment:" + id), OnRedis.redis("EXISTS", "lock:shop:shipment:" + id)));
    }
}
