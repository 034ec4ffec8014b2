package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/** What {@code #root} is in a key expression. */
final class KeyRoot {

    /** The properties below, by the names an expression uses. */
    static final Set<String> PROPERTIES = Set.of("method", "target", "args");

    private final Method method;
    private final @Nullable Object target;
    private final @Nullable Object[] args;

    KeyRoot(Method method, @Nullable Object target, @Nullable Object[] args) {
        this.method = method;
        this.target = target;
        this.args = args;
    }

    public Method getMethod() {
        return method;
    }

    public @Nullable Object getTarget() {
        return target;
    }

    public @Nullable Object[] getArgs() {
        return args;
    }
}
