package io.github.lockboot.sample.ticket;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TicketControllerTests {

    private static RedisServer redis;
    private static SampleInstance one;
    private static SampleInstance two;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        one = SampleInstance.on(redis);
        two = SampleInstance.on(redis);
    }

    @AfterAll
    static void stop() {
        two.close();
        one.close();
        redis.close();
    }

    @Test
    void everyTicketIsSoldOnce() {
        Answer sale = one.post("/tickets/sale?windows=5&count=20");
        assertThat(sale.status()).isEqualTo(200);
        assertThat(sale.<Integer>read("$.total")).isEqualTo(20);
        assertThat(sold(sale)).containsOnlyKeys("1", "2", "3", "4", "5");
        assertThat(sum(sale)).isEqualTo(20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock", "fair"})
    void twoInstancesSellTheSameTickets(String mode) {
        String path = "/tickets/sale?windows=5&count=2000&sale=both-" + mode + "&mode=" + mode;
        CompletableFuture<Answer> other = CompletableFuture.supplyAsync(() -> two.post(path));
        Answer here = one.post(path);
        assertThat(other.join()).isEqualTo(here);
        assertThat(sold(here)).hasSize(10);
        assertThat(sum(here)).isEqualTo(2_000);
    }

    @RepeatedTest(20)
    void inFairTurnsNoWindowSellsTwoMoreThanAnother() {
        Answer sale = one.post("/tickets/sale?windows=5&count=23&mode=fair");
        assertThat(sold(sale)).isEqualTo(Map.of("1", 5, "2", 5, "3", 5, "4", 4, "5", 4));
    }

    @Test
    void thereMayBeMoreWindowsThanTickets() {
        Answer sale = one.post("/tickets/sale?windows=20&count=1&mode=fair");
        assertThat(sold(sale)).hasSize(20).containsEntry("1", 1);
        assertThat(sum(sale)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "windows, count=20, must be given",
        "windows, windows=0&count=20, must be at least 1",
        "windows, windows=21&count=20, must be at most 20",
        "windows, windows=x&count=20, must be a whole number",
        "count, windows=5, must be given",
        "count, windows=5&count=-1, must be at least 1",
        "count, windows=5&count=10001, must be at most 10000",
        "mode, windows=5&count=20&mode=first, must be one of",
        "sale, windows=5&count=20&sale=a%00, 1 to 64 letters",
    })
    void badParametersAreRefused(String parameter, String query, String requirement) {
        one.post("/tickets/sale?" + query).assertBadParameter(parameter, requirement);
    }

    private static Map<String, Integer> sold(Answer sale) {
        return sale.read("$.sold");
    }

    private static int sum(Answer sale) {
        return sold(sale).values().stream().mapToInt(Integer::intValue).sum();
    }
}
