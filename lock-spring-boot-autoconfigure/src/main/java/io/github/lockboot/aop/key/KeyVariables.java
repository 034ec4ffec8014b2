package io.github.lockboot.aop.key;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.ClassUtils;

/**
 * What the expressions of a method may name: its parameters as {@code #openid}, {@code #p0} or {@code #a0}, {@code #root} and
 * {@code @bean}.
 */
public final class KeyVariables {

    private final Method method;
    private final BeanFactory beanFactory;
    private final StandardEvaluationContext shared = new StandardEvaluationContext();
    private final List<String> names;
    private final Map<String, Integer> indexes = new HashMap<>();

    /**
     * @param method as the class of the bean has it
     * @param beanFactory has the beans
     */
    public KeyVariables(Method method, BeanFactory beanFactory) {
        this.method = method;
        this.beanFactory = beanFactory;
        this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
        String @Nullable [] discovered = new DefaultParameterNameDiscoverer().getParameterNames(method);
        this.names = discovered != null ? List.of(discovered) : List.of();
        for (int i = 0; i < method.getParameterCount(); i++) {
            indexes.put("p" + i, i);
            indexes.put("a" + i, i);
        }
        names.forEach(name -> indexes.put(name, names.indexOf(name)));
    }

    /**
     * {@return the values in one call}
     *
     * @param target of the call
     * @param args of the call
     */
    public EvaluationContext in(@Nullable Object target, @Nullable Object[] args) {
        return new Call(target, args);
    }

    boolean has(String name) {
        return indexes.containsKey(name);
    }

    boolean hasBean(String name) {
        return beanFactory.containsBean(name);
    }

    /** The type of a literal or a parameter; {@code Object} for any other node. */
    Class<?> typeOf(SpelNode node) {
        if (node instanceof Literal literal) {
            Object value = literal.getLiteralValue().getValue();
            return value != null ? value.getClass() : Object.class;
        }
        Integer index = node instanceof VariableReference
                ? indexes.get(node.toStringAST().substring(1))
                : null;
        return index != null ? ClassUtils.resolvePrimitiveIfNecessary(method.getParameterTypes()[index]) : Object.class;
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
        return describe(method);
    }

    /**
     * {@return the method as messages name it}
     *
     * @param method any
     */
    public static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /** Looks an argument up where it lies, so that a call copies nothing. */
    private final class Call extends StandardEvaluationContext {

        private final @Nullable Object[] args;

        Call(@Nullable Object target, @Nullable Object[] args) {
            super(new Root(method, target, args));
            this.args = args;
            shared.applyDelegatesTo(this);
        }

        @Override
        public @Nullable Object lookupVariable(String name) {
            Integer index = indexes.get(name);
            return index != null ? args[index] : super.lookupVariable(name);
        }
    }

    /** What {@code #root} is in an expression. */
    @SuppressWarnings("ArrayRecordComponent") // of one call, and never compared
    record Root(
            Method method,
            @Nullable Object target,
            @Nullable Object[] args) {}
}
