package io.github.lockboot.faults;

import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A log that fills up is found, and answers are no part of it. */
class LoggedBytesTests {

    private final LoggedBytes logged = new LoggedBytes(List.of("closed"));

    @Test
    void whatAProcessLogsIsCountedInBytesWithTheEndsOfItsLines() {
        logged.takes("WARN é");
        logged.takes("\tat somewhere");
        assertThat(logged.count()).isEqualTo(8 + 14);
        logged.forget();
        assertThat(logged.count()).isZero();
    }

    @Test
    void answersAreNotCountedAndCanBeWaitedFor() {
        for (String answer : List.of("ready", "failed because", "closed 0")) {
            assertThat(logged.takes(answer)).isFalse();
        }
        assertThat(logged.count()).isZero();
    }

    @Test
    void onlyTheBeginningOfALogIsKept() {
        String line = "x".repeat(999);
        assertThat(logged.takes(line)).isFalse();
        for (int i = 0; i < 10; i++) {
            logged.takes(line);
        }
        assertThat(logged.takes(line)).isTrue();
    }

    @Test
    void eachThingThatAnOutageMustNotDoIsAViolation() {
        assertThat(new OutageResult("x", "3.5", 0, Outages.MOST_LOG, 10, 10, 10).violations())
                .isEmpty();
        assertThat(new OutageResult(
                                "x",
                                "3.5",
                                1,
                                Outages.MOST_LOG + 1,
                                OutageResult.NEVER,
                                OutageResult.NEVER,
                                OutageResult.NEVER)
                        .violations())
                .hasSize(5);
    }
}
