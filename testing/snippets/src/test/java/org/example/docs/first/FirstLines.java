package org.example.docs.first;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockboot.LockTemplate;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/** An application that consists of the README's first lines. */
@SpringBootTest(
        classes = FirstLines.Application.class,
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = {
            "spring.main.banner-mode=off",
            "lock.startup-check=off",
            "lock.redis.command-timeout=10s" // the first command also loads classes
        })
abstract class FirstLines {

    private static final RedisServer REDIS = RedisServer.start();

    @Autowired
    private LockTemplate template;

    /** Calls the bean of the README. */
    abstract String pay(String orderId);

    @DynamicPropertySource
    static void redisIsHere(DynamicPropertyRegistry properties) {
        properties.add("spring.data.redis.url", REDIS::uri);
    }

    @Test
    void theMethodRunsUnderTheLockOfItsKey() throws Exception {
        CompletableFuture<String> paid = template.execute("order:o1", () -> {
            CompletableFuture<String> other = CompletableFuture.supplyAsync(() -> pay("o1"));
            Thread.sleep(200);
            assertThat(other).isNotDone();
            assertThat(pay("o2")).isEqualTo("o2 is paid");
            return other;
        });
        assertThat(paid.get(60, TimeUnit.SECONDS)).isEqualTo("o1 is paid");
    }

    /** The lock lets one call in at a time; that an order is paid once is up to the method. */
    @Test
    void ofThreeClicksEachRuns() {
        List<CompletableFuture<String>> clicks = Stream.generate(() -> CompletableFuture.supplyAsync(() -> pay("o1")))
                .limit(3)
                .toList();
        assertThat(clicks)
                .allSatisfy(click ->
                        assertThat(click).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("o1 is paid"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @ComponentScan
    static class Application {}
}
