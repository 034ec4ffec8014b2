package io.github.lockboot.sample;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * 2,000 grabs by 200 openids, spread over two instances of the sample that share one Redis, as many at a time as the
 * two have request threads.
 */
class TwoInstancesTests {

    private static final int GRABS = 2_000;
    private static final int OPENIDS = 200;
    private static final int PARTS = 50;
    private static final int AT_A_TIME = 400;
    private static final int MOST_ROUNDS = 20;

    private static RedisServer redis;
    private static ExecutorService callers;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        callers = Executors.newFixedThreadPool(AT_A_TIME);
    }

    @AfterAll
    static void stop() {
        callers.shutdownNow();
        redis.close();
    }

    @Test
    void everyOpenidGetsAtMostOnePartAndTheSumIsExactToTheCent() throws Exception {
        try (SampleInstance one = SampleInstance.on(redis, SampleInstance.PATIENT);
                SampleInstance two = SampleInstance.on(redis, SampleInstance.PATIENT)) {
            Outcome outcome = grabAll(one, two);
            assertThat(outcome.answersByOpenid())
                    .hasSize(OPENIDS)
                    .allSatisfy((openid, answers) -> assertThat(answers).containsExactly(outcome.answerDueTo(openid)));
            assertThat(outcome.winners()).hasSize(PARTS);
            assertThat(outcome.partsTaken()).isEqualTo(PARTS);
            assertThat(outcome.sum()).isEqualByComparingTo("100.00");
        }
    }

    @Test
    void withoutTheLockAnOpenidTakesASecondPart() throws Exception {
        try (SampleInstance one = SampleInstance.on(redis, "--lock.enabled=false");
                SampleInstance two = SampleInstance.on(redis, "--lock.enabled=false")) {
            boolean doubleGrab = false;
            for (int round = 0; round < MOST_ROUNDS && !doubleGrab; round++) {
                Outcome outcome = grabAll(one, two);
                doubleGrab = outcome.partsTaken() > outcome.winners().size();
            }
            assertThat(doubleGrab).isTrue();
        }
    }

    /** The grabs of one openid come together and change between the instances. */
    private static Outcome grabAll(SampleInstance one, SampleInstance two) throws Exception {
        String packet = "/red-packets/"
                + one.post("/red-packets?amount=100.00&count=" + PARTS).<String>read("$.id");
        List<Callable<Answer>> grabs = IntStream.range(0, GRABS)
                .<Callable<Answer>>mapToObj(
                        grab -> () -> (grab % 2 == 0 ? one : two).post(packet + "/grab?openid=" + openid(grab)))
                .toList();
        List<Future<Answer>> answers = callers.invokeAll(grabs);
        Map<String, Set<String>> answersByOpenid = new HashMap<>();
        for (int grab = 0; grab < GRABS; grab++) {
            answersByOpenid
                    .computeIfAbsent(openid(grab), openid -> new HashSet<>())
                    .add(answers.get(grab).get().body());
        }
        Answer after = two.get(packet);
        return new Outcome(answersByOpenid, PARTS - after.<Integer>read("$.remaining"), after.read("$.winners"));
    }

    private static String openid(int grab) {
        return "o" + grab / (GRABS / OPENIDS);
    }

    /**
     * @param answersByOpenid the different answers an openid got
     * @param partsTaken the parts that are no longer in the packet
     * @param winners the money by openid, as the packet tells it
     */
    private record Outcome(Map<String, Set<String>> answersByOpenid, int partsTaken, Map<String, String> winners) {

        String answerDueTo(String openid) {
            String money = winners.get(openid);
            return money == null ? "{\"msg\":\"sold out\"}" : "{\"money\":\"" + money + "\"}";
        }

        BigDecimal sum() {
            return winners.values().stream().map(BigDecimal::new).reduce(BigDecimal.ZERO, BigDecimal::add);
        }
    }
}
