package io.github.lockboot.autoconfigure;

import java.util.Locale;
import java.util.Map;
import java.util.Set;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Rejects properties under {@code lock.locks} that would have no effect, mostly because a name with a dot is written
 * without brackets.
 */
final class IgnoredProperties {

    /** Lower case and without separators, because environment variables have neither case nor dashes. */
    private static final Set<String> ATTRIBUTES = Set.of("ttl", "waittime", "renew", "maxhold");

    private IgnoredProperties() {}

    static void reject(Environment environment) {
        Binder.get(environment)
                .bind("lock.locks", Bindable.mapOf(String.class, Object.class))
                .ifBound(locks -> locks.forEach((name, value) -> check("lock.locks." + name, "", value)));
    }

    /** @param path what follows the lock in the property, with a leading dot */
    private static void check(String lock, String path, Object value) {
        if (value instanceof Map<?, ?> nested) {
            nested.forEach((key, inner) -> check(lock, path + "." + key, inner));
        } else if (!ATTRIBUTES.contains(path.replaceAll("[-.]", "").toLowerCase(Locale.ROOT))) {
            throw new InvalidConfigurationPropertyValueException(lock + path, value, reason(lock, path));
        }
    }

    private static String reason(String lock, String path) {
        int last = path.lastIndexOf('.');
        if (last > 0) {
            String name = lock.substring("lock.locks.".length()) + path.substring(0, last);
            return "would be ignored: write a name with dots in brackets, lock.locks.[" + name + "]"
                    + path.substring(last);
        }
        return last < 0
                ? "needs an attribute, such as " + lock + ".ttl"
                : "is none of ttl, wait-time, renew and max-hold";
    }
}
