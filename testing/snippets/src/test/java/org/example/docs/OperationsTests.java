package org.example.docs;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.batch.BatchAutoConfiguration;
import org.springframework.boot.autoconfigure.quartz.QuartzAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.client.TestRestTemplate;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What docs/operations.md has an operator type, and what it shows of the endpoints, on a web application and a real
 * Redis.
 */
@DirtiesContext
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
        properties = {
            "spring.main.banner-mode=off",
            "spring.data.redis.client-name=shop",
            "management.endpoints.web.exposure.include=lock,locks",
            "lock.endpoint.force-release=true",
            "lock.redis.command-timeout=10s"
        })
class OperationsTests {

    private static final RedisServer REDIS = RedisServer.start();
    private static final Regions REGIONS = Regions.read();
    private static final String NAME = "order:4711";
    private static final LockOptions ORDER = LockOptions.defaults().withGroup("order");

    private static final Pattern HOLDER = Pattern.compile("\"holderId\":\"([^\"]+)\"");

    @TempDir
    private Path programs;

    @Autowired
    private TestRestTemplate http;

    @Autowired
    private RedisLockRegistry registry;

    @Autowired
    private RedisConnectionFactory redis;

    @LocalServerPort
    private int port;

    @Autowired
    private Jobs jobs;

    @Autowired
    private LeaderElection election;

    @DynamicPropertySource
    static void redisIsHere(DynamicPropertyRegistry properties) {
        properties.add("spring.data.redis.url", REDIS::uri);
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    private static List<String> region(String name) {
        return REGIONS.find(name).orElseThrow(() -> new AssertionError("no region " + name));
    }

    private List<String> type(String region) {
        return new Shell(REDIS, programs).run(region("operator.sh#" + region));
    }

    private String get(String path) {
        return http.getForObject("/actuator/" + path, String.class);
    }

    // --- in a shell -------------------------------------------------------------------------------------------

    @Test
    void theDigestOfANameIsThatOfTheLog() {
        assertThat(type("digest")).containsExactly(LockNames.digest(NAME));
        assertThat(region("actuator-lock.json")).anyMatch(line -> line.contains(LockNames.digest(NAME)));
    }

    @Test
    void theNameOfADigestIsFoundAmongTheKeys() throws Exception {
        try (Lease order = registry.acquire(NAME, ORDER);
                Lease odd = registry.acquire("odd \\ name", ORDER)) {
            assertThat(type("names"))
                    .contains(
                            LockNames.digest(NAME) + " lock:" + NAME,
                            LockNames.digest("odd \\ name") + " lock:odd \\ name");
            assertThat(order.isValid() && odd.isValid()).isTrue();
        }
    }

    @Test
    void fromRedisCliAloneTheProcessThatHoldsALockIsFound() throws Exception {
        registry.connect().get();
        String session = registry.inspector().session();
        try (RedisLockRegistry other = anotherInstance()) {
            other.connect().get();
            Lease lease = registry.acquire(NAME, ORDER);
            CompletableFuture<Lease> waiting = waitIn(other);
            assertThat(type("holder"))
                    .hasSizeGreaterThanOrEqualTo(2)
                    .allMatch(client -> client.contains(" name=shop-lock-" + session + " "))
                    .allMatch(client -> client.contains(" addr="));
            assertThat(get("locks")).contains(":\"" + session + "\"}").contains("\"holderId\":\"" + session);
            assertThat(registry.describe()).as("what the log says at the start").endsWith(", session " + session);
            lease.close();
            waiting.get(60, TimeUnit.SECONDS).close();
        }
    }

    private static CompletableFuture<Lease> waitIn(RedisLockRegistry other) {
        CompletableFuture<Lease> waiting = other.acquireAsync(NAME, ORDER.withWaitTime(Duration.ofMinutes(1)));
        Await.until(
                "it waits",
                () -> String.valueOf(REDIS.command("GET", "lock:" + NAME))
                        .contains(other.inspector().session()));
        return waiting;
    }

    private RedisLockRegistry anotherInstance() {
        return RedisLockRegistry.builder(redis)
                .commandTimeout(Duration.ofSeconds(10))
                .build();
    }

    /** The queue is gone with the key: who waits asks again. */
    @Test
    void aLockThatIsDeletedByHandGoesToTheNextThatAsksAndItsHolderLosesIt() throws Exception {
        try (RedisLockRegistry other = anotherInstance()) {
            other.connect().get();
            NamedLock lock = registry.get(NAME, ORDER.withTtl(Duration.ofSeconds(3)));
            lock.lock();
            long token = lock.fencingToken();
            CompletableFuture<Lease> waiting = waitIn(other);
            assertThat(type("delete")).containsExactly("1");
            try (Lease next = waiting.get(60, TimeUnit.SECONDS)) {
                assertThat(next.fencingToken()).isGreaterThan(token);
                Await.until("the holder knows", () -> !lock.isHeldByCurrentThread());
                assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
                assertThat(next.isValid()).isTrue();
                assertThat(lock.isLocked()).isTrue();
            }
        }
    }

    @Test
    void aHoldIsEndedByForce() throws Exception {
        Lease lease = registry.acquire(NAME, ORDER);
        Matcher holder = HOLDER.matcher(get("lock?name=" + NAME));
        assertThat(holder.find()).isTrue();
        List<String> lines = new ArrayList<>(List.of("holderId=" + holder.group(1)));
        region("operator.sh#release")
                .forEach(line -> lines.add(
                        line.replace("localhost:8080", "localhost:" + port).replace("curl", "curl -sS")));
        assertThat(new Shell(REDIS, programs).run(lines)).isEmpty();
        assertThat(lease.isValid()).isFalse();
        Await.until(
                "the clock has passed its tokens",
                () -> REDIS.command("EXISTS", "lock:" + NAME).equals(0L));
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
    }

    // --- the endpoints ----------------------------------------------------------------------------------------

    @Test
    void theEndpointsAnswerAsThePageShows() throws Exception {
        Await.until("it leads", election::isLeader);
        CompletableFuture<Lock> held = new CompletableFuture<>();
        CountDownLatch seen = new CountDownLatch(1);
        Thread holder = thread("http-nio-8080-exec-3", () -> {
            NamedLock lock = registry.get(NAME, ORDER);
            lock.lock();
            held.complete(lock);
            seen.await();
            lock.unlock();
        });
        held.get(60, TimeUnit.SECONDS);
        Thread waiter = thread("http-nio-8080-exec-5", () -> {
            NamedLock lock = registry.get(NAME, ORDER);
            lock.lock();
            lock.unlock();
        });
        Thread job = thread("scheduling-1", jobs::nightly);
        try {
            job.join(60_000);
            Await.until("it waits", () -> get("locks").contains("\"position\":1"));
            assertThat(shape(get("lock?name=" + NAME))).isEqualTo(shape(sample("actuator-lock.json")));
            assertThat(shape(get("locks"))).isEqualTo(shape(sample("actuator-locks.json")));
        } finally {
            seen.countDown();
            holder.join(60_000);
            waiter.join(60_000);
        }
    }

    private static String sample(String file) {
        return String.join("\n", region(file));
    }

    private interface Work {
        void run() throws Exception;
    }

    private static Thread thread(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (Exception failure) {
                        throw new IllegalStateException(failure);
                    }
                },
                name);
        thread.start();
        return thread;
    }

    /** The same fields in the same order, with what differs each time replaced: ids, sessions, and numbers. */
    private static String shape(String json) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(shape(mapper.readValue(json, Object.class)));
    }

    private static Object shape(Object node) {
        if (node instanceof Map<?, ?> fields) {
            Map<Object, Object> shapes = new LinkedHashMap<>();
            fields.forEach((field, value) -> shapes.put(field, shape(value)));
            return shapes;
        }
        if (node instanceof List<?> items) {
            List<Object> shapes = new ArrayList<>();
            items.forEach(item -> shapes.add(shape(item)));
            return shapes;
        }
        String text = String.valueOf(node);
        return text.matches("[0-9a-f]{12}")
                ? text // a digest
                : text.replaceAll("\\b[0-9a-f]{32}-\\d+\\.[0-9a-f]{16}\\b", "id")
                        .replaceAll("^[0-9a-f]{8}$", "session")
                        .replaceAll("\\d+(\\.\\d+)?", "0");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = {BatchAutoConfiguration.class, QuartzAutoConfiguration.class})
    static class Application {

        @Bean
        Jobs jobs() {
            return new Jobs();
        }

        @Bean
        LeaderElection reports(RedisLockRegistry registry) {
            return LeaderElection.of(registry, "reports");
        }
    }

    static class Jobs {

        @ScheduledLock(name = "nightly")
        public void nightly() {}
    }
}
