package io.github.lockboot.sample.live;

import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.JsonPath;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.sample.SampleApplication;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.SampleProcess;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The job and the leader of two processes that share one Redis, as the page of one tells of them. */
@Tag("full")
class LeaderTests {

    private static final String LEADER = "$.locks[?(@.name == 'leader:publisher')].holders[0]";
    private static final String TOKEN = "$.locks[?(@.name == 'leader:publisher')].token";
    private static final String CHANGES = "$.scenarios.leader.state.changes";
    private static final String RUNS = "$.scenarios.leader.state.runs";

    private static RedisServer redis;
    private static SampleProcess one;
    private static SampleProcess two;

    @BeforeAll
    static void start() {
        redis = RedisServer.start();
        one = new SampleProcess(SampleApplication.class, redis);
        two = new SampleProcess(SampleApplication.class, redis);
    }

    @AfterAll
    static void stop() {
        two.close();
        one.close();
        redis.close();
    }

    @Test
    void aPausedLeaderIsReplacedAndLearnsItWhenItWakesUpAndItsLateWriteIsRefused() throws Exception {
        SampleProcess leader = leader();
        SampleProcess other = leader == one ? two : one;
        try (LiveStream page = new LiveStream(other.url())) {
            String before = page.await("$.instances.length()", 2);
            assertThat(SampleInstance.send("POST", other.url() + "/loads/leader?seconds=10")
                            .status())
                    .isEqualTo(202);

            String meanwhile = page.await(LEADER, List.of(port(other)));
            assertThat(JsonPath.<List<String>>read(meanwhile, CHANGES + "[?(@.kind == 'revoked')].kind"))
                    .as("a paused process cannot tell of anything")
                    .isEmpty();
            assertThat(JsonPath.<String>read(meanwhile, CHANGES + "[0].kind")).isEqualTo("leads");

            String after = page.await("$.events[?(@.kind == 'refused')].instance", List.of(port(leader)));
            String old = JsonPath.<List<String>>read(before, TOKEN).get(0);
            String newest = JsonPath.<List<String>>read(meanwhile, TOKEN).get(0);
            Map<String, String> refused = JsonPath.<List<Map<String, String>>>read(
                            after, "$.events[?(@.kind == 'refused')]")
                    .get(0);
            assertThat(refused).containsEntry("token", old).containsEntry("newest", newest);

            after = page.await(CHANGES + "[0].kind", "revoked");
            assertThat(JsonPath.<Map<String, String>>read(after, CHANGES + "[0]"))
                    .containsEntry("instance", port(leader))
                    .containsEntry("token", old);
            assertThat(JsonPath.<List<String>>read(after, LEADER)).containsExactly(port(other));
        }
    }

    @Test
    void theJobRunsInOneInstanceEachTimeAndIsSkippedInTheOther() throws Exception {
        try (LiveStream page = new LiveStream(one.url())) {
            List<Map<String, String>> runs;
            do {
                runs = JsonPath.read(page.next("snapshot"), RUNS);
            } while (of("SKIPPED", runs).size() < 2);
            List<Map<String, String>> ran = of("RAN", runs);
            assertThat(ran).hasSizeGreaterThanOrEqualTo(2);
            for (int i = 1; i < ran.size(); i++) {
                assertThat(Long.parseLong(ran.get(i - 1).get("at"))
                                - Long.parseLong(ran.get(i).get("at")))
                        .as("ms between two draws that are due every 5 s")
                        .isGreaterThan(1_000);
            }
        }
    }

    @Test
    void theOnlyInstanceIsNotPaused() {
        try (SampleInstance alone = SampleInstance.start()) {
            alone.post("/loads/leader").assertProblem(409, "Start a second instance");
        }
    }

    private static SampleProcess leader() throws Exception {
        two.url(); // it is up
        try (LiveStream page = new LiveStream(one.url())) {
            List<String> leader;
            do {
                leader = JsonPath.read(page.next("snapshot"), LEADER);
            } while (!leader.contains(port(one)) && !leader.contains(port(two)));
            return leader.contains(port(one)) ? one : two;
        }
    }

    private static List<Map<String, String>> of(String outcome, List<Map<String, String>> runs) {
        return runs.stream().filter(run -> outcome.equals(run.get("outcome"))).toList();
    }

    private static String port(SampleProcess process) {
        return process.url().substring(process.url().lastIndexOf(':') + 1);
    }
}
