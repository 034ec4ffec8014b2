package com.example.demo;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockContext;
import io.github.lockboot.LockTemplate;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(properties = "lock.type=memory")
class DemoApplicationTests {

    @Autowired
    private RedPacketService service;

    @Autowired
    private LockTemplate template;

    @Test
    void theMethodWaitsForTheLockOfItsKey() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CompletableFuture<String> grabbed = template.execute("o1p1", () -> {
            CompletableFuture<String> other = CompletableFuture.supplyAsync(() -> {
                called.countDown();
                return service.grab("p1", "o1");
            });
            called.await();
            Thread.sleep(200);
            assertThat(other).isNotDone();
            return other;
        });
        assertThat(grabbed.get(10, TimeUnit.SECONDS)).isEqualTo("o1 opens p1");
        assertThat(LockContext.find()).isEmpty();
    }
}
