package io.github.lockboot.sample.payment;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleInstance.Answer;
import io.github.lockboot.sample.payment.PaymentService.Mishap;
import io.github.lockboot.sample.payment.PaymentService.Report;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class PaymentControllerTests {

    private static final int PAYMENTS = 20;

    private static SampleInstance sample;
    private static ExecutorService callers;

    @BeforeAll
    static void start() {
        sample = SampleInstance.start();
        callers = Executors.newCachedThreadPool();
    }

    @AfterAll
    static void stop() {
        callers.shutdownNow();
        sample.close();
    }

    /**
     * A machine that stands still for seconds makes callers give up, as busy or without Redis: then they have not paid.
     */
    private static Answer payPatiently(String account, String mode, String order) throws Exception {
        Answer answer = pay(account, mode, order, Mishap.NONE);
        for (int again = 0; again < 20 && (answer.status() == 409 || answer.status() == 503); again++) {
            answer = pay(account, mode, order, Mishap.NONE);
        }
        return answer;
    }

    @ParameterizedTest
    @ValueSource(strings = {"setnx", "expiring", "owned", "lock"})
    void paymentsThatNothingDisturbsAreRightInEveryMode(String mode) throws Exception {
        open("calm-" + mode);
        List<Future<Answer>> answers = new ArrayList<>();
        for (int i = 0; i < PAYMENTS; i++) {
            String order = "o" + i;
            answers.add(callers.submit(() -> payPatiently("calm-" + mode, mode, order)));
        }
        for (Future<Answer> answer : answers) {
            assertThat(answer.get().status()).isEqualTo(200);
        }
        assertReport("calm-" + mode, mode, PAYMENTS, 0, 0);
        assertThat(sample.get("/accounts/calm-" + mode).<String>read("$." + mode + ".balance"))
                .isEqualTo("800.00");
    }

    @Test
    void anOrderIsPaidOnce() {
        open("once");
        Answer first = pay("once", "lock", "o1", Mishap.NONE);
        assertThat(first.body()).isEqualTo("{\"orderId\":\"o1\",\"balance\":\"990.00\"}");
        assertThat(sample.post("/accounts/once/payments?money=10&orderId=o1"))
                .as("the same in the default mode, the lock")
                .isEqualTo(first);
        assertReport("once", "lock", 1, 0, 0);
    }

    @Test
    void afterACrashOnlyALockWithoutExpiryIsStuck() throws Exception {
        open("crash");
        List<Future<Answer>> answers = new ArrayList<>();
        for (String mode : PaymentService.MODES) {
            sample.post("/accounts/crash/crashes?mode=" + mode);
            answers.add(callers.submit(() -> pay("crash", mode, "o1", Mishap.NONE)));
        }
        answers.get(0).get().assertProblem(409, "try again");
        for (Future<Answer> answer : answers.subList(1, answers.size())) {
            assertThat(answer.get().status()).isEqualTo(200);
        }
        open("crash");
        assertThat(pay("crash", "setnx", "o1", Mishap.NONE).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"setnx", "expiring", "owned", "lock"})
    void workThatOutlastsTheLeaseLosesAnUpdateUnlessNothingExpiresOrTheLeaseIsRenewed(String mode) throws Exception {
        open("slow-" + mode);
        Future<Answer> slow = callers.submit(() -> pay("slow-" + mode, mode, "slow", Mishap.SLOW));
        payUntil(slow, "slow-" + mode, mode);
        boolean right = List.of("setnx", "lock").contains(mode);
        Report report = report("slow-" + mode, mode);
        assertThat(report.payments()).isGreaterThan(1);
        assertThat(report.overlaps() == 0).as("no overlaps").isEqualTo(right);
        assertThat(report.lostUpdates() == 0).as("nothing lost").isEqualTo(right);
    }

    /** The lock that the pause let expire is by then another's. */
    @Test
    void betweenGetAndDeleteTheLockOfAnotherIsDeleted() throws Exception {
        open("gap");
        Future<Answer> late = callers.submit(() -> pay("gap", "owned", "late", Mishap.LATE));
        Await.until(
                "the late one has paid and gives the lock back",
                () -> report("gap", "owned").payments() == 1);
        String holder = holder("gap");
        Future<Answer> next = callers.submit(() -> pay("gap", "owned", "next", Mishap.SLOW));
        Await.until(
                "the next one has the lock", () -> !List.of(holder, "nobody").contains(holder("gap")));
        late.get();
        assertThat(pay("gap", "owned", "third", Mishap.NONE).status()).isEqualTo(200);
        assertThat(next).isNotDone();
        next.get();
        assertReport("gap", "owned", 3, 1, 1);
    }

    @ParameterizedTest
    @CsvSource({
        "balance, PUT, /accounts/a?balance=abc",
        "id, PUT, /accounts/a+b?balance=1",
        "money, POST, /accounts/a/payments?money=-1&orderId=o1",
        "orderId, POST, /accounts/a/payments?money=1",
        "mode, POST, /accounts/a/payments?money=1&orderId=o1&mode=none",
        "mishap, POST, /accounts/a/payments?money=1&orderId=o1&mishap=FIRE",
    })
    void badParametersAreRefused(String parameter, String method, String path) {
        Answer answer = method.equals("PUT") ? sample.put(path) : sample.post(path);
        answer.assertBadParameter(parameter);
    }

    @Test
    void anUnknownAccountIsNotFound() {
        sample.get("/accounts/nobody").assertProblem(404, "nobody");
        sample.get("/accounts/nobody/report").assertProblem(404, "nobody");
        sample.post("/accounts/nobody/payments?money=1&orderId=o1").assertProblem(404, "nobody");
        sample.post("/accounts/nobody/crashes?mode=lock").assertProblem(404, "nobody");
    }

    @Test
    void moreThanTheBalanceIsNotPaid() {
        open("poor");
        sample.post("/accounts/poor/payments?money=1000.01&orderId=o1").assertProblem(409, "1000.00");
        assertReport("poor", "lock", 0, 0, 0);
    }

    private static void payUntil(Future<Answer> end, String id, String mode) throws Exception {
        List<Future<Answer>> others = new ArrayList<>();
        for (int worker = 0; worker < 4; worker++) {
            String name = "w" + worker;
            others.add(callers.submit(() -> {
                Answer answer = payPatiently(id, mode, name);
                for (int i = 0; !end.isDone(); i++) {
                    answer = pay(id, mode, name + "-" + i, Mishap.NONE);
                }
                return answer;
            }));
        }
        for (Future<Answer> other : others) {
            other.get();
        }
    }

    private static void open(String id) {
        assertThat(sample.put("/accounts/" + id + "?balance=1000").<String>read("$.lock.balance"))
                .isEqualTo("1000.00");
    }

    private static Answer pay(String id, String mode, String order, Mishap mishap) {
        return sample.post(
                "/accounts/" + id + "/payments?money=10&orderId=" + order + "&mode=" + mode + "&mishap=" + mishap);
    }

    /** Who has the hand-made lock that has an owner. */
    private static String holder(String id) {
        String holder = sample.bean(StringRedisTemplate.class).opsForValue().get("hand-made-lock:owned:" + id);
        return Objects.requireNonNullElse(holder, "nobody");
    }

    private static Report report(String id, String mode) {
        Answer report = sample.get("/accounts/" + id + "/report");
        return new Report(
                report.<Integer>read("$." + mode + ".payments"),
                report.<Integer>read("$." + mode + ".overlaps"),
                report.<Integer>read("$." + mode + ".lostUpdates"));
    }

    private static void assertReport(String id, String mode, long payments, long overlaps, long lostUpdates) {
        assertThat(report(id, mode)).isEqualTo(new Report(payments, overlaps, lostUpdates));
    }
}
