package io.github.lockboot.autoconfigure;

import java.time.Duration;

import io.github.lockboot.LockOptions;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationStyle;

/** Refuses what is out of range, with the name of the property and the mend. */
final class PropertyCheck {

    private static final Duration LONGEST_TTL = Duration.ofDays(24);

    private PropertyCheck() {}

    static void require(boolean valid, String property, @Nullable Object value, String reason) {
        if (!valid) {
            throw new InvalidConfigurationPropertyValueException(
                    property, value instanceof Duration duration ? text(duration) : value, reason);
        }
    }

    /** @param other another property's value, which stands in the reason as {@code %s} */
    static void require(boolean valid, String property, @Nullable Object value, String reason, Duration other) {
        if (!valid) {
            require(false, property, value, reason.formatted(text(other)));
        }
    }

    static void requirePositive(@Nullable Duration value, String property) {
        require(value == null || !value.isNegative() && !value.isZero(), property, value, "must be positive: raise it");
    }

    /** What a hold may have of its own. */
    static void requireHold(
            String prefix, @Nullable Duration ttl, @Nullable Duration waitTime, @Nullable Duration maxHold) {
        require(
                ttl == null || ttl.compareTo(LockOptions.MIN_TTL) >= 0,
                prefix + ".ttl",
                ttl,
                "must be at least 1s: raise it");
        require(
                ttl == null || ttl.compareTo(LONGEST_TTL) <= 0,
                prefix + ".ttl",
                ttl,
                "must be at most 24d: lower it and keep lock.renew=true");
        require(
                waitTime == null || !waitTime.isNegative(),
                prefix + ".wait-time",
                waitTime,
                "must not be negative: use 0 to try once");
        require(
                maxHold == null || !maxHold.isNegative() && !maxHold.isZero(),
                prefix + ".max-hold",
                maxHold,
                "must be positive: remove the property for no limit");
    }

    static void requirePrefix(String text, String property) {
        require(!text.isBlank(), property, text, "must not be blank: use a prefix such as 'lock:'");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            require(
                    !Character.isISOControl(c) && !Character.isWhitespace(c),
                    property,
                    text,
                    "must have neither white space nor control characters: remove them");
        }
    }

    private static String text(Duration duration) {
        return DurationStyle.SIMPLE.print(duration);
    }
}
