package io.github.lockboot.sample.handover;

import java.util.Collections;
import java.util.List;
import java.util.Map;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.sample.OnTwoInstances;
import io.github.lockboot.sample.SampleInstance;
import io.github.lockboot.sample.live.EventLog;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The job that changes its instance, as the events tell of it. */
class HandOverTests extends OnTwoInstances {

    @Test
    void aJobEndsInTheOtherInstanceWithTheSameTokenAndItsTextIsOfNoUseAfterwards() {
        List<Map<String, String>> events = job(one);
        String first = events.get(0).get("instance");
        assertThat(events)
                .extracting(event -> event.get("kind"))
                .containsExactlyInAnyOrder("job-begun", "handed-over", "taken-over", "job-ended", "take-over-refused");
        assertThat(events).allSatisfy(event -> {
            boolean other = List.of("taken-over", "job-ended").contains(event.get("kind"));
            assertThat(event.get("instance").equals(first))
                    .as(event.get("kind"))
                    .isNotEqualTo(other);
        });
        assertThat(events.stream().map(event -> event.get("token")).filter(token -> token != null))
                .hasSize(3)
                .containsOnly(events.get(0).get("token"));
        assertThat(instances(one)).containsExactly(first, first, first, other(events), other(events), other(events));
    }

    @Test
    void withoutAnotherInstanceItComesBack() {
        try (SampleInstance alone = SampleInstance.start()) {
            List<Map<String, String>> events = job(alone);
            assertThat(events).extracting(event -> event.get("kind")).contains("job-ended", "take-over-refused");
            assertThat(instances(alone)).hasSize(6).containsOnly(events.get(0).get("instance"));
        }
    }

    private static String other(List<Map<String, String>> events) {
        return events.stream()
                .filter(event -> event.get("kind").equals("taken-over"))
                .map(event -> event.get("instance"))
                .findAny()
                .orElseThrow();
    }

    /** @return its events, the oldest first */
    private static List<Map<String, String>> job(SampleInstance sample) {
        EventLog log = sample.bean(EventLog.class);
        assertThat(sample.post("/loads/handover?seconds=8").status()).isEqualTo(202);
        Await.until(
                "the job is over",
                () -> log.newest("sample:events", 10).stream()
                                .filter(event -> List.of("job-ended", "take-over-refused")
                                        .contains(event.get("kind")))
                                .count()
                        == 2);
        return oldestFirst(log.newest("sample:events", 10));
    }

    /** Who did the parts, in order. */
    private static List<String> instances(SampleInstance sample) {
        return oldestFirst(sample.bean(EventLog.class).newest("sample:job-parts", 10)).stream()
                .map(part -> part.get("instance"))
                .toList();
    }

    private static List<Map<String, String>> oldestFirst(List<Map<String, String>> events) {
        Collections.reverse(events);
        return events;
    }
}
