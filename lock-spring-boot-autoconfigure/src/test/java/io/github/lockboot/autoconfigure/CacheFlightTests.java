package io.github.lockboot.autoconfigure;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.LockException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.fixture.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.interceptor.SimpleKey;
import org.springframework.cache.transaction.TransactionAwareCacheDecorator;
import org.springframework.cache.transaction.TransactionAwareCacheManagerProxy;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.cache.RedisCache;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What a cache in {@code lock.cache.sync} does in two instances on a real Redis. */
class CacheFlightTests {

    private static final String LOCK = "cache:products::key";

    private final CacheFleet fleet = new CacheFleet();
    private final AtomicInteger loads = new AtomicInteger();

    @AfterEach
    void stop() {
        fleet.close();
    }

    private Cache products() {
        return CacheFleet.products(fleet.instance(CacheFleet.PRODUCTS));
    }

    private Object load() {
        return "load " + loads.incrementAndGet();
    }

    /** Two callers: the first loads until the second waits. {@return what they get} */
    private List<Object> bothMiss(Cache cache, Object key, Cache other, Object otherKey, Callable<Object> load)
            throws Exception {
        CompletableFuture<Void> waited = new CompletableFuture<>();
        CompletableFuture<Void> loading = new CompletableFuture<>();
        CompletableFuture<Object> first = fleet.actor()
                .start(() -> cache.get(key, () -> {
                    loading.complete(null);
                    waited.join();
                    return load.call();
                }));
        Actor.get(loading);
        Actor follower = fleet.actor();
        CompletableFuture<Object> second = follower.start(() -> other.get(otherKey, load));
        Actor.await("it waits", follower::isWaiting);
        waited.complete(null);
        return Stream.of(first, second).map(CompletableFuture::join).toList();
    }

    /** Spring Data Redis 4 awaits no answer to put. */
    private static void store(Cache products) {
        products.put("key", "value");
        Actor.await("it is stored", () -> products.get("key") != null);
    }

    // --- values and keys --------------------------------------------------------------------------------------

    @Test
    void aHitNeedsNoCommandOfALock() throws Exception {
        Cache products = products();
        store(products);
        CompletableFuture<Object> asynchronous = products.retrieve("key", () -> CompletableFuture.completedFuture("x"));
        assertThat(Actor.get(asynchronous)).isEqualTo("value");
        long before = fleet.scripts();
        long gets = fleet.count("get");
        for (int i = 0; i < 100; i++) {
            assertThat(products.get("key", this::load)).isEqualTo("value");
            assertThat(Actor.get(products.retrieve("key", () -> CompletableFuture.completedFuture("x"))))
                    .isEqualTo("value");
        }
        assertThat(fleet.scripts() - before).isZero();
        assertThat(fleet.count("get") - gets).isEqualTo(200);
        assertThat(loads).hasValue(0);
    }

    @Test
    void anotherCacheIsLeftAlone() {
        ConfigurableApplicationContext instance = fleet.instance(CacheFleet.PRODUCTS);
        long before = fleet.scripts();
        assertThat(CacheFleet.cache(instance, "others").get("key", this::load)).isEqualTo("load 1");
        assertThat(fleet.scripts() - before).isZero();
        assertThat(AopUtils.isAopProxy(CacheFleet.cache(instance, "others"))).isFalse();
    }

    @Test
    void allCachesAreMeantByAnAsterisk() {
        ConfigurableApplicationContext instance = fleet.instance("lock.cache.sync=*");
        long before = fleet.scripts();
        assertThat(CacheFleet.cache(instance, "others").get("key", this::load)).isEqualTo("load 1");
        assertThat(fleet.scripts() - before).isPositive();
    }

    @Test
    void theNamesMayBeAList() {
        ConfigurableApplicationContext instance =
                fleet.instance("lock.cache.sync[0]=rates", "lock.cache.sync[1]=products");
        assertThat(AopUtils.isAopProxy(CacheFleet.products(instance))).isTrue();
    }

    @Test
    void nullIsAValueThatIsLoadedOnce() throws Exception {
        Cache products = products();
        Cache other = products();
        bothMissNull(products, other);
        assertThat(products.get("key", this::load)).isNull();
        assertThat(Actor.get(other.retrieve("key", () -> CompletableFuture.completedFuture("x"))))
                .isNull();
        assertThat(loads).hasValue(1);
    }

    private void bothMissNull(Cache products, Cache other) throws Exception {
        CompletableFuture<Void> waited = new CompletableFuture<>();
        CompletableFuture<Object> first = fleet.actor()
                .start(() -> products.get("key", () -> {
                    load();
                    waited.join();
                    return null;
                }));
        Actor.await("it loads", () -> loads.get() == 1);
        Actor follower = fleet.actor();
        CompletableFuture<Object> second = follower.start(() -> other.get("key", this::load));
        Actor.await("it waits", follower::isWaiting);
        waited.complete(null);
        assertThat(Actor.get(first)).isNull();
        assertThat(Actor.get(second)).isNull();
    }

    @Test
    void aCacheThatAllowsNoNullRefusesItAsBefore() {
        ConfigurableApplicationContext instance = fleet.instance(NoNulls.class, CacheFleet.PRODUCTS);
        Cache products = CacheFleet.products(instance);
        assertThatExceptionOfType(RuntimeException.class)
                .isThrownBy(() -> products.get("key", () -> null))
                .isNotInstanceOf(LockException.class);
        assertThat(products.get("key", this::load)).isEqualTo("load 1");
    }

    @Test
    void theTimeToLiveIsThatOfTheCache() {
        products().get("key", this::load);
        assertThat((Long) fleet.server().command("PTTL", "products::key"))
                .isBetween(1L, Duration.ofMinutes(10).toMillis());
    }

    @Test
    void afterAnEvictionTheNextCallerLoads() {
        Cache products = products();
        products.get("key", this::load);
        products.evictIfPresent("key"); // Spring Data Redis 4 awaits no answer to evict
        assertThat(products.get("key", this::load)).isEqualTo("load 2");
    }

    /** As if the value had been evicted before the waiting caller read it. */
    @Test
    void anEvictionAtTheEndOfALoadMeansOneMoreLoad() throws Exception {
        Cache products = products();
        LockTemplate other = fleet.instance().getBean(LockTemplate.class);
        CompletableFuture<Void> waited = new CompletableFuture<>();
        CompletableFuture<String> first = fleet.actor()
                .start(() -> other.singleFlight(LOCK, () -> null, () -> {
                    loads.incrementAndGet();
                    waited.join();
                    return "evicted";
                }));
        Actor.await("it loads", () -> loads.get() == 1);
        CompletableFuture<Object> second = fleet.actor().start(() -> products.get("key", this::load));
        fleet.awaitQueued(LOCK, 1);
        waited.complete(null);
        assertThat(Actor.get(first)).isEqualTo("evicted");
        assertThat(Actor.get(second)).isEqualTo("load 2");
    }

    static Stream<Object> keys() {
        return Stream.of(
                "text",
                "with:colons::and \\ more\u0000\n",
                4711L,
                UUID.fromString("00000000-0000-0000-0000-000000000001"),
                Thread.State.NEW,
                new SimpleKey("a", 2),
                SimpleKey.EMPTY,
                new Sku("a", 2),
                new int[] {1, 2},
                new String[] {"a", "b"},
                List.of("a", 2L),
                "x".repeat(5_000),
                "half a pair \ud800",
                "锁");
    }

    @ParameterizedTest
    @MethodSource("keys")
    void aKeyOfAnyTypeThatTheCacheAcceptsIsLoadedOnce(Object key) throws Exception {
        assertThat(bothMiss(products(), key, products(), key, this::load)).containsOnly("load 1");
        assertThat(loads).hasValue(1);
    }

    @Test
    void keysThatAreOneForTheCacheAreOneForTheLock() throws Exception {
        assertThat(bothMiss(products(), 1L, products(), "1", this::load)).containsOnly("load 1");
    }

    @Test
    void aKeyThatTheCacheRefusesIsRefusedAsBefore() {
        Cache products = products();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> products.get(new Object() {}, this::load))
                .withMessageContaining("Cannot convert cache key");
        assertThat(loads).hasValue(0);
    }

    @Test
    void differentKeysAreLoadedAtATime() throws Exception {
        assertAtATime(CacheFleet.products(fleet.instance(CacheFleet.PRODUCTS)), "a", products(), "b");
    }

    @Test
    void oneKeyOfTwoCachesIsLoadedAtATime() throws Exception {
        ConfigurableApplicationContext instance = fleet.instance("lock.cache.sync=products,rates");
        assertAtATime(CacheFleet.products(instance), "key", CacheFleet.cache(instance, "rates"), "key");
    }

    private void assertAtATime(Cache cache, String key, Cache other, String otherKey) throws Exception {
        CyclicBarrier both = new CyclicBarrier(2);
        Callable<Object> together = () -> {
            both.await();
            return "value";
        };
        CompletableFuture<Object> first = fleet.actor().start(() -> cache.get(key, together));
        CompletableFuture<Object> second = fleet.actor().start(() -> other.get(otherKey, together));
        assertThat(Actor.get(first)).isEqualTo("value");
        assertThat(Actor.get(second)).isEqualTo("value");
    }

    @Test
    void aLoaderMayReadAnotherKeyOrCache() {
        ConfigurableApplicationContext instance = fleet.instance("lock.cache.sync=products,rates");
        Cache products = CacheFleet.products(instance);
        assertThat(products.get(
                        "key",
                        () -> "with " + CacheFleet.cache(instance, "rates").get("key", this::load) + " and "
                                + products.get("part", this::load)))
                .isEqualTo("with load 1 and load 2");
        assertThat(products.get("part", this::load)).isEqualTo("load 2");
    }

    @Test
    void whatTheLoaderThrowsIsWrappedAsTheCacheDoes() {
        Cache products = products();
        assertThatExceptionOfType(Cache.ValueRetrievalException.class)
                .isThrownBy(() -> products.get("key", () -> {
                    throw new LockUnavailableException("other", "of the loader", null);
                }))
                .withCauseInstanceOf(LockUnavailableException.class);
        assertThatExceptionOfType(Cache.ValueRetrievalException.class)
                .isThrownBy(() -> products.get("key", () -> {
                    throw new IOException("upstream is down");
                }))
                .withCauseInstanceOf(IOException.class);
        assertThat(products.get("key", this::load)).isEqualTo("load 1");
    }

    // --- managers and types -----------------------------------------------------------------------------------

    /** Metrics of caches, for one, go by the type. */
    @Test
    void managerAndCacheKeepTheirTypes() {
        ConfigurableApplicationContext instance = fleet.instance(CacheFleet.PRODUCTS);
        RedisCacheManager manager = instance.getBean(RedisCacheManager.class);
        assertThat(manager.getCache("products"))
                .isInstanceOfSatisfying(
                        RedisCache.class,
                        cache -> assertThat(cache.getNativeCache()).isNotNull())
                .isSameAs(manager.getCache("products"));
        assertThat(manager.getCacheNames()).contains("products");
        assertThat(manager.getCacheConfigurations()).containsKey("products");
        assertThat(((RedisCache) manager.getCache("products")).getStatistics().getCacheName())
                .isEqualTo("products");
    }

    @ParameterizedTest
    @ValueSource(classes = {CacheFleet.Application.class, AwareProxy.class})
    void aTransactionAwareManagerHasTheValueBeforeTheCommit(Class<?> application) throws Exception {
        String aware = "test.transaction-aware=true";
        Cache products = CacheFleet.products(fleet.instance(application, CacheFleet.PRODUCTS, aware));
        Cache other = CacheFleet.products(fleet.instance(application, CacheFleet.PRODUCTS, aware));
        assertThat(products).isInstanceOf(TransactionAwareCacheDecorator.class);
        CompletableFuture<Void> commit = new CompletableFuture<>();
        CompletableFuture<Object> inTransaction = fleet.actor().start(() -> {
            TransactionSynchronizationManager.initSynchronization();
            try {
                Object value = products.get("key", this::load);
                products.put("later", "value");
                commit.join();
                return value;
            } finally {
                TransactionSynchronizationManager.clear();
            }
        });
        Actor.await("it is loaded", () -> loads.get() == 1);
        assertThat(other.get("key", this::load)).isEqualTo("load 1");
        assertThat(other.get("later")).isNull();
        commit.complete(null);
        assertThat(Actor.get(inTransaction)).isEqualTo("load 1");
    }

    @Test
    void aManagerThatDecoratesItsCachesAtEachCallHasOneProxyForEach() throws Exception {
        ConfigurableApplicationContext instance = fleet.instance(AwareProxyOfNoBean.class, CacheFleet.PRODUCTS);
        Cache products = CacheFleet.products(instance);
        assertThat(CacheFleet.products(instance)).isSameAs(products);
        Cache other = CacheFleet.products(fleet.instance(AwareProxyOfNoBean.class, CacheFleet.PRODUCTS));
        assertThat(bothMiss(products, "key", other, "key", this::load)).containsOnly("load 1");
    }

    /** Else the inner flight would wait for the outer one. */
    @Test
    void aManagerAroundAnotherMakesOneFlight() {
        ConfigurableApplicationContext instance = fleet.instance(AwareProxy.class, CacheFleet.PRODUCTS);
        long before = fleet.scripts();
        assertThat(instance.getBean("aware", CacheManager.class)
                        .getCache("products")
                        .get("key", this::load))
                .isEqualTo("load 1");
        assertThat(instance.getBean("cacheManager", CacheManager.class)
                        .getCache("products")
                        .get("key", this::load))
                .isEqualTo("load 1");
        Actor.await("lock, announcement and release", () -> fleet.scripts() - before >= 2);
        assertThat(fleet.scripts() - before).isLessThanOrEqualTo(3);
    }

    @Test
    void aManagerOfAFinalClassStillHasItsInterface() throws Exception {
        Cache products = CacheFleet.products(fleet.instance(FinalManager.class, CacheFleet.PRODUCTS));
        Cache other = CacheFleet.products(fleet.instance(FinalManager.class, CacheFleet.PRODUCTS));
        assertThat(bothMiss(products, "key", other, "key", this::load)).containsOnly("load 1");
    }

    // --- asynchronous results ---------------------------------------------------------------------------------

    private static ConfigurableApplicationContext shop(CacheFleet fleet, String... properties) {
        return fleet.instance(
                Shop.class,
                Stream.concat(Stream.of(CacheFleet.PRODUCTS), Stream.of(properties))
                        .toArray(String[]::new));
    }

    private void assertLoadedOnce(Supplier<CompletableFuture<String>> one, Supplier<CompletableFuture<String>> other)
            throws Exception {
        List<CompletableFuture<String>> all =
                Stream.of(one, other, one, other, one, other).map(Supplier::get).toList();
        Actor.await("it loads", () -> Shop.LOADS.get() == 1);
        fleet.awaitQueued(LOCK, 1);
        Shop.UPSTREAM.get().complete("value");
        for (CompletableFuture<String> each : all) {
            assertThat(Actor.get(each)).isEqualTo("value");
        }
        assertThat(Shop.LOADS).hasValue(1);
    }

    @Test
    void aMethodWithAFutureIsLoadedOnce() throws Exception {
        Shop.reset();
        Shop one = shop(fleet).getBean(Shop.class);
        Shop other = shop(fleet).getBean(Shop.class);
        assertLoadedOnce(() -> one.future("key"), () -> other.future("key"));
    }

    @Test
    void aMethodWithAMonoIsLoadedOnce() throws Exception {
        Shop.reset();
        Shop one = shop(fleet).getBean(Shop.class);
        Shop other = shop(fleet).getBean(Shop.class);
        assertLoadedOnce(
                () -> one.mono("key").toFuture(), () -> other.mono("key").toFuture());
    }

    @Test
    void aFutureThatFailsIsToldAndTheNextOneLoads() throws Exception {
        Cache products = products();
        CompletableFuture<String> failed = products.retrieve(
                "key",
                () -> CompletableFuture.failedFuture(new LockUnavailableException("other", "of the loader", null)));
        assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> Actor.get(failed));
        assertThat(Actor.get(products.retrieve("key", () -> CompletableFuture.completedFuture("value"))))
                .isEqualTo("value");
    }

    @Test
    void aCancelledFutureReleasesTheLock() throws Exception {
        Cache products = products();
        CompletableFuture<Void> loading = new CompletableFuture<>();
        CompletableFuture<Object> cancelled = products.retrieve("key", () -> {
            loading.complete(null);
            return new CompletableFuture<>();
        });
        Actor.get(loading);
        cancelled.cancel(true);
        assertThat(Actor.get(products.retrieve("key", () -> CompletableFuture.completedFuture("value"))))
                .isEqualTo("value");
    }

    // --- without the lock -------------------------------------------------------------------------------------

    private ConfigurableApplicationContext instanceWhoseLocksAreAway(TcpProxy proxy, String... properties) {
        ConfigurableApplicationContext instance = fleet.instance(Stream.concat(
                        Stream.of(
                                CacheFleet.PRODUCTS,
                                "test.lock-port=" + proxy.port(),
                                "lock.redis.command-timeout=300ms"),
                        Stream.of(properties))
                .toArray(String[]::new));
        proxy.refuse();
        return instance;
    }

    @Test
    void withoutTheRedisOfTheLocksTheLoaderRunsByDefault() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(fleet.server())) {
            Cache products = CacheFleet.products(instanceWhoseLocksAreAway(proxy));
            assertThat(products.get("key", this::load)).isEqualTo("load 1");
            assertThat(products.get("key", this::load)).isEqualTo("load 1");
            assertThat(Actor.get(products.retrieve("other", () -> CompletableFuture.completedFuture("value"))))
                    .isEqualTo("value");
            assertThat(products.get("other", this::load)).isEqualTo("value");
        }
    }

    @Test
    void withoutTheRedisOfTheLocksNoLoaderRunsWhereThePropertySaysFail() {
        try (TcpProxy proxy = TcpProxy.to(fleet.server())) {
            Cache products = CacheFleet.products(instanceWhoseLocksAreAway(proxy, "lock.cache.unavailable=fail"));
            assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> products.get("key", this::load));
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(
                            () -> Actor.get(products.retrieve("key", () -> CompletableFuture.supplyAsync(this::load))));
            assertThat(loads).hasValue(0);
            store(products);
            assertThat(products.get("key", this::load)).isEqualTo("value");
        }
    }

    @Test
    void aLoadedValueIsReturnedAlthoughTheLockWasLost() throws Exception {
        try (TcpProxy proxy = TcpProxy.to(fleet.server())) {
            ConfigurableApplicationContext instance = fleet.instance(
                    CacheFleet.PRODUCTS,
                    "test.lock-port=" + proxy.port(),
                    "lock.redis.command-timeout=300ms",
                    "lock.ttl=1s",
                    "lock.cache.unavailable=fail");
            Cache products = CacheFleet.products(instance);
            assertThat(products.get("key", () -> {
                        proxy.refuse();
                        Actor.await(
                                "the lease is over",
                                () -> fleet.server()
                                        .command("EXISTS", "lock:" + LOCK)
                                        .equals(0L));
                        return load();
                    }))
                    .isEqualTo("load 1");
        }
    }

    /** Many loaders at once would be no help for a load that takes long. */
    @ParameterizedTest
    @ValueSource(strings = {"load", "fail"})
    void aCallerWhoseWaitTimeEndsDoesNotLoad(String unavailable) throws Exception {
        Cache products = CacheFleet.products(fleet.instance(
                CacheFleet.PRODUCTS, "lock.cache.unavailable=" + unavailable, "lock.locks.cache.wait-time=100ms"));
        LockRegistry other = fleet.instance().getBean(LockRegistry.class);
        fleet.actor().run(other.get(LOCK)::lock);
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> products.get("key", this::load));
        CompletableFuture<Object> asynchronous =
                products.retrieve("key", () -> CompletableFuture.supplyAsync(this::load));
        assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(asynchronous));
        assertThat(loads).hasValue(0);
    }

    @Test
    void anInterruptEndsTheWaitAndNothingIsLoaded() throws Exception {
        Cache products = products();
        fleet.actor().run(fleet.instance().getBean(LockRegistry.class).get(LOCK)::lock);
        Actor caller = fleet.actor();
        CompletableFuture<Boolean> interrupted = caller.start(() -> {
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> products.get("key", this::load));
            return Thread.interrupted();
        });
        fleet.awaitQueued(LOCK, 1);
        caller.interrupt();
        assertThat(Actor.get(interrupted)).isTrue();
        assertThat(loads).hasValue(0);
    }

    // --- applications -----------------------------------------------------------------------------------------

    record Sku(String name, int size) {}

    @Configuration(proxyBeanMethods = false)
    @Import(CacheFleet.Application.class)
    static class NoNulls {

        @Bean
        @Primary
        RedisCacheManager withoutNulls(RedisConnectionFactory connections) {
            return RedisCacheManager.builder(connections)
                    .cacheDefaults(RedisCacheConfiguration.defaultCacheConfig().disableCachingNullValues())
                    .build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CacheFleet.Application.class)
    static class AwareProxy {

        @Bean
        @Primary
        TransactionAwareCacheManagerProxy aware(RedisCacheManager cacheManager) {
            return new TransactionAwareCacheManagerProxy(cacheManager);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CacheFleet.Application.class)
    static class AwareProxyOfNoBean {

        @Bean
        @Primary
        TransactionAwareCacheManagerProxy aware(RedisConnectionFactory connections) {
            RedisCacheManager caches = RedisCacheManager.create(connections);
            caches.afterPropertiesSet();
            return new TransactionAwareCacheManagerProxy(caches);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CacheFleet.Application.class)
    static class FinalManager {

        @Bean
        @Primary
        CacheManager last(RedisConnectionFactory connections) {
            RedisCacheManager caches = RedisCacheManager.builder(connections).build();
            caches.afterPropertiesSet();
            return new Last(caches);
        }

        record Last(CacheManager caches) implements CacheManager {

            @Override
            public Cache getCache(String name) {
                return caches.getCache(name);
            }

            @Override
            public Collection<String> getCacheNames() {
                return caches.getCacheNames();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(CacheFleet.Application.class)
    static class Shop {

        static final AtomicInteger LOADS = new AtomicInteger();
        static final AtomicReference<CompletableFuture<String>> UPSTREAM =
                new AtomicReference<>(new CompletableFuture<>());

        static void reset() {
            LOADS.set(0);
            UPSTREAM.set(new CompletableFuture<>());
        }

        @Cacheable(cacheNames = "products", sync = true)
        public CompletableFuture<String> future(String id) {
            LOADS.incrementAndGet();
            return UPSTREAM.get();
        }

        @Cacheable(cacheNames = "products", sync = true)
        public Mono<String> mono(String id) {
            return Mono.fromFuture(() -> {
                LOADS.incrementAndGet();
                return UPSTREAM.get();
            });
        }
    }
}
