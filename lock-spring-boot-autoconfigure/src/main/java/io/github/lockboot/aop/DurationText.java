package io.github.lockboot.aop;

import java.time.Duration;

import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Durations as annotations write them: {@code 500ms}, {@code 10s}, {@code 1m30s}, {@code PT5S}, {@code 0}. */
final class DurationText {

    private DurationText() {}

    /** @throws IllegalArgumentException if it is none, or a number that does not say its unit */
    static Duration parse(String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        if (text.matches("[+-]?\\d+")) {
            throw new IllegalArgumentException("no unit");
        }
        return DurationFormatterUtils.detectAndParse(text);
    }
}
