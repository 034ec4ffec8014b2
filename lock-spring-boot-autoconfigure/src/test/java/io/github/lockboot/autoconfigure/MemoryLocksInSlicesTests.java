package io.github.lockboot.autoconfigure;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockAssert;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.json.JsonTest;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A slice has none of our auto-configuration, so what it imports would run unlocked. */
class MemoryLocksInSlicesTests {

    @Nested
    @JsonTest
    @AutoConfigureMemoryLocks
    @ContextConfiguration(classes = MemoryLocksInSlicesTests.Application.class)
    @Import(Orders.class)
    class InASlice {

        @Autowired
        private Orders orders;

        @Autowired
        private MemoryLockRegistry registry;

        @Test
        void aMethodThatIsImportedIsLocked() {
            assertThat(orders.pay("7")).isEqualTo("paid 7");
            Lease other = registry.newInstance().steal("order:7");
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> orders.pay("7"));
            other.close();
        }

        @Nested
        class AndInWhatIsNestedInIt {

            @Test
            void aMethodIsLockedToo(@Autowired Orders same) {
                assertThat(same.pay("8")).isEqualTo("paid 8");
            }
        }
    }

    /** For tests alone, locks may be disabled in the properties, or be on Redis. */
    @Nested
    @JsonTest(properties = {"lock.enabled=false", "lock.type=redis"})
    @AutoConfigureMemoryLocks
    @ContextConfiguration(classes = MemoryLocksInSlicesTests.Application.class)
    @Import(Orders.class)
    class WhateverThePropertiesSay {

        @Test
        void aMethodIsLocked(@Autowired Orders orders) {
            assertThat(orders.pay("9")).isEqualTo("paid 9");
        }
    }

    @Nested
    @SpringBootTest(classes = MemoryLocksInSlicesTests.WholeApplication.class)
    @AutoConfigureMemoryLocks
    @Import(Orders.class)
    class InAWholeApplication {

        @Test
        void locksAreInMemory(@Autowired Orders orders, @Autowired LockRegistry registry) {
            assertThat(registry).isInstanceOf(MemoryLockRegistry.class);
            assertThat(orders.pay("10")).isEqualTo("paid 10");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LockAutoConfiguration.class)
    static class WholeApplication {}

    static class Orders {
        @DistributedLock(name = "order", key = "#id", waitTime = "0")
        public String pay(String id) {
            LockAssert.assertLocked("order:" + id);
            return "paid " + id;
        }
    }
}
