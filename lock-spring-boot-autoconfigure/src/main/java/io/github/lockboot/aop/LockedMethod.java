package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;

/** An annotated method as messages name it, and the variables its key may use. */
final class LockedMethod {

    private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

    private final Method method;
    private final Class<?> targetClass;
    private final List<String> names;
    private final Map<String, Integer> indexes = new HashMap<>();

    /** @param method as the target class has it */
    LockedMethod(Method method, Class<?> targetClass) {
        this.method = method;
        this.targetClass = targetClass;
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

    /** The class of the bean, in which it may be inherited. */
    Class<?> targetClass() {
        return targetClass;
    }

    /** What the method returns when it is called on the target class. */
    ResolvableType result() {
        return ResolvableType.forMethodReturnType(method, targetClass);
    }

    Class<?> resultType() {
        return result().toClass();
    }

    /** The position of the parameter that a variable stands for, or null if there is no such variable. */
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
    String whichVariables() {
        if (method.getParameterCount() == 0) {
            return "the method has no parameters, use name";
        }
        if (names.isEmpty()) {
            return "compile with -parameters, or use #p0 for the first parameter";
        }
        return "use one of " + names.stream().map("#"::concat).collect(Collectors.joining(", "))
                + ", or #p0 for the first parameter";
    }

    /** {@code Class.method}. */
    String shortName() {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    Finding finding(String problem, String mend) {
        return new Finding(toString(), problem, mend);
    }

    @Override
    public String toString() {
        return method.getDeclaringClass().getName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
