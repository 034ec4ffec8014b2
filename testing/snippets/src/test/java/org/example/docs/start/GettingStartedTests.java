package org.example.docs.start;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.batch.BatchAutoConfiguration;
import org.springframework.boot.autoconfigure.quartz.QuartzAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/** What docs/getting-started.md shows: a shop in which an order is paid, and what its second caller gets. */
class GettingStartedTests extends Shop {

    @Autowired
    private OrderService orders;

    @Autowired
    private Receipts receipts;

    @Test
    void manyCallersChargeAnOrderOnce() throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(16);
        try {
            List<Future<Receipt>> calls = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                calls.add(callers.submit(() -> orders.pay("once")));
            }
            for (Future<Receipt> call : calls) {
                assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo(new Receipt("once", 1));
            }
        } finally {
            callers.shutdownNow();
        }
        assertThat(receipts.charged("once")).isOne();
    }

    @Test
    void theSecondCallerIsAnsweredAtOnceAsThePageShows() throws Exception {
        try (Lease other = locks.acquire("order:4711")) {
            long start = System.nanoTime();
            ResponseEntity<String> answer = http.postForEntity("/orders/4711/refund", null, String.class);
            assertThat(answer.getStatusCode()).isEqualTo(HttpStatus.CONFLICT);
            assertThat(Integer.parseInt(answer.getHeaders().getFirst("Retry-After")))
                    .isBetween(1, 30);
            assertThat(since(start)).isLessThan(9_000);
            ObjectNode body = (ObjectNode) new ObjectMapper().readTree(answer.getBody());
            body.remove("type"); // "about:blank", which newer lines of Spring leave out
            assertThat(body)
                    .isEqualTo(new ObjectMapper().readTree(getClass().getResourceAsStream("/snippets/conflict.json")));
            assertThat(other.isValid()).isTrue();
        }
        assertThat(http.postForEntity("/orders/4711/refund", null, String.class).getStatusCode())
                .isEqualTo(HttpStatus.OK);
    }

    @Test
    void aCallerThatNamesTwoSecondsWaitsForTwoSeconds() throws Exception {
        try (Lease other = locks.acquire("order:4712")) {
            long start = System.nanoTime();
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> orders.ship("4712"));
            assertThat(since(start)).isBetween(2_000L, 9_000L);
            assertThat(other.isValid()).isTrue();
        }
    }

    @Test
    void theAdviceOfAnApplicationAnswersBoth() throws Exception {
        Refusing controller = new Refusing();
        MockMvc web = MockMvcBuilders.standaloneSetup(controller)
                .setControllerAdvice(new GlobalExceptionHandler())
                .build();
        controller.failure = new LockNotAcquiredException("order:1", Duration.ZERO).withUserMessage("It is busy");
        web.perform(get("/"))
                .andExpect(status().isConflict())
                .andExpect(content().json("{\"code\":409,\"message\":\"It is busy\"}"));
        controller.failure = new LockNotAcquiredException("order:1", Duration.ZERO);
        web.perform(get("/"))
                .andExpect(status().isConflict())
                .andExpect(content().json("{\"message\":null}"));
        controller.failure = new IllegalStateException();
        web.perform(get("/")).andExpect(status().isInternalServerError());
    }

    @RestController
    static class Refusing {

        private RuntimeException failure;

        @GetMapping("/")
        public String get() {
            throw failure;
        }
    }

    /** Milliseconds. */
    private static long since(long start) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }
}

/** In development, where names are shown. */
@TestPropertySource(properties = {"lock.log-keys=true", "management.endpoints.web.exposure.include=locks,lock"})
class SeenInDevelopmentTests extends Shop {

    @LocalServerPort
    private int port;

    @Test
    void oneCommandShowsWhoHoldsALock() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        Thread holder = new Thread(
                () -> {
                    Lock lock = locks.get("order:4711");
                    lock.lock();
                    held.countDown();
                    try {
                        seen.await();
                    } catch (InterruptedException end) {
                        Thread.currentThread().interrupt();
                    }
                    lock.unlock();
                },
                "http-nio-8080-exec-3");
        holder.start();
        assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
        List<String> commands;
        try (var lines = getClass().getResourceAsStream("/snippets/see.sh")) {
            commands = new String(lines.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
        String here = run(commands.get(0));
        String anywhere = run(commands.get(1));
        seen.countDown();
        holder.join();
        assertThat(here)
                .contains("\"name\":\"order:4711\"")
                .contains("\"thread\":\"http-nio-8080-exec-3\"")
                .contains("\"since\":");
        assertThat(anywhere).contains("\"holders\":[{\"holderId\":\"").contains("\"until\":");
    }

    private String run(String command) throws IOException, InterruptedException {
        assertThat(command).contains("localhost:8080");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/curl")), "no curl");
        Process curl = new ProcessBuilder("sh", "-c", command.replace("localhost:8080", "localhost:" + port)).start();
        String printed = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(curl.waitFor()).isZero();
        return printed;
    }
}

// tag::plain
class OrderServiceTests {

    @Test
    void anOrderIsPaidOnce() { // no Spring, no Redis, no lock
        OrderService orders = new OrderService(new Receipts());
        assertThat(orders.pay("7")).isEqualTo(orders.pay("7"));
    }
}
// end::plain

@SpringBootTest(
        classes = Shop.Application.class,
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.main.banner-mode=off",
            "lock.startup-check=off",
            "lock.redis.command-timeout=10s" // the first command also loads classes
        })
abstract class Shop {

    private static final RedisServer REDIS = RedisServer.start();

    @Autowired
    LockRegistry locks;

    @Autowired
    TestRestTemplate http;

    @DynamicPropertySource
    static void redisIsHere(DynamicPropertyRegistry properties) {
        properties.add("spring.data.redis.url", REDIS::uri);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = {BatchAutoConfiguration.class, QuartzAutoConfiguration.class})
    @Import({OrderService.class, Receipts.class, Orders.class})
    static class Application {}

    @RestController
    static class Orders {

        private final OrderService orders;

        Orders(OrderService orders) {
            this.orders = orders;
        }

        @PostMapping("/orders/{id}/refund")
        public String refund(@PathVariable("id") String id) {
            orders.refund(id);
            return "refunded";
        }
    }
}

record Receipt(String orderId, int number) {}

/** As unprotected as what a database does between a select and an insert. */
class Receipts {

    private final Map<String, Receipt> all = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> charged = new ConcurrentHashMap<>();

    Optional<Receipt> find(String orderId) {
        return Optional.ofNullable(all.get(orderId));
    }

    Receipt charge(String orderId) {
        Thread.yield();
        int number =
                charged.computeIfAbsent(orderId, first -> new AtomicInteger()).incrementAndGet();
        Receipt receipt = new Receipt(orderId, number);
        all.put(orderId, receipt);
        return receipt;
    }

    int charged(String orderId) {
        return charged.get(orderId).get();
    }
}

// tag::pay
@Service
class OrderService {

    // end::pay
    private final Receipts receipts;

    OrderService(Receipts receipts) {
        this.receipts = receipts;
    }

    // tag::pay
    @DistributedLock(name = "order", key = "#orderId")
    public Receipt pay(String orderId) { // one call at a time for each order, in all instances
        return receipts.find(orderId).orElseGet(() -> receipts.charge(orderId));
    }
    // end::pay

    // tag::at-once
    @DistributedLock(name = "order", key = "#orderId", waitTime = "0", message = "This order is being processed")
    public void refund(String orderId) {
        giveBack(orderId);
    }

    @DistributedLock(name = "order", key = "#orderId", waitTime = "2s")
    public void ship(String orderId) {
        send(orderId);
    }
    // end::at-once

    private void giveBack(String orderId) {
        assertThat(orderId).isEqualTo("4711");
    }

    private void send(String orderId) {
        throw new AssertionError("ran without the lock: " + orderId);
    }
    // tag::pay
}
// end::pay

// tag::failures
@RestControllerAdvice
class GlobalExceptionHandler {

    record Result(int code, String message) {}

    @ExceptionHandler // the same for LockUnavailableException, with 503
    ResponseEntity<Result> busy(LockNotAcquiredException held) { // getUserMessage() is null without a message
        return ResponseEntity.status(409).body(new Result(409, held.getUserMessage()));
    }

    @ExceptionHandler
    ResponseEntity<Result> failed(Exception failure) {
        return ResponseEntity.status(500).body(new Result(500, null));
    }
}
// end::failures
