package io.github.lockboot.aop.key;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;

/** The parameters of a method as expressions name them: {@code #openid}, {@code #p0}, {@code #a0}. */
public final class KeyVariables {

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Method method;
    private final List<String> names;
    private final Map<String, Integer> indexes = new HashMap<>();

    /** @param method as the class of the bean has it */
    public KeyVariables(Method method) {
        this.method = method;
        String @Nullable [] discovered = NAMES.getParameterNames(method);
        this.names = discovered != null ? List.of(discovered) : List.of();
        for (int i = 0; i < method.getParameterCount(); i++) {
            indexes.put("p" + i, i);
            indexes.put("a" + i, i);
        }
        for (String name : names) {
            indexes.put(name, names.indexOf(name));
        }
    }

    Method method() {
        return method;
    }

    /** The position of the parameter, or null if there is no such variable. */
    @Nullable
    Integer indexOf(String variable) {
        return indexes.get(variable);
    }

    @Nullable
    Class<?> typeOf(String variable) {
        Integer index = indexOf(variable);
        return index != null ? method.getParameterTypes()[index] : null;
    }

    /** What to write for a variable that does not exist. */
    String hint() {
        if (method.getParameterCount() == 0) {
            return "the method has no parameters, use name";
        }
        if (names.isEmpty()) {
            return "compile with -parameters, or use #p0 for the first parameter";
        }
        return "use one of " + names.stream().map("#"::concat).collect(Collectors.joining(", "))
                + ", or #p0 for the first parameter";
    }

    /** The method as messages name it. */
    @Override
    public String toString() {
        return method.getDeclaringClass().getName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
