package io.github.lockboot.sample.token;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.lockboot.sample.OnTwoInstances;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleInstance.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class TokenControllerTests extends OnTwoInstances {

    private static final int CALLS = 20;

    @ParameterizedTest
    @ValueSource(strings = {"blocking", "single-flight"})
    void theUpstreamIsCalledOnceWhoeverAsks(String mode) throws Exception {
        one.get("/token");
        assertThat(one.post("/token/expire").body()).isEqualTo("{\"expired\":true}");
        assertThat(two.post("/token/expire").body()).isEqualTo("{\"expired\":false}");
        long before = upstreamCalls();
        ExecutorService callers = Executors.newFixedThreadPool(CALLS);
        List<Future<Answer>> answers = new ArrayList<>();
        for (int call = 0; call < CALLS; call++) {
            SampleInstance asked = call % 2 == 0 ? one : two;
            answers.add(callers.submit(() -> asked.get("/token?mode=" + mode)));
        }
        Set<String> tokens = new HashSet<>();
        for (Future<Answer> answer : answers) {
            tokens.add(answer.get().read("$.token"));
        }
        callers.shutdownNow();
        assertThat(tokens).hasSize(1);
        assertThat(upstreamCalls() - before).isEqualTo(1);
        assertThat(one.get("/token/stats").<Integer>read("$.waitersServed")).isPositive();
    }

    @Test
    void anUnknownModeIsRefused() {
        one.get("/token?mode=guess").assertBadParameter("mode");
    }

    private static long upstreamCalls() {
        return two.get("/token/stats").<Integer>read("$.upstreamCalls");
    }
}
