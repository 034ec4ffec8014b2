package io.github.lockboot.autoconfigure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.fixture.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.cache.Cache;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Eight instances of 32 threads that miss the same keys of a cache on a real Redis. */
class CacheFleetTests {

    private static final int INSTANCES = 8;
    private static final int THREADS = 32;
    private static final String LEASE = "lock.ttl=3s";

    private final CacheFleet fleet = new CacheFleet();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<Object, AtomicInteger> loads = new ConcurrentHashMap<>();

    @AfterEach
    void stop() {
        threads.shutdownNow();
        fleet.close();
    }

    private List<Cache> caches(int count, String... properties) {
        return IntStream.range(0, count)
                .mapToObj(i -> CacheFleet.products(fleet.instance(properties)))
                .toList();
    }

    private int loaded(Object key) {
        return loads.computeIfAbsent(key, any -> new AtomicInteger()).incrementAndGet();
    }

    private List<Future<String>> callers(List<Cache> caches, int each, Object key, Callable<String> load) {
        List<Future<String>> callers = new ArrayList<>();
        for (Cache cache : caches) {
            for (int i = 0; i < each; i++) {
                callers.add(threads.submit(() -> cache.get(key, load)));
            }
        }
        return callers;
    }

    @Test
    void eachKeyIsLoadedOnceInTheFleet() throws Exception {
        assertEachIsLoadedOnce(50);
    }

    @Test
    @Tag("full")
    void eachOfThousandKeysIsLoadedOnceInTheFleet() throws Exception {
        assertEachIsLoadedOnce(1_000);
    }

    private void assertEachIsLoadedOnce(int keys) throws Exception {
        List<Cache> caches = caches(INSTANCES, CacheFleet.PRODUCTS);
        CyclicBarrier together = new CyclicBarrier(INSTANCES * THREADS);
        List<Future<?>> callers = new ArrayList<>();
        long start = System.nanoTime();
        for (Cache cache : caches) {
            for (int thread = 0; thread < THREADS; thread++) {
                callers.add(threads.submit(() -> {
                    for (int key = 0; key < keys; key++) {
                        int missed = key;
                        together.await();
                        assertThat(cache.<String>get(missed, () -> {
                                    Thread.sleep(5);
                                    return "product " + missed + " of load " + loaded(missed);
                                }))
                                .isEqualTo("product " + missed + " of load 1");
                    }
                    return null;
                }));
            }
        }
        for (Future<?> caller : callers) {
            caller.get(10, TimeUnit.MINUTES);
        }
        Figures.report(
                "cache: %d keys x %d callers of %d instances, %d loads, %d ms",
                keys, INSTANCES * THREADS, INSTANCES, sum(), Figures.millisSince(start));
        assertThat(loads)
                .hasSize(keys)
                .allSatisfy((key, count) -> assertThat(count).hasValue(1));
    }

    private int sum() {
        return loads.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** The control. None of them finds a value, because none returns from its load before all have begun. */
    @Test
    void withoutThePropertyEachCallerOfEachInstanceLoads() throws Exception {
        assertThat(loadsOfAKey(caches(4), 32)).isEqualTo(32);
    }

    @Test
    void withThePropertyOneOfTheseLoads() throws Exception {
        assertThat(loadsOfAKey(caches(4, CacheFleet.PRODUCTS), 1)).isEqualTo(1);
    }

    /** @param atOnce how many loads begin before one returns */
    private int loadsOfAKey(List<Cache> caches, int atOnce) throws Exception {
        CountDownLatch begun = new CountDownLatch(atOnce);
        List<Future<String>> callers = callers(caches, 8, "key", () -> {
            begun.countDown();
            begun.await();
            return "load " + loaded("key");
        });
        for (Future<String> caller : callers) {
            caller.get(1, TimeUnit.MINUTES);
        }
        return sum();
    }

    /** What others see of the kill of a process: its connections are gone, and no new ones come. */
    @Test
    void whenTheProcessThatLoadsIsKilledExactlyOneOtherLoads() throws Exception {
        List<Cache> caches = caches(INSTANCES - 1, CacheFleet.PRODUCTS, LEASE);
        try (TcpProxy proxy = TcpProxy.to(fleet.server())) {
            ConfigurableApplicationContext killed =
                    fleet.start(CacheFleet.Application.class, proxy.host(), proxy.port(), CacheFleet.PRODUCTS, LEASE);
            CompletableFuture<Void> loading = new CompletableFuture<>();
            CompletableFuture<Void> never = new CompletableFuture<>();
            Actor loader = fleet.actor();
            loader.begin(() -> CacheFleet.products(killed).get("key", () -> {
                loaded("key");
                loading.complete(null);
                return never.get();
            }));
            Actor.get(loading);
            List<Future<String>> callers = callers(caches, THREADS, "key", () -> "load " + loaded("key"));
            fleet.awaitQueued("cache:products::key", INSTANCES - 1);
            long start = System.nanoTime();
            proxy.refuse();
            for (Future<String> caller : callers) {
                assertThat(caller.get(1, TimeUnit.MINUTES)).isEqualTo("load 2");
            }
            Figures.report("cache: the process that loads is gone, all served after %d ms", Figures.millisSince(start));
            assertThat(loads.get("key")).hasValue(2);
            never.complete(null);
        }
    }

    @Test
    void whenTheLoaderFailsItsCallerIsToldAndExactlyOneOtherLoads() throws Exception {
        List<Cache> caches = caches(4, CacheFleet.PRODUCTS);
        CompletableFuture<Void> failure = new CompletableFuture<>();
        CompletableFuture<Object> first = fleet.actor()
                .start(() -> caches.get(0).get("key", () -> {
                    loaded("key");
                    failure.join();
                    throw new IOException("upstream is down");
                }));
        Actor.await("it loads", () -> loads.containsKey("key"));
        List<Future<String>> callers = callers(caches.subList(1, 4), 8, "key", () -> "load " + loaded("key"));
        fleet.awaitQueued("cache:products::key", 3);
        failure.complete(null);
        assertThatExceptionOfType(Cache.ValueRetrievalException.class)
                .isThrownBy(() -> Actor.get(first))
                .withCauseInstanceOf(IOException.class)
                .satisfies(told -> assertThat(told.getKey()).isEqualTo("key"));
        for (Future<String> caller : callers) {
            assertThat(caller.get(1, TimeUnit.MINUTES)).isEqualTo("load 2");
        }
        assertThat(loads.get("key")).hasValue(2);
    }
}
