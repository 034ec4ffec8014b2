package io.github.lockboot.aop;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

import io.github.lockboot.internal.Logs;
import org.apache.commons.logging.Log;

/**
 * Methods whose lock names have nothing in them but arguments, so that equal arguments of two methods give the same
 * lock. With the same key on methods of one class this is what the application wants.
 */
final class NamelessKeys {

    private static final Log log = Logs.of(NamelessKeys.class);

    /** The methods with each key of each class or interface that has the annotation, by registry. */
    private final Map<String, Map<List<Object>, Set<String>>> methods = new HashMap<>();

    void add(LockedMethod method, List<LockDefinition> definitions) {
        Class<?> carrier =
                LockAnnotations.carrier(method.method(), method.targetClass()).getDeclaringClass();
        definitions.stream()
                .filter(LockDefinition::isNamedByArgumentsOnly)
                .forEach(definition -> methods.computeIfAbsent(definition.registryName(), registry -> new HashMap<>())
                        .computeIfAbsent(List.of(carrier, definition.writtenKey()), key -> new TreeSet<>())
                        .add(method.toString()));
    }

    /** One line for the application. Methods that have all their keys in common are meant to share their locks. */
    void warn() {
        Set<String> mixed = new TreeSet<>();
        for (Map<List<Object>, Set<String>> byKey : methods.values()) {
            if (byKey.values().stream().distinct().count() > 1) {
                byKey.values().forEach(mixed::addAll);
            }
        }
        if (!mixed.isEmpty()) {
            log.warn("@DistributedLock without a name: equal keys give the same lock to " + String.join(", ", mixed)
                    + ". Add a name to each, such as name = \"order\", and the same name only where these methods must"
                    + " exclude each other");
        }
    }
}
