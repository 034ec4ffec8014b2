package io.github.lockboot.autoconfigure;

import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Finds properties under {@code lock.locks} that would be ignored silently: mostly names with a dot or a colon that were
 * written without brackets.
 */
final class IgnoredProperties {

    private static final String PREFIX = "lock.locks";
    private static final Bindable<Map<String, Object>> ANYTHING = Bindable.mapOf(String.class, Object.class);

    /** As environment variables have them. */
    private static final Set<String> ATTRIBUTES = Set.of("ttl", "waittime", "renew", "maxhold");

    private IgnoredProperties() {}

    static void refuse(Environment environment) {
        Binder.get(environment).bind(PREFIX, ANYTHING).ifBound(names -> names.forEach(IgnoredProperties::check));
    }

    private static void check(String name, Object attributes) {
        if (attributes instanceof Map<?, ?> nested) {
            nested.forEach((attribute, value) -> check(name, String.valueOf(attribute), value));
        } else {
            throw ignored(
                    PREFIX + "." + name,
                    attributes,
                    "must say what of the lock is set: " + PREFIX + "." + name + ".ttl");
        }
    }

    private static void check(String name, String path, Object value) {
        if (ATTRIBUTES.contains(path.replaceAll("[-.]", "").toLowerCase(Locale.ROOT))) {
            return;
        }
        if (value instanceof Map<?, ?> nested) {
            nested.forEach((attribute, inner) -> check(name, path + "." + attribute, inner));
            return;
        }
        int last = path.lastIndexOf('.');
        String mend = last < 0
                ? "is none of ttl, wait-time, renew and max-hold"
                : "would be ignored: write a name with dots in brackets, " + PREFIX + ".[" + name + "."
                        + path.substring(0, last) + "]" + path.substring(last);
        throw ignored(PREFIX + "." + name + "." + path, value, mend);
    }

    private static InvalidConfigurationPropertyValueException ignored(String property, Object value, String reason) {
        return new InvalidConfigurationPropertyValueException(property, value, reason);
    }
}
