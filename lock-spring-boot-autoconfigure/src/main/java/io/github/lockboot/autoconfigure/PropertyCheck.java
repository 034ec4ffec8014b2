package io.github.lockboot.autoconfigure;

import java.time.Duration;

import io.github.lockboot.LockOptions;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationStyle;

/** Rejects values out of range, with the name of the property and what to do. */
final class PropertyCheck {

    private PropertyCheck() {}

    static void require(boolean valid, String property, @Nullable Object value, String reason) {
        if (!valid) {
            throw new InvalidConfigurationPropertyValueException(
                    property, value instanceof Duration duration ? text(duration) : value, reason);
        }
    }

    /** @param other the value of another property, {@code %s} in the reason */
    static void require(boolean valid, String property, @Nullable Object value, String reason, Duration other) {
        if (!valid) {
            require(false, property, value, reason.formatted(text(other)));
        }
    }

    static void requirePositive(@Nullable Duration value, String property) {
        require(value == null || !value.isNegative() && !value.isZero(), property, value, "must be positive: raise it");
    }

    /** Checks the settings that a group of locks may have of its own. */
    static void requireHold(
            String prefix, @Nullable Duration ttl, @Nullable Duration waitTime, @Nullable Duration maxHold) {
        require(
                ttl == null || ttl.compareTo(LockOptions.MIN_TTL) >= 0,
                prefix + ".ttl",
                ttl,
                "must be at least " + LockOptions.MIN_TTL.toSeconds() + "s: raise it");
        require(
                ttl == null || ttl.compareTo(LockOptions.MAX_TTL) <= 0,
                prefix + ".ttl",
                ttl,
                "must be at most " + LockOptions.MAX_TTL.toDays() + "d: lower it and keep lock.renew=true");
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
