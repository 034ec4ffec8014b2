package io.github.lockboot.sample;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

/** SIGTERM to a process of the sample that serves requests, while another instance holds what some of them wait for. */
class ShutdownTests {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int WAITERS = 20;

    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicBoolean loading = new AtomicBoolean(true);
    private RedisServer redis;
    private SampleProcess sample;
    private String url;

    @BeforeEach
    void start() {
        redis = RedisServer.start();
        sample = new SampleProcess(
                SlowSample.class, redis, "--lock.redis.command-timeout=15s", "--spring.data.redis.timeout=15s");
        url = sample.url();
    }

    @AfterEach
    void stop() {
        loading.set(false);
        sample.close();
        redis.close();
    }

    @Test
    void waitersLeaveAtOnceHoldersFinishAndNothingIsLeft() throws Exception {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(redis.host(), redis.port());
        factory.afterPropertiesSet();
        factory.start();
        try (RedisLockRegistry other = RedisLockRegistry.builder(factory)
                .commandTimeout(Duration.ofSeconds(15))
                .build()) {
            Lease elsewhere = other.acquire("slow:b", LockOptions.defaults());
            List<CompletableFuture<HttpResponse<String>>> load = load();
            CompletableFuture<HttpResponse<String>> holder = post("/slow/a");
            await("a is held", () -> exists("lock:slow:a"));
            List<CompletableFuture<HttpResponse<String>>> waiters = IntStream.range(0, WAITERS)
                    .mapToObj(i -> post(i % 2 == 0 ? "/slow/a" : "/slow/b"))
                    .toList();
            await("the sample waits for b", () -> isQueued("lock:slow:b"));
            assertThat(post("/async/c").join().statusCode()).isEqualTo(202);
            await("c is held", () -> exists("lock:async:c"));
            assertThat(post("/kept/d").join().statusCode()).isEqualTo(202);

            sample.process().destroy();

            await("the sample has left the queue", () -> !isQueued("lock:slow:b"));
            assertThat(waiters)
                    .allSatisfy(waiter -> assertThat(
                                    waiter.get(60, TimeUnit.SECONDS).statusCode())
                            .isEqualTo(503));
            assertThat(holder).isNotDone();
            assertThat(exists("lock:slow:a")).isTrue();
            assertThat(exists("lock:async:c")).isTrue();

            redis.command("SET", "go", "1");
            assertThat(holder.get(60, TimeUnit.SECONDS).body()).isEqualTo("done");
            assertThat(sample.process().waitFor(LONG.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(keys())
                    .as("those of others, and those that stay held until their time")
                    .contains("lock:slow:b")
                    .isSubsetOf("lock:slow:b", "lock:kept:d", "lock:draw");
            assertThat(elsewhere.isValid()).isTrue();
            elsewhere.close();
            loading.set(false);
            assertThat(load)
                    .allSatisfy(client -> assertThat(
                                    client.handle((answer, failure) -> answer == null ? 0 : answer.statusCode())
                                            .get(60, TimeUnit.SECONDS))
                            .isIn(0, 200, 503));
            assertThat(sample.log()).noneMatch(line -> line.contains("was lost"));
        } finally {
            factory.destroy();
        }
    }

    @SuppressWarnings("unchecked")
    private List<Object> keys() {
        return (List<Object>) redis.command("KEYS", "lock:*");
    }

    /** A few clients that grab one after the other until the sample no longer answers. */
    private List<CompletableFuture<HttpResponse<String>>> load() throws Exception {
        Matcher id = Pattern.compile("[0-9a-f]{32}")
                .matcher(post("/red-packets?amount=100.00&count=50").get().body());
        assertThat(id.find()).isTrue();
        String grab = "/red-packets/" + id.group() + "/grab?openid=o";
        List<CompletableFuture<HttpResponse<String>>> clients =
                IntStream.range(0, 4).mapToObj(client -> goOn(grab + client)).toList();
        assertThat(post(grab + "0").get().statusCode()).isEqualTo(200);
        return clients;
    }

    private CompletableFuture<HttpResponse<String>> goOn(String path) {
        return post(path)
                .thenCompose(answer -> loading.get() && answer.statusCode() == 200
                        ? CompletableFuture.supplyAsync(
                                        () -> path, CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS))
                                .thenCompose(this::goOn)
                        : CompletableFuture.completedFuture(answer));
    }

    private CompletableFuture<HttpResponse<String>> post(String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private boolean exists(String key) {
        return Long.valueOf(1).equals(redis.command("EXISTS", key));
    }

    private boolean isQueued(String key) {
        return StoredLock.at(redis, key).isWaitedFor();
    }

    private void await(String what, BooleanSupplier condition) {
        Await.until(LONG, condition, () -> "not within " + LONG + ": " + what + "\n" + String.join("\n", sample.log()));
    }

    /** The sample with work that lasts until Redis has the key {@code go}. No component, so no other test finds it. */
    static class SlowSample {

        public static void main(String[] args) {
            new SpringApplicationBuilder(SampleApplication.class, SlowSample.class).run(args);
        }

        @Bean
        Work work(StringRedisTemplate redis) {
            return new Work(redis);
        }

        @Bean
        RouterFunction<ServerResponse> routes(Work work) {
            return RouterFunctions.route()
                    .POST("/slow/{id}", request -> ServerResponse.ok().body(work.slow(request.pathVariable("id"))))
                    .POST("/async/{id}", request -> {
                        work.async(request.pathVariable("id"));
                        return ServerResponse.accepted().build();
                    })
                    .POST("/kept/{id}", request -> {
                        work.kept(request.pathVariable("id"));
                        return ServerResponse.accepted().build();
                    })
                    .build();
        }

        static class Work {

            private final StringRedisTemplate redis;

            Work(StringRedisTemplate redis) {
                this.redis = redis;
            }

            @DistributedLock(name = "slow", key = "#id", waitTime = "1m")
            public String slow(String id) {
                while (!Boolean.TRUE.equals(redis.hasKey("go"))) {
                    LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
                }
                return "done";
            }

            /** On a thread that nobody waits for when the application stops. */
            @DistributedLock(name = "async", key = "#id")
            public CompletableFuture<String> async(String id) {
                CompletableFuture<String> result = new CompletableFuture<>();
                Thread thread = new Thread(() -> result.complete(slow("async:" + id)));
                thread.setDaemon(true);
                thread.start();
                return result;
            }

            @DistributedLock(name = "kept", key = "#id", keepFor = "3s")
            public void kept(String id) {}
        }
    }
}
