package io.github.lockboot.sample.redpacket;

import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class RedPacketControllerTests {

    private static final String UNKNOWN_ID = "0".repeat(32);

    private static SampleInstance sample;

    @BeforeAll
    static void start() {
        sample = SampleInstance.start("--lock.wait-time=100ms");
    }

    @AfterAll
    static void stop() {
        sample.close();
    }

    @Test
    void aNewPacketHasAllItsParts() {
        Answer packet = sample.get("/red-packets/" + create("100", 50));
        assertThat(packet.status()).isEqualTo(200);
        assertThat(packet.body()).isEqualTo("{\"amount\":\"100.00\",\"count\":50,\"remaining\":50,\"winners\":{}}");
    }

    @Test
    void anOpenidGetsTheSameMoneyEachTime() {
        String id = create("100.00", 50);
        Answer first = grab(id, "o1");
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.body()).matches("\\{\"money\":\"\\d+\\.\\d\\d\"}");
        assertThat(grab(id, "o1")).isEqualTo(first);
        Answer packet = sample.get("/red-packets/" + id);
        assertThat(packet.<Integer>read("$.remaining")).isEqualTo(49);
        assertThat(packet.<Map<String, String>>read("$.winners")).isEqualTo(Map.of("o1", first.read("$.money")));
    }

    @Test
    void whoComesTooLateIsToldSoAndTheWinnerKeepsTheMoney() {
        String id = create("0.01", 1);
        assertThat(grab(id, "o1").body()).isEqualTo("{\"money\":\"0.01\"}");
        assertThat(grab(id, "o2").body()).isEqualTo("{\"msg\":\"sold out\"}");
        assertThat(grab(id, "o1").body()).isEqualTo("{\"money\":\"0.01\"}");
    }

    @Test
    void everyKeyOfAPacketExpiresWithinADay() {
        String id = create("0.02", 2);
        grab(id, "o1");
        StringRedisTemplate redis = sample.bean(StringRedisTemplate.class);
        assertThat(redis.keys("red-packet:" + id + "*"))
                .hasSize(3)
                .allSatisfy(
                        key -> assertThat(redis.getExpire(key, TimeUnit.HOURS)).isBetween(23L, 24L));
    }

    @ParameterizedTest
    @CsvSource({
        "amount, amount=abc&count=1, from 0.01 to 1000000.00",
        "amount, amount=&count=1, from 0.01 to 1000000.00",
        "amount, amount=-1&count=1, from 0.01 to 1000000.00",
        "amount, amount=0&count=1, from 0.01 to 1000000.00",
        "amount, amount=1.001&count=1, at most two decimals",
        "amount, amount=1000000.01&count=1, from 0.01 to 1000000.00",
        "amount, count=1, must be given",
        "count, amount=1, must be given",
        "count, amount=1&count=, must be a whole number",
        "count, amount=1&count=1.5, must be a whole number",
        "count, amount=1&count=99999999999, must be a whole number",
        "count, amount=1&count=0, must be at least 1",
        "count, amount=1&count=-1, must be at least 1",
        "count, amount=1000&count=10001, must be at most 10000",
        "count, amount=1&count=101, must be at most 100",
    })
    void aBadPacketIsRefused(String parameter, String query, String requirement) {
        sample.post("/red-packets?" + query).assertBadParameter(parameter, requirement);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a+b", "a%2Fb", "%E5%BC%A0", "a%00", "a%0A"})
    void anOpenidOfOtherCharactersIsRefused(String openid) {
        grab(UNKNOWN_ID, openid).assertBadParameter("openid", "1 to 64 letters");
    }

    @Test
    void anOpenidMayHave64CharactersAndNoMore() {
        String id = create("1", 1);
        assertThat(grab(id, "o".repeat(64)).status()).isEqualTo(200);
        grab(id, "o".repeat(65)).assertBadParameter("openid", "1 to 64 letters");
    }

    @Test
    void aMissingOpenidIsRefused() {
        sample.post("/red-packets/" + UNKNOWN_ID + "/grab").assertBadParameter("openid", "must be given");
    }

    @Test
    void anOversizedIdIsRefused() {
        String id = "0".repeat(65);
        sample.get("/red-packets/" + id).assertBadParameter("redPacketId", "at most 64 characters");
        grab(id, "o1").assertBadParameter("redPacketId", "at most 64 characters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000000000000000000000000000000", "nope", "1"})
    void anUnknownPacketIsNotFound(String id) {
        sample.get("/red-packets/" + id).assertProblem(404, id);
        grab(id, "o1").assertProblem(404, id);
    }

    @Test
    void aGrabWhoseLockAnotherHoldsIsAConflict() {
        String id = create("1", 1);
        NamedLock lock = sample.bean(LockRegistry.class).get("o1" + id);
        lock.lock();
        try {
            grab(id, "o1").assertProblem(409, "try again");
        } finally {
            lock.unlock();
        }
        assertThat(grab(id, "o1").body()).isEqualTo("{\"money\":\"1.00\"}");
    }

    @Test
    void anIdOfAnotherFormIsRefusedBeforeTheLock() {
        NamedLock lock = sample.bean(LockRegistry.class).get("o1nope");
        lock.lock();
        try {
            grab("nope", "o1").assertProblem(404, "nope");
        } finally {
            lock.unlock();
        }
    }

    private static String create(String amount, int count) {
        return sample.post("/red-packets?amount=" + amount + "&count=" + count).read("$.id");
    }

    private static Answer grab(String id, String openid) {
        return sample.post("/red-packets/" + id + "/grab?openid=" + openid);
    }
}
