package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * When a method is due again, by the {@code @Scheduled} annotations on it.
 *
 * @param next each gives the time after a start; null for none
 */
record Schedule(List<Function<Instant, @Nullable Instant>> next) {

    /** A call may begin a little before its time, by the time of day. */
    private static final Duration EARLY = Duration.ofMillis(50);

    /** Empty where an annotation cannot be read: Spring refuses that at the start, if it schedules anything. */
    static Schedule of(Method method, StringValueResolver texts) {
        try {
            return new Schedule(
                    AnnotatedElementUtils.getMergedRepeatableAnnotations(method, Scheduled.class, Schedules.class)
                            .stream()
                            .flatMap(scheduled -> Stream.concat(cron(scheduled, texts), fixedRate(scheduled, texts)))
                            .toList());
        } catch (RuntimeException unreadable) {
            return new Schedule(List.of());
        }
    }

    boolean isDueWithin(Instant start, Duration took) {
        Instant end = start.plus(took);
        return next.stream().map(next -> next.apply(start)).anyMatch(due -> due != null && due.isBefore(end));
    }

    private static Stream<Function<Instant, @Nullable Instant>> cron(Scheduled scheduled, StringValueResolver texts) {
        String cron = texts.resolveStringValue(scheduled.cron());
        if (cron == null || cron.isBlank() || cron.equals(Scheduled.CRON_DISABLED)) {
            return Stream.empty();
        }
        String zone = texts.resolveStringValue(scheduled.zone());
        ZoneId zoneId = StringUtils.hasText(zone)
                ? StringUtils.parseTimeZoneString(zone).toZoneId()
                : ZoneId.systemDefault();
        CronExpression expression = CronExpression.parse(cron);
        return Stream.of(start -> {
            ZonedDateTime due = expression.next(start.plus(EARLY).atZone(zoneId));
            return due != null ? due.toInstant() : null;
        });
    }

    private static Stream<Function<Instant, @Nullable Instant>> fixedRate(
            Scheduled scheduled, StringValueResolver texts) {
        String written =
                scheduled.fixedRate() >= 0 ? String.valueOf(scheduled.fixedRate()) : scheduled.fixedRateString();
        String rate = texts.resolveStringValue(written);
        if (!StringUtils.hasText(rate)) {
            return Stream.empty();
        }
        Duration period = DurationFormatterUtils.detectAndParse(
                rate, DurationFormat.Unit.fromChronoUnit(scheduled.timeUnit().toChronoUnit()));
        return Stream.of(start -> start.plus(period));
    }
}
