package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.concurrent.Callable;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.cache.CacheFlights;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.cache.support.AbstractValueAdaptingCache;
import org.springframework.cache.support.NoOpCacheManager;
import org.springframework.cache.support.SimpleCacheManager;
import org.springframework.cache.transaction.TransactionAwareCacheManagerProxy;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** Which caches the start accepts in {@code lock.cache.sync}. */
class CacheFlightStartTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("lock.type=memory")
            .withConfiguration(AutoConfigurations.of(LockAutoConfiguration.class));

    private ApplicationContextRunner with(String sync, CacheManager... managers) {
        ApplicationContextRunner application = runner.withPropertyValues("lock.cache.sync=" + sync);
        for (int i = 0; i < managers.length; i++) {
            CacheManager manager = managers[i];
            application = application.withBean("manager" + i, CacheManager.class, () -> manager);
        }
        return application;
    }

    private static void assertRefused(ApplicationContextRunner application, String problem, String action) {
        application.run(context -> assertThat(context)
                .getFailure()
                .isInstanceOf(LockStartupException.class)
                .hasMessageStartingWith(problem + "; ")
                .hasMessageContaining(action)
                .satisfies(failure -> assertThat(((LockStartupException) failure).analysis.getDescription())
                        .isEqualToIgnoringCase(problem + ".")));
    }

    /** As a manager of Redis, which makes caches as they are asked for. */
    private static RedisCacheManager shared() {
        return RedisCacheManager.create(new LettuceConnectionFactory());
    }

    private static final class Shared extends AbstractValueAdaptingCache {

        Shared() {
            super(true);
        }

        @Override
        protected Object lookup(Object key) {
            return null;
        }

        @Override
        public String getName() {
            return "products";
        }

        @Override
        public Object getNativeCache() {
            return this;
        }

        @Override
        public <T> T get(Object key, Callable<T> loader) {
            try {
                return loader.call();
            } catch (Exception failure) {
                throw new ValueRetrievalException(key, loader, failure);
            }
        }

        @Override
        public void put(Object key, Object value) {}

        @Override
        public void evict(Object key) {}

        @Override
        public void clear() {}
    }

    @Test
    void withoutThePropertyThereIsNoBeanForIt() {
        runner.withBean(CacheManager.class, ConcurrentMapCacheManager::new).run(context -> {
            assertThat(context).doesNotHaveBean(CacheFlights.class);
            assertThat(AopUtils.isAopProxy(context.getBean(CacheManager.class))).isFalse();
        });
    }

    @Test
    void aNamedCacheOfOneInstanceIsRefused() {
        assertRefused(
                with("products", new ConcurrentMapCacheManager()),
                "cache 'products' of lock.cache.sync is of a kind that instances do not share, ConcurrentMapCache",
                "use a cache such as that of Spring Data Redis");
        assertRefused(
                with("products", new TransactionAwareCacheManagerProxy(new ConcurrentMapCacheManager("products"))),
                "cache 'products' of lock.cache.sync is of a kind that instances do not share, ConcurrentMapCache",
                "remove it from the property");
    }

    @Test
    void ofAllCachesOneHasToBeShared() {
        assertRefused(
                with("*", new ConcurrentMapCacheManager()),
                "cache '*' of lock.cache.sync is of a kind that instances do not share, ConcurrentMapCacheManager",
                "remove it from the property");
        with("*", new ConcurrentMapCacheManager("products"), shared())
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aNameThatNoManagerHasIsRefused() {
        SimpleCacheManager fixed = new SimpleCacheManager();
        fixed.setCaches(List.of(new Shared()));
        assertRefused(
                with("product", fixed),
                "no CacheManager has the cache 'product' of lock.cache.sync",
                "correct the name, or remove it from the property");
        with("products", fixed).run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void withoutAManagerThePropertyIsRefused() {
        assertRefused(
                with("products"), "there is no CacheManager bean, but lock.cache.sync is set", "add @EnableCaching");
    }

    /** As with {@code spring.cache.type=none}, by which tests turn caches off. */
    @Test
    void cachesThatAreTurnedOffAreLeftAlone() {
        with("products", new NoOpCacheManager()).run(context -> {
            assertThat(context).hasNotFailed();
            Cache products = context.getBean(CacheManager.class).getCache("products");
            assertThat(AopUtils.isAopProxy(products)).isFalse();
        });
    }

    @Test
    void anEmptyPropertyChangesNothing() {
        with("", new ConcurrentMapCacheManager())
                .run(context -> assertThat(context).hasNotFailed());
        with("").run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void ofSeveralManagersTheOneWithTheNameCounts() {
        ConcurrentMapCacheManager local = new ConcurrentMapCacheManager();
        SimpleCacheManager fixed = new SimpleCacheManager();
        fixed.setCaches(List.of(new Shared()));
        with("products", local, fixed).run(context -> assertThat(context).hasNotFailed());
        assertThat(local.getCacheNames()).isEmpty();
    }

    @Test
    void ofSeveralManagersThatMakeCachesOnDemandOneHasToBeShared() {
        with("products", new ConcurrentMapCacheManager(), shared())
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aCacheOfAnotherLibraryTakesTheLockOfItsNameAndKey() {
        SimpleCacheManager fixed = new SimpleCacheManager();
        fixed.setCaches(List.of(new Shared()));
        with("products", fixed).run(context -> {
            LockRegistry locks = context.getBean(LockRegistry.class);
            Cache products = context.getBean(CacheManager.class).getCache("products");
            assertThat(products.get(
                            new int[] {1, 2},
                            () -> locks.get("cache:products:[[1, 2]]").isLocked()))
                    .isTrue();
        });
    }

    @Test
    void aPatternIsRefused() {
        with("prod*", new ConcurrentMapCacheManager())
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasRootCauseInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .rootCause()
                        .hasMessageContaining("lock.cache.sync"));
    }
}
