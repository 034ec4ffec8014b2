package io.github.lockboot.sample.redpacket;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisOutageTests {

    @Test
    void everyRequestIsAnsweredWith503WhileRedisIsDown() {
        try (RedisServer redis = RedisServer.start();
                SampleInstance sample = SampleInstance.on(redis)) {
            String id = sample.post("/red-packets?amount=1&count=1").read("$.id");
            redis.kill();
            assertUnavailable(sample.post("/red-packets/" + id + "/grab?openid=o1"));
            assertUnavailable(sample.post("/red-packets?amount=1&count=1"));
            assertUnavailable(sample.get("/red-packets/" + id));
        }
    }

    private static void assertUnavailable(Answer answer) {
        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.contentType()).isEqualTo("application/problem+json");
        assertThat(answer.<String>read("$.detail")).isEqualTo("Redis is out of reach; try again later.");
    }
}
