package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockboot.redis.RedisLockRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.env.Environment;

/** Rejects properties that are out of range, would have no effect or would mean another thing, and says what to do. */
final class PropertyCheck {

    private static final Set<String> TIMES_OF_A_GROUP = Set.of("ttl", "wait-time", "max-hold", "linger");

    private static final List<String> TIMES = List.of(
            "lock.ttl",
            "lock.wait-time",
            "lock.max-hold",
            "lock.shutdown-grace-period",
            "lock.retry.interval",
            "lock.retry.min-interval",
            "lock.redis.command-timeout");

    private static final List<String> CONDITIONS =
            List.of("lock.enabled", "lock.observations.enabled", "lock.mdc", "lock.web.problem-details");

    private PropertyCheck() {}

    /** @param parts the arguments of the reason, which is formatted only if the value is invalid */
    static void require(boolean valid, String property, @Nullable Object value, String reason, Object... parts) {
        if (!valid) {
            Object[] shown = Stream.of(parts).map(PropertyCheck::text).toArray();
            throw new InvalidConfigurationPropertyValueException(property, text(value), reason.formatted(shown));
        }
    }

    static void requireInterval(String property, Duration value) {
        Duration least = RedisLockRegistry.MIN_INTERVAL;
        Duration most = RedisLockRegistry.MAX_INTERVAL;
        require(value.compareTo(least) >= 0, property, value, "must be at least %s: raise it", least);
        require(value.compareTo(most) <= 0, property, value, "must be at most %sd: lower it", most.toDays());
    }

    /** A duration in milliseconds, unless that would say another one. */
    static @Nullable Object text(@Nullable Object value) {
        if (!(value instanceof Duration duration)) {
            return value;
        }
        boolean exact = duration.equals(Duration.ofMillis(TimeUnit.MILLISECONDS.convert(duration)));
        return (exact ? DurationStyle.SIMPLE : DurationStyle.ISO8601).print(duration);
    }

    /**
     * Rejects properties that would have no effect: under {@code lock.locks}, mostly because a name with a dot is
     * written without brackets; and words such as {@code off}, which Spring Boot's conditions read as true and binding
     * as false. Rejects times without a unit, too: Spring Boot would read them as milliseconds, and the annotation does
     * not accept them.
     */
    static void rejectMistaken(Environment environment) {
        for (String condition : CONDITIONS) {
            String value = environment.getProperty(condition, "");
            require(value.matches("(?i)(true|false)?"), condition, value, "must be true or false");
        }
        Binder binder = Binder.get(environment);
        Found times = new Found();
        for (String time : TIMES) {
            binder.bind(time, Bindable.of(Object.class), times);
        }
        times.values.forEach((found, value) -> rejectWithoutUnit(found.getName().toString(), found, value));
        Found ofGroups = new Found();
        binder.bind("lock.locks", Bindable.mapOf(String.class, Object.class), ofGroups);
        ofGroups.values.forEach(PropertyCheck::rejectMistaken);
    }

    /**
     * Collects the properties that are bound, with their values. What it threw would get the message of a failed
     * binding.
     */
    private static final class Found implements BindHandler {

        final Map<ConfigurationProperty, Object> values = new LinkedHashMap<>();

        @Override
        public Object onSuccess(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
            ConfigurationProperty property = context.getConfigurationProperty();
            if (property != null && !(result instanceof Map)) {
                values.put(property, result);
            }
            return result;
        }
    }

    /** @param source a property under {@code lock.locks}: the group follows, and then the attribute */
    private static void rejectMistaken(ConfigurationProperty source, Object value) {
        List<String> words = IntStream.range(2, source.getName().getNumberOfElements())
                .mapToObj(i -> source.getName().getElement(i, Form.ORIGINAL))
                .toList();
        int last = words.size() - 1;
        String attribute = lettersOf(String.join("", words.subList(1, last + 1)));
        if (LockProperties.Group.NAMES.stream().map(PropertyCheck::lettersOf).noneMatch(attribute::equals)) {
            String property = "lock.locks." + String.join(".", words);
            String reason = last == 0
                    ? "needs an attribute, such as " + property + ".ttl"
                    : last == 1
                            ? "is none of ttl, wait-time, renew, max-hold, permits, release, linger and max-waiting"
                            : "would be ignored: write a name with dots in brackets, lock.locks.["
                                    + String.join(".", words.subList(0, last)) + "]." + words.get(last)
                                    + "; an environment variable cannot name a group with dots, dashes or capitals";
            throw new InvalidConfigurationPropertyValueException(property, value, reason);
        }
        TIMES_OF_A_GROUP.stream()
                .filter(time -> attribute.equals(lettersOf(time)))
                .forEach(
                        time -> rejectWithoutUnit(LockProperties.propertyOf(words.get(0)) + "." + time, source, value));
    }

    /** In lower case and without separators, because environment variables have neither case nor dashes. */
    private static String lettersOf(String words) {
        return words.replaceAll("[-_]", "").toLowerCase(Locale.ROOT);
    }

    private static void rejectWithoutUnit(String property, ConfigurationProperty source, Object value) {
        String text = value.toString().strip();
        if (text.matches("[+-]?\\d+") && !text.matches("[+-]?0+")) {
            Object origin = source.getOrigin() != null ? source.getOrigin() : source.getName();
            throw new InvalidConfigurationPropertyValueException(
                    property, text, "has no unit, in " + origin + ": write a time such as 500ms, 10s or PT5S");
        }
    }
}
