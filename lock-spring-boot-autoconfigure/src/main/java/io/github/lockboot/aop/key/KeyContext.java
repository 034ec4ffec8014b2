package io.github.lockboot.aop.key;

import java.lang.reflect.Method;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** The variables of one call. Looks an argument up where it lies, so that making one copies nothing. */
public final class KeyContext extends StandardEvaluationContext {

    private final KeyVariables variables;
    private final @Nullable Object[] args;

    /**
     * @param shared whose bean resolver, accessors and their caches are used
     * @param variables of the method that is called
     * @param target of the call
     * @param args of the call
     */
    public KeyContext(
            StandardEvaluationContext shared,
            KeyVariables variables,
            @Nullable Object target,
            @Nullable Object[] args) {
        super(new Root(variables.method(), target, args));
        this.variables = variables;
        this.args = args;
        shared.applyDelegatesTo(this);
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        Integer index = variables.indexOf(name);
        return index != null ? args[index] : super.lookupVariable(name);
    }

    /** What {@code #root} is in an expression. */
    static final class Root {

        /** The properties below, by the names an expression uses. */
        static final Set<String> PROPERTIES = Set.of("method", "target", "args");

        private final Method method;
        private final @Nullable Object target;
        private final @Nullable Object[] args;

        Root(Method method, @Nullable Object target, @Nullable Object[] args) {
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
}
