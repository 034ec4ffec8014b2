package io.github.lockboot.sample.live;

import java.util.List;
import java.util.Map;

import io.github.lockboot.sample.OnTwoInstances;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** Two instances that share one Redis, under the loads that the page starts. */
@Tag("full")
class LoadTests extends OnTwoInstances {

    @Test
    void underTenSecondsOfAllLoadsAtOnceTheLockKeepsWhatTheHandMadeOnesLose() {
        for (String load : SampleLoads.ALL) {
            assertThat(one.post("/loads/" + load + "?seconds=10").status()).isEqualTo(202);
        }
        one.post("/loads/payments").assertProblem(409, "under load already");
        SampleLoads.awaitEnd(two);
        SampleLoads.assertRight(two);
        assertThat(one.bean(StringRedisTemplate.class)
                        .<String, String>opsForHash()
                        .entries("tickets:demo"))
                .as("windows of both instances")
                .containsKeys("sold:1", "sold:10");
    }

    @ParameterizedTest
    @CsvSource({"token, single-flight", "tickets, fair"})
    void theOtherModesAreRightToo(String load, String mode) {
        one.post("/loads/" + load + "?seconds=3&mode=" + mode);
        SampleLoads.awaitEnd(two);
        if (load.equals("token")) {
            SampleLoads.assertToken(two);
        } else {
            SampleLoads.assertTickets(two);
        }
    }

    @Test
    void aLoadThatIsStoppedEndsEarly() {
        one.post("/loads/red-packets?seconds=60");
        assertThat(two.delete("/loads/red-packets").status()).isEqualTo(204);
        SampleLoads.awaitEnd(one);
    }

    @Test
    void aPausedHolderLosesTheLockAndItsLateWriteIsRefused() {
        StringRedisTemplate strings = one.bean(StringRedisTemplate.class);
        one.post("/loads/fencing?seconds=6");
        Map<String, String> refused = SampleLoads.event(one, "refused");
        SampleLoads.event(one, "unlock-refused");
        SampleLoads.awaitEnd(two);
        assertThat(strings.<String, String>opsForHash().get("sample:price", "value"))
                .isEqualTo("in time");
        List<String> kinds = one.bean(EventLog.class).newest().stream()
                .map(event -> event.get("kind"))
                .toList();
        assertThat(kinds).contains("held", "lost", "granted", "written", "refused", "unlock-refused");
        assertThat(Long.parseLong(refused.get("token"))).isLessThan(Long.parseLong(refused.get("newest")));
        assertThat(SampleLoads.event(one, "granted").get("instance"))
                .as("the one that was not asked")
                .isNotEqualTo(SampleLoads.event(one, "held").get("instance"));
    }

    @ParameterizedTest
    @CsvSource({"seconds, payments?seconds=61", "mode, payments?mode=lock", "mode, tickets?mode=none"})
    void badParametersAreRefused(String parameter, String path) {
        one.post("/loads/" + path).assertBadParameter(parameter);
    }

    @Test
    void anUnknownScenarioIsNotFound() {
        one.post("/loads/lottery").assertProblem(404, "lottery");
        one.delete("/loads/lottery").assertProblem(404, "lottery");
    }
}
