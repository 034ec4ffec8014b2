package io.github.lockboot.sample;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class RedisOutageTests {

    @Test
    void everyRequestIsAnsweredWith503WhileRedisIsDown(CapturedOutput log) {
        try (RedisServer redis = RedisServer.start();
                SampleInstance sample = SampleInstance.on(
                        redis, "--lock.redis.command-timeout=500ms", "--spring.data.redis.timeout=500ms")) {
            Await.until(
                    Duration.ofSeconds(30),
                    () -> sample.put("/accounts/a?balance=1").status() < 500,
                    () -> "it never connected");
            String id = sample.post("/red-packets?amount=1&count=1").read("$.id");
            redis.kill();
            assertUnavailable(sample.post("/red-packets/" + id + "/grab?openid=secret-openid"));
            assertUnavailable(sample.post("/red-packets?amount=1&count=1"));
            assertUnavailable(sample.get("/red-packets/" + id));
            assertUnavailable(sample.put("/accounts/a?balance=1"));
            assertUnavailable(sample.post("/accounts/a/payments?money=1&orderId=o1"));
            assertUnavailable(sample.get("/accounts/a/report"));
            assertUnavailable(sample.get("/token"));
            assertUnavailable(sample.post("/token/expire"));
            assertUnavailable(sample.get("/token/stats"));
            assertUnavailable(sample.post("/tickets/sale?windows=5&count=20"));
            assertUnavailable(sample.post("/loads/payments"));
            assertThat(log).contains("Answering 503").doesNotContain("secret-openid");
        }
    }

    @Test
    void anOutageIsNoErrorOfALeaderOrAJob(CapturedOutput log) {
        try (RedisServer redis = RedisServer.start();
                SampleInstance sample = SampleInstance.on(
                        redis, "--lock.redis.command-timeout=500ms", "--spring.data.redis.timeout=500ms")) {
            await("it is connected", () -> sample.put("/accounts/a?balance=1").status() < 500);
            await("it leads", () -> log.getOut().contains("This instance leads 'publisher'"));
            Object runs = runs(redis);
            await(
                    "a run has ended, and the next one is not due",
                    () -> !runs(redis).equals(runs));
            redis.kill(); // not in the middle of a run, which would fail with its own command
            await("it leads no more", () -> log.getOut().contains("that this instance leads no more"));
            await("a job is due", () -> log.getOut().contains("Job 'draw' unavailable"));
            assertThat(log).contains("Locks are unavailable").doesNotContain("ERROR", "LockUnavailableException: ");
        }
    }

    private static Object runs(RedisServer redis) {
        return redis.command("XLEN", "sample:draw-runs");
    }

    private static void await(String what, BooleanSupplier condition) {
        Await.until(Duration.ofSeconds(60), condition, () -> "not yet: " + what);
    }

    private static void assertUnavailable(Answer answer) {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.contentType()).isEqualTo("application/problem+json");
        assertThat(answer.<String>read("$.detail")).isEqualTo("Redis is out of reach; try again later.");
    }
}
