package io.github.lockboot.sample.catalog;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.lockboot.sample.OnTwoInstances;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.live.Figures;
import org.junit.jupiter.api.Test;
import org.springframework.cache.CacheManager;

import static org.assertj.core.api.Assertions.assertThat;

class CatalogTests extends OnTwoInstances {

    private static final int CALLS = 20;

    @Test
    void oneCallerOfBothInstancesLoadsThePrice() throws Exception {
        one.bean(CacheManager.class).getCache("catalog").evictIfPresent("tea");
        Figures figures = one.bean(Figures.class);
        figures.reset("sample:catalog");
        ExecutorService callers = Executors.newFixedThreadPool(CALLS);
        List<Future<String>> prices = new ArrayList<>();
        for (int call = 0; call < CALLS; call++) {
            SampleInstance asked = call % 2 == 0 ? one : two;
            prices.add(callers.submit(
                    () -> asked.bean(CatalogScenario.Catalog.class).price("tea")));
        }
        for (Future<String> price : prices) {
            assertThat(price.get()).isEqualTo("tea costs 4.20");
        }
        callers.shutdownNow();
        assertThat(figures.counted("sample:catalog", "loads")).isEqualTo(1);
    }
}
