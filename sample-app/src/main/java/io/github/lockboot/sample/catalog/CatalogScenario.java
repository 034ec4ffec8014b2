package io.github.lockboot.sample.catalog;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Figures;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;

import static java.util.Objects.requireNonNull;

/** All workers read one price from a cache, and it is evicted again and again. */
@Component
@NeedsLocks
class CatalogScenario extends Scenario {

    private static final String FIGURES = "sample:catalog";
    private static final String PRODUCT = "tea";

    /** The names of the caches. Only the first is in {@code lock.cache.sync}. */
    private static final List<String> MODES = List.of("catalog", "catalog-without");

    private static final Duration BETWEEN_CALLS = Duration.ofMillis(20);
    private static final Duration BETWEEN_EVICTIONS = Duration.ofMillis(900);

    private final Catalog catalog;
    private final CacheManager caches;
    private final Figures figures;
    private final Waits waits;

    CatalogScenario(Catalog catalog, CacheManager caches, Figures figures, Waits waits) {
        super("catalog", 8, "cache:catalog::" + PRODUCT);
        this.catalog = catalog;
        this.caches = caches;
        this.figures = figures;
        this.waits = waits;
    }

    @Override
    public List<String> modes() {
        return MODES;
    }

    /** Begins with a price, so that from now on every load has an eviction before it. */
    @Override
    public void prepare(Load load) {
        cache(load).put(PRODUCT, "to be evicted");
        figures.reset(FIGURES);
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        if (worker == 0 && load.ledHere()) {
            if (cache(load).get(PRODUCT) != null) { // only this worker evicts
                cache(load).evict(PRODUCT);
                figures.count(FIGURES, "evictions");
            }
            load.sleep(BETWEEN_EVICTIONS);
        } else {
            waits.during(
                    name(), () -> load.mode().equals(MODES.get(0)) ? catalog.price(PRODUCT) : catalog.without(PRODUCT));
            load.sleep(BETWEEN_CALLS);
        }
        return true;
    }

    private Cache cache(Load load) {
        return requireNonNull(caches.getCache(load.mode()));
    }

    @Override
    public Object state() {
        return Map.of("evictions", figures.counted(FIGURES, "evictions"), "loads", figures.counted(FIGURES, "loads"));
    }

    /** Prices from a slow database, in two caches that all instances share. */
    @Service
    @NeedsLocks
    static class Catalog {

        private static final long DATABASE_TAKES_MILLIS = 300;

        private final Figures figures;

        Catalog(Figures figures) {
            this.figures = figures;
        }

        /** Once in all instances, because {@code lock.cache.sync} names the cache. */
        @Cacheable(cacheNames = "catalog", sync = true)
        public String price(String product) throws InterruptedException {
            return load(product);
        }

        /** As often as callers miss it. */
        @Cacheable(cacheNames = "catalog-without", sync = true)
        public String without(String product) throws InterruptedException {
            return load(product);
        }

        private String load(String product) throws InterruptedException {
            figures.count(FIGURES, "loads");
            Thread.sleep(DATABASE_TAKES_MILLIS);
            return product + " costs 4.20";
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableCaching
    @NeedsLocks
    static class Caches {

        @Bean
        RedisCacheManager cacheManager(RedisConnectionFactory connections) {
            return RedisCacheManager.builder(connections)
                    .cacheDefaults(RedisCacheConfiguration.defaultCacheConfig().entryTtl(Duration.ofHours(2)))
                    .build();
        }
    }
}
