package org.example.docs;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.LockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** What docs/guards.md shows of a cache. */
@TestPropertySource(properties = "spring.config.location=classpath:snippets/cache.yml")
class CacheTests extends OnRedis {

    @Autowired
    Products products;

    @Test
    void oneCallerLoadsWithTheLockOfItsKey() throws Exception {
        List<String> names = atOnce(8, () -> products.name(4711));
        assertThat(names).containsOnly("product 4711");
        assertThat(products.loads()).isEqualTo(1);
        assertThat(products.wasLocked()).isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableCaching
    @Import(Products.class)
    static class Application {}

    static class Products {

        private final AtomicInteger loads = new AtomicInteger();
        private final LockRegistry registry;
        private volatile boolean locked;

        Products(LockRegistry registry) {
            this.registry = registry;
        }

        // tag::method
        @Cacheable(cacheNames = "products", key = "#id", sync = true)
        public String name(long id) { // 40 instances miss: one loads, the others wait for its value
            return load(id);
        }
        // end::method

        public int loads() {
            return loads.get();
        }

        public boolean wasLocked() {
            return locked;
        }

        private String load(long id) {
            loads.incrementAndGet();
            locked = registry.get("cache:products::" + id).isLocked();
            return "product " + id;
        }
    }
}
