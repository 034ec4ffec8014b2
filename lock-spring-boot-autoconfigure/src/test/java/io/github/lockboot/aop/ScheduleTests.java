package io.github.lockboot.aop;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/** Whether a method is due again while it runs. */
class ScheduleTests {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            cron         | 2026-03-01T03:00:00Z     | PT23H59M | false
            cron         | 2026-03-01T03:00:00Z     | PT24H1S  | true
            inTokyo      | 2026-03-01T18:00:00Z     | PT23H59M | false
            inTokyo      | 2026-03-01T17:59:00Z     | PT2M     | true
            disabled     | 2026-03-01T03:00:00Z     | PT100H   | false
            noLongerDue  | 2026-03-01T03:00:00Z     | PT100H   | false
            rate         | 2026-03-01T03:00:00Z     | PT4.999S | false
            rate         | 2026-03-01T03:00:00Z     | PT5.001S | true
            inMinutes    | 2026-03-01T03:00:00Z     | PT119S   | false
            inMinutes    | 2026-03-01T03:00:00Z     | PT121S   | true
            rateAsText   | 2026-03-01T03:00:00Z     | PT4.999S | false
            rateAsText   | 2026-03-01T03:00:00Z     | PT5.001S | true
            millisAsText | 2026-03-01T03:00:00Z     | PT4.999S | false
            millisAsText | 2026-03-01T03:00:00Z     | PT5.001S | true
            isoText      | 2026-03-01T03:00:00Z     | PT5.001S | true
            delay        | 2026-03-01T03:00:00Z     | PT100H   | false
            twice        | 2026-03-01T03:00:00Z     | PT5.001S | true
            notScheduled | 2026-03-01T03:00:00Z     | PT100H   | false
            """)
    void itIsDueAgainAsItsAnnotationsSay(String method, Instant start, Duration took, boolean due) {
        assertThat(schedule(method).isDueWithin(start, took)).isEqualTo(due);
    }

    /** The scheduler waits by another clock than the one that the expression reads. */
    @Test
    void aCallThatBeginsAMomentEarlyIsNotDueAgainAMomentLater() {
        Instant early = Instant.parse("2026-03-01T02:59:59.990Z");
        assertThat(schedule("cron").isDueWithin(early, Duration.ofMinutes(1))).isFalse();
    }

    private static Schedule schedule(String method) {
        return Schedule.of(
                ReflectionUtils.findMethod(Jobs.class, method),
                text -> text.replace("${cron}", "0 0 3 * * *").replace("${rate}", "5s"));
    }

    private static final class Jobs {

        @Scheduled(cron = "${cron}", zone = "UTC")
        void cron() {}

        @Scheduled(cron = "0 0 3 * * *", zone = "Asia/Tokyo")
        void inTokyo() {}

        @Scheduled(cron = Scheduled.CRON_DISABLED)
        void disabled() {}

        @Scheduled(cron = "0 0 3 31 2 *", zone = "UTC")
        void noLongerDue() {}

        @Scheduled(fixedRate = 5000)
        void rate() {}

        @Scheduled(fixedRate = 2, timeUnit = TimeUnit.MINUTES)
        void inMinutes() {}

        @Scheduled(fixedRateString = "${rate}")
        void rateAsText() {}

        @Scheduled(fixedRateString = "5000")
        void millisAsText() {}

        @Scheduled(fixedRateString = "PT5S")
        void isoText() {}

        @Scheduled(fixedDelay = 1)
        void delay() {}

        @Scheduled(fixedRate = 1, timeUnit = TimeUnit.DAYS)
        @Scheduled(fixedRate = 5000)
        void twice() {}

        void notScheduled() {}
    }
}
