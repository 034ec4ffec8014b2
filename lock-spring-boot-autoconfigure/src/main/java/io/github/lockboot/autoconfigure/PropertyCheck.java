package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;

/** Rejects properties that are out of range, would have no effect or would mean another thing, and says what to do. */
final class PropertyCheck {

    /** Lower case and without separators, because environment variables have neither case nor dashes. */
    private static final Set<String> ATTRIBUTES =
            Set.of("ttl", "waittime", "renew", "maxhold", "permits", "release", "linger");

    private static final Set<String> TIMES_OF_A_GROUP = Set.of("ttl", "wait-time", "max-hold", "linger");

    private static final List<String> TIMES = List.of(
            "lock.ttl",
            "lock.wait-time",
            "lock.max-hold",
            "lock.shutdown-grace-period",
            "lock.retry.interval",
            "lock.retry.min-interval",
            "lock.redis.command-timeout");

    private static final List<String> CONDITIONS = List.of("lock.enabled", "lock.observations.enabled", "lock.mdc");

    private static final Duration LONGEST_IN_MILLIS = Duration.ofMillis(Long.MAX_VALUE);

    private PropertyCheck() {}

    /** @param parts the arguments of the reason, which is formatted only if the value is invalid */
    static void require(boolean valid, String property, @Nullable Object value, String reason, Object... parts) {
        if (!valid) {
            Object[] shown = Stream.of(parts).map(PropertyCheck::text).toArray();
            throw new InvalidConfigurationPropertyValueException(property, text(value), reason.formatted(shown));
        }
    }

    static void requirePositive(String property, @Nullable Duration value, String action) {
        require(value == null || value.compareTo(Duration.ZERO) > 0, property, value, "must be positive: %s", action);
    }

    static void requireNotNegative(String property, @Nullable Duration value, String action) {
        require(value == null || !value.isNegative(), property, value, "must not be negative: %s", action);
    }

    static void requireBetween(String property, Duration value, Duration least, Duration most) {
        require(value.compareTo(least) >= 0, property, value, "must be at least %s: raise it", least);
        require(value.compareTo(most) <= 0, property, value, "must be at most %sd: lower it", most.toDays());
    }

    /** A duration in milliseconds, unless that would say another one. */
    static @Nullable Object text(@Nullable Object value) {
        if (!(value instanceof Duration duration)) {
            return value;
        }
        boolean exact = duration.getNano() % 1_000_000 == 0
                && duration.compareTo(LONGEST_IN_MILLIS) <= 0
                && duration.compareTo(LONGEST_IN_MILLIS.negated()) >= 0;
        return (exact ? DurationStyle.SIMPLE : DurationStyle.ISO8601).print(duration);
    }

    /**
     * Rejects properties that would have no effect: under {@code lock.locks}, mostly because a name with a dot is written without
     * brackets; and words such as {@code off}, which Spring Boot's conditions read as true and binding as false. Rejects times without
     * a unit, too: Spring Boot would read them as milliseconds, and the annotation does not accept them.
     */
    static void rejectMistaken(Environment environment) {
        for (String condition : CONDITIONS) {
            String value = environment.getProperty(condition, "");
            require(
                    value.isEmpty() || value.equalsIgnoreCase("true") || value.equalsIgnoreCase("false"),
                    condition,
                    value,
                    "must be true or false");
        }
        Binder binder = Binder.get(environment);
        for (String time : TIMES) {
            Object value = binder.bind(time, Object.class).orElse("");
            rejectWithoutUnit(environment, time, ConfigurationPropertyName.of(time), value);
        }
        Map<String, Object> locks = binder.bind("lock.locks", Bindable.mapOf(String.class, Object.class))
                .orElse(Map.of());
        for (Map.Entry<String, Object> each : locks.entrySet()) {
            rejectMistaken(environment, each.getKey(), "", each.getValue());
        }
    }

    /** @param path what follows the group in the property, with a leading dot */
    private static void rejectMistaken(Environment environment, String group, String path, Object value) {
        if (value instanceof Map<?, ?> nested) {
            for (Map.Entry<?, ?> each : nested.entrySet()) {
                rejectMistaken(environment, group, path + "." + each.getKey(), each.getValue());
            }
            return;
        }
        String attribute = lettersOf(path);
        if (!ATTRIBUTES.contains(attribute)) {
            String property = "lock.locks." + group + path;
            int last = path.lastIndexOf('.');
            String reason = last < 0
                    ? "needs an attribute, such as " + property + ".ttl"
                    : last == 0
                            ? "is none of ttl, wait-time, renew, max-hold, permits, release and linger"
                            : "would be ignored: write a name with dots in brackets, lock.locks.[" + group
                                    + path.substring(0, last) + "]" + path.substring(last)
                                    + "; an environment variable cannot name a group with dots, dashes or capitals";
            throw new InvalidConfigurationPropertyValueException(property, value, reason);
        }
        for (String time : TIMES_OF_A_GROUP) {
            if (attribute.equals(lettersOf(time))) {
                ConfigurationPropertyName name = ConfigurationPropertyName.of("lock.locks")
                        .append("[" + group + "]")
                        .append(time);
                rejectWithoutUnit(environment, LockProperties.propertyOf(group) + "." + time, name, value);
            }
        }
    }

    private static String lettersOf(String path) {
        return path.replaceAll("[-_.]", "").toLowerCase(Locale.ROOT);
    }

    private static void rejectWithoutUnit(
            Environment environment, String property, ConfigurationPropertyName name, Object value) {
        String text = value.toString().strip();
        if (text.matches("[+-]?\\d+") && !text.matches("[+-]?0+")) {
            throw new InvalidConfigurationPropertyValueException(
                    property,
                    text,
                    "has no unit, in " + originOf(environment, name) + ": write a time such as 500ms, 10s or PT5S");
        }
    }

    private static Object originOf(Environment environment, ConfigurationPropertyName name) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            ConfigurationProperty found = source.getConfigurationProperty(name);
            if (found != null) {
                return found.getOrigin() != null ? found.getOrigin() : found.getName();
            }
        }
        return name;
    }
}
