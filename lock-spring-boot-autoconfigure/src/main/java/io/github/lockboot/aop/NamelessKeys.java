package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Methods whose lock names have nothing in them but arguments, so that equal arguments of two methods give the same lock. With the same key
 * on methods of one class this is what the application wants.
 */
final class NamelessKeys {

    private static final Log log = LogFactory.getLog(NamelessKeys.class);

    /** @param carrier the class or interface that has the annotation */
    private record Use(String method, String registry, Class<?> carrier, List<String> keys) {

        boolean isMeantToShareWith(Use other) {
            return carrier == other.carrier && keys.equals(other.keys);
        }
    }

    private final List<Use> uses = new ArrayList<>();

    void add(LockedMethod method, List<LockDefinition> definitions) {
        Class<?> carrier =
                LockAnnotations.carrier(method.method(), method.targetClass()).getDeclaringClass();
        definitions.stream()
                .filter(LockDefinition::isNamedByArgumentsOnly)
                .collect(Collectors.groupingBy(
                        LockDefinition::registryName,
                        Collectors.flatMapping(definition -> definition.writtenKey().stream(), Collectors.toList())))
                .forEach((registry, keys) -> uses.add(new Use(method.toString(), registry, carrier, keys)));
    }

    /** One line for the application. */
    void warn() {
        Map<String, List<Use>> byRegistry = uses.stream().collect(Collectors.groupingBy(Use::registry));
        String methods = byRegistry.values().stream()
                .filter(some -> !some.stream().allMatch(some.get(0)::isMeantToShareWith))
                .flatMap(Collection::stream)
                .map(Use::method)
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
        if (!methods.isEmpty()) {
            log.warn("@DistributedLock without a name: equal keys give the same lock to " + methods
                    + ". Add a name to each, such as name = \"order\", and the same name only where these methods must"
                    + " exclude each other");
        }
    }
}
