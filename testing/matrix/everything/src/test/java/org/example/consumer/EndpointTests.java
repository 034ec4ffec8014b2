package org.example.consumer;

import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import com.jayway.jsonpath.JsonPath;
import io.github.lockboot.Lease;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** The endpoints of locks and their health as an operator has them: over HTTP. */
@ExtendWith(OutputCaptureExtension.class)
class EndpointTests {

    private static final String EXPOSED = "--management.endpoints.web.exposure.include=locks,lock";
    private static final String NAME = "order:4711/a";
    private static final LockOptions ORDERS = LockOptions.defaults().withGroup("order");

    private static RedisServer redis;

    private final HttpClient client = HttpClient.newHttpClient();
    private ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    @AfterEach
    void close() {
        application.close();
    }

    private LockRegistry startWith(String... arguments) {
        return startOn(redis, arguments);
    }

    private LockRegistry startOn(RedisServer server, String... arguments) {
        application = ConsumerApplication.start(
                Stream.concat(Stream.of("--spring.data.redis.url=" + server.uri()), Stream.of(arguments))
                        .toArray(String[]::new));
        return application.getBean(LockRegistry.class);
    }

    private HttpResponse<String> send(String method, String path) throws Exception {
        String port = application.getEnvironment().getProperty("local.server.port");
        URI uri = URI.create("http://localhost:" + port + "/actuator" + path);
        return client.send(
                HttpRequest.newBuilder(uri)
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .timeout(Duration.ofMinutes(1))
                        .build(),
                BodyHandlers.ofString());
    }

    private static String lock(String name) {
        return "/lock?name=" + URLEncoder.encode(name, StandardCharsets.UTF_8);
    }

    private <T> T read(String path, String what) throws Exception {
        HttpResponse<String> response = send("GET", path);
        assertThat(response.statusCode()).isEqualTo(200);
        return JsonPath.read(response.body(), what);
    }

    @Test
    void itIsNotExposedByDefault() throws Exception {
        startWith();
        assertThat(send("GET", "/locks").statusCode()).isEqualTo(404);
        assertThat(send("GET", "/health").statusCode()).isEqualTo(200);
    }

    @Test
    void itListsWhatThisInstanceHolds() throws Exception {
        NamedLock lock = startWith(EXPOSED).get(NAME, ORDERS);
        assertThat(this.<List<?>>read("/locks", "$.held")).isEmpty();
        lock.lock();
        Map<String, Object> held = read("/locks", "$.held[0]");
        assertThat(held)
                .containsEntry("group", "order")
                .containsEntry("name", LockNames.digest(NAME))
                .containsEntry("thread", Thread.currentThread().getName())
                .containsEntry("fencingToken", lock.fencingToken())
                .containsEntry("queue", 0)
                .containsKey("holderId");
        assertThat(Instant.parse((String) held.get("since"))).isBeforeOrEqualTo(Instant.now());
        assertThat(Duration.parse((String) held.get("remainingLease"))).isPositive();
        assertThat(this.<List<?>>read("/locks", "$.waiting")).isEmpty();
        lock.unlock();
    }

    @Test
    void oneLockIsShownByItsWholeNameAsRedisHasIt() throws Exception {
        Lease lease = startWith(EXPOSED).acquire(NAME, ORDERS);
        assertThat(this.<Map<String, Object>>read(lock(NAME), "$.state"))
                .containsEntry("keyType", "lock")
                .containsEntry("state", StoredLock.at(redis, "lock:" + NAME).toString());
        Map<String, Object> holder = read(lock(NAME), "$.state.holders[0]");
        assertThat(holder)
                .containsEntry("grantNumber", lease.fencingToken())
                .containsEntry("mode", "EXCLUSIVE")
                .containsEntry("holderId", read("/locks", "$.held[0].holderId"));
        assertThat(Duration.parse((String) holder.get("ttl"))).isEqualTo(Duration.ofSeconds(30));
        assertThat(Instant.parse((String) holder.get("until"))).isAfter(Instant.now());
        assertThat(send("GET", lock("order:4712")).statusCode()).isEqualTo(404);
        assertThat(send("GET", lock("order*")).statusCode()).isEqualTo(404);
        lease.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"at:12\\:30", "https\\://example.com/a", "a//b", "dir/", "/lead", "a;b", "50%", "a b+c", "\u7ea2\u5305"})
    void soIsALockOfAnyName(String name) throws Exception {
        LockRegistry locks = startWith(EXPOSED, "--lock.endpoint.force-release=true");
        locks.acquire(name);
        String holder = read(lock(name), "$.state.holders[0].holderId");
        assertThat(StoredLock.at(redis, "lock:" + name).owner()).isEqualTo(holder);
        assertThat(send("DELETE", lock(name) + "&holderId=" + holder).statusCode()).isEqualTo(204);
        assertThat(StoredLock.at(redis, "lock:" + name).owner()).isNull();
    }

    @Test
    void nobodyReleasesByForceByDefault() throws Exception {
        Lease lease = startWith(EXPOSED).acquire(NAME, ORDERS);
        String holder = read(lock(NAME), "$.state.holders[0].holderId");
        HttpResponse<String> refused = send("DELETE", lock(NAME) + "&holderId=" + holder);
        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(JsonPath.<String>read(refused.body(), "$.problem")).contains("lock.endpoint.force-release");
        assertThat(lease.isValid()).isTrue();
        assertThat(StoredLock.at(redis, "lock:" + NAME).owner()).isEqualTo(holder);
        lease.close();
    }

    @Test
    void whereThatIsAllowedTheOwnersIdReleases() throws Exception {
        Lease lease = startWith(EXPOSED, "--lock.endpoint.force-release=true").acquire(NAME, ORDERS);
        String holder = read(lock(NAME), "$.state.holders[0].holderId");
        assertThat(send("DELETE", lock(NAME)).statusCode()).isEqualTo(400);
        assertThat(send("DELETE", lock(NAME) + "&holderId=another-1").statusCode()).isEqualTo(409);
        assertThat(StoredLock.at(redis, "lock:" + NAME).owner()).isEqualTo(holder);
        assertThat(send("DELETE", lock(NAME) + "&holderId=" + holder).statusCode()).isEqualTo(204);
        assertThat(StoredLock.at(redis, "lock:" + NAME).owner()).isNull();
    }

    @Test
    void eachOfThreePermitsIsReleasedByItsId() throws Exception {
        LockRegistry locks = startWith(EXPOSED, "--lock.endpoint.force-release=true");
        for (int i = 0; i < 3; i++) {
            locks.acquire(NAME, ORDERS.withPermits(3));
        }
        List<String> ids = read(lock(NAME), "$.state.holders[*].holderId");
        assertThat(ids).hasSize(3).doesNotHaveDuplicates();
        for (String id : List.of(ids.get(2), ids.get(1), ids.get(0))) {
            assertThat(send("DELETE", lock(NAME) + "&holderId=" + id).statusCode()).isEqualTo(204);
            assertThat(send("DELETE", lock(NAME) + "&holderId=" + id).statusCode()).isEqualTo(409);
        }
        assertThat(StoredLock.at(redis, "lock:" + NAME).holders()).isEmpty();
    }

    @Test
    void aNameThatNoLockMayHaveIsABadRequestAndNoErrorOfTheServer(CapturedOutput log) throws Exception {
        startWith(EXPOSED, "--lock.endpoint.force-release=true");
        for (String name : List.of("", "x".repeat(1_025))) {
            assertThat(send("GET", lock(name)).statusCode()).isEqualTo(400);
            assertThat(send("DELETE", lock(name) + "&holderId=a-1").statusCode()).isEqualTo(400);
        }
        assertThat(log).doesNotContain("ERROR").doesNotContain("Exception");
    }

    @Test
    void whileRedisHangsTheEndpointSaysSoAndTheNameIsInNoLog(CapturedOutput log) throws Exception {
        try (RedisServer mortal = RedisServer.start()) {
            startOn(
                            mortal,
                            EXPOSED,
                            "--lock.endpoint.force-release=true",
                            "--lock.startup-check=off",
                            "--lock.redis.command-timeout=1s")
                    .acquire("before")
                    .close();
            mortal.pause();
            for (HttpResponse<String> answer :
                    List.of(send("GET", lock("openid-4711")), send("DELETE", lock("openid-4711") + "&holderId=a-1"))) {
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
                assertThat(JsonPath.<String>read(answer.body(), "$.problem"))
                        .startsWith("the store did not answer or refused: ");
            }
            assertThat(log).doesNotContain("4711");
            mortal.resume();
        }
    }

    @Test
    void theHealthOfLocksIsUpUntilRedisIsGone() throws Exception {
        try (RedisServer mortal = RedisServer.start()) {
            startOn(
                    mortal,
                    "--management.endpoint.health.show-components=always",
                    "--lock.startup-check=off");
            HttpResponse<String> up = send("GET", "/health/lock");
            assertThat(up.statusCode()).as(up.body()).isEqualTo(200);
            assertThat(JsonPath.<String>read(up.body(), "$.status")).isEqualTo("UP");
            mortal.kill();
            HttpResponse<String> down = send("GET", "/health/lock");
            assertThat(down.statusCode()).as(down.body()).isEqualTo(503);
            assertThat(JsonPath.<String>read(down.body(), "$.status")).isEqualTo("DOWN");
        }
    }
}
