package io.github.lockboot.sample.redpacket;

import java.util.Map;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource({
        "amount, ?amount=abc&count=1",
        "amount, ?amount=0&count=1",
        "amount, ?amount=1.001&count=1",
        "amount, ?count=1",
        "count, ?amount=1",
        "count, ?amount=1&count=1.5",
        "count, ?amount=1&count=0",
        "count, ?amount=1000&count=10001",
        "count, ?amount=1&count=101",
        "redPacketId, /nope/grab?openid=o1",
        "openid, /00000000000000000000000000000000/grab",
        "openid, /00000000000000000000000000000000/grab?openid=",
        "openid, /00000000000000000000000000000000/grab?openid=a%2Fb",
    })
    void badParametersAreRefused(String parameter, String path) {
        sample.post("/red-packets" + path).assertBadParameter(parameter);
    }

    @Test
    void anUnknownPacketIsNotFound() {
        sample.get("/red-packets/" + UNKNOWN_ID).assertProblem(404, UNKNOWN_ID);
        grab(UNKNOWN_ID, "o1").assertProblem(404, UNKNOWN_ID);
    }

    @Test
    void aGrabWhoseLockAnotherHoldsIsAConflict() {
        String id = create("1", 1);
        NamedLock lock = sample.bean(LockRegistry.class).get("packet:o1" + id);
        lock.lock();
        try {
            grab(id, "o1").assertProblem(409, "try again");
        } finally {
            lock.unlock();
        }
        assertThat(grab(id, "o1").body()).isEqualTo("{\"money\":\"1.00\"}");
    }

    private static String create(String amount, int count) {
        return sample.post("/red-packets?amount=" + amount + "&count=" + count).read("$.id");
    }

    private static Answer grab(String id, String openid) {
        return sample.post("/red-packets/" + id + "/grab?openid=" + openid);
    }
}
