package io.github.lockboot.sample.ticket;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.sample.OnTwoInstances;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TicketControllerTests extends OnTwoInstances {

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

    @ParameterizedTest
    @CsvSource({
        "windows, count=20",
        "windows, windows=21&count=20",
        "count, windows=5&count=-1",
        "mode, windows=5&count=20&mode=first",
        "sale, windows=5&count=20&sale=a%00",
    })
    void badParametersAreRefused(String parameter, String query) {
        one.post("/tickets/sale?" + query).assertBadParameter(parameter);
    }

    private static Map<String, Integer> sold(Answer sale) {
        return sale.read("$.sold");
    }

    private static int sum(Answer sale) {
        return sold(sale).values().stream().mapToInt(Integer::intValue).sum();
    }
}
