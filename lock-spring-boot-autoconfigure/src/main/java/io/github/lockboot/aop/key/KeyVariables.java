package io.github.lockboot.aop.key;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * What the expressions of a method may name: its parameters as {@code #openid}, {@code #p0} or {@code #a0},
 * {@code #root} and {@code @bean}.
 */
public final class KeyVariables {

    private static final Set<String> PROPERTIES_OF_ROOT = Set.of("method", "target", "args");

    /** What Spring's cache abstraction has in its {@code #root} for the same. */
    private static final Map<String, String> PROPERTIES_OF_CACHES =
            Map.of("methodName", "#root.method.name", "targetClass", "#root.target.class.name");

    private static final Pattern VARIABLE = Pattern.compile("([\\p{L}\\p{N}]?)#([\\p{L}_]\\w*)");
    private static final Set<String> OF_TEMPLATES = Set.of("#root", "#this");

    private final Method method;
    private final Class<?> targetClass;
    private final String description;
    private final BeanFactory beanFactory;
    private final StandardEvaluationContext shared = new StandardEvaluationContext();
    private final List<String> names;
    private final Map<String, Integer> indexes = new HashMap<>();

    /**
     * @param method that is called
     * @param named whose parameters have the names that count: the one with the annotation, which the other overrides
     *     or implements
     * @param targetClass says what the type parameters are
     * @param description names the method in messages
     */
    public KeyVariables(
            Method method, Method named, Class<?> targetClass, String description, BeanFactory beanFactory) {
        this.method = method;
        this.targetClass = targetClass;
        this.description = description;
        this.beanFactory = beanFactory;
        this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
        // Else it would be the class loader of the thread that calls first, which may be one of the JDK.
        this.shared.setTypeLocator(new StandardTypeLocator(
                beanFactory instanceof ConfigurableBeanFactory known ? known.getBeanClassLoader() : null));
        for (int i = 0; i < method.getParameterCount(); i++) {
            indexes.put("p" + i, i);
            indexes.put("a" + i, i);
        }
        List<String> others = namesOf(method);
        others.forEach(name -> indexes.put(name, others.indexOf(name)));
        List<String> first = namesOf(named);
        first.forEach(name -> indexes.put(name, first.indexOf(name)));
        this.names = first.isEmpty() ? others : first;
    }

    /** Empty if the compiler did not keep them. */
    private static List<String> namesOf(Method method) {
        String @Nullable [] discovered = new DefaultParameterNameDiscoverer().getParameterNames(method);
        return discovered != null ? List.of(discovered) : List.of();
    }

    public EvaluationContext in(@Nullable Object target, @Nullable Object[] args) {
        return new Call(target, args);
    }

    // --- what an expression names -----------------------------------------------------------------------------

    /**
     * Finds references that cannot be resolved. SpEL would evaluate an unknown variable to null, and others would fail
     * at the first call.
     */
    void check(SpelNode root, BiConsumer<String, String> findings) {
        check(root, true, true, findings);
    }

    /**
     * @param bare whether a name without prefix belongs to {@code #root} here: not behind a dot
     * @param rootScope whether it may below here: not in a projection or selection
     */
    private void check(SpelNode node, boolean bare, boolean rootScope, BiConsumer<String, String> findings) {
        checkName(node, bare, findings);
        boolean scope = rootScope && !(node instanceof Projection || node instanceof Selection);
        boolean keys = node instanceof Indexer || node instanceof InlineMap;
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean behindDot = node instanceof CompoundExpression && i > 0;
            check(node.getChild(i), scope && !keys && !behindDot, scope, findings);
        }
    }

    private void checkName(SpelNode node, boolean bare, BiConsumer<String, String> findings) {
        String text = node.toStringAST();
        if (node instanceof CompoundExpression
                && node.getChild(0).toStringAST().equals("#root")
                && node.getChild(1) instanceof PropertyOrFieldReference property) {
            checkPropertyOfRoot(property.getName(), findings);
        }
        if (node instanceof VariableReference || node instanceof FunctionReference) {
            String name = text.substring(1).replaceFirst("\\(.*", "");
            if (!has(name) && !name.equals("this")) {
                findings.accept("names #" + name + ", which does not exist", hint());
            }
        } else if (node instanceof BeanReference) {
            String name = text.substring(1).replace("'", "");
            if (!beanFactory.containsBean(name)) {
                findings.accept(
                        "names the bean '" + name + "', which does not exist", "define it, or name another bean");
            }
        } else if (node instanceof TypeReference) {
            try {
                KeyExpression.expressionOf(node).getValue(shared);
            } catch (EvaluationException failure) {
                findings.accept("names the type " + text + ", which is not found", "write its full class name");
            }
        } else if (bare && node instanceof PropertyOrFieldReference property) {
            checkPropertyOfRoot(property.getName(), findings);
        } else if (bare && node instanceof MethodReference method) {
            String call = method.getName() + "(...)";
            findings.accept("calls " + call + " without a target", "write #root.target." + call + " or @bean." + call);
        }
    }

    private void checkPropertyOfRoot(String name, BiConsumer<String, String> findings) {
        if (!PROPERTIES_OF_ROOT.contains(name)) {
            String other = "#root.method, #root.target or #root.args, or '" + name + "' for text";
            String instead = indexes.containsKey(name) ? "#" + name : PROPERTIES_OF_CACHES.getOrDefault(name, other);
            findings.accept("names " + name + ", which is not a property of #root", "write " + instead);
        }
    }

    /** The type of a literal, a list or a parameter; {@code Object} for any other node. */
    Class<?> typeOf(SpelNode node) {
        return ClassUtils.resolvePrimitiveIfNecessary(resolvableTypeOf(node).resolve(Object.class));
    }

    /** As {@link #typeOf}, with the types of elements. */
    ResolvableType resolvableTypeOf(SpelNode node) {
        if (node instanceof Literal literal) {
            return ResolvableType.forInstance(literal.getLiteralValue().getValue());
        }
        if (node instanceof InlineList || node instanceof InlineMap) {
            return ResolvableType.forClass(node instanceof InlineList ? List.class : Map.class);
        }
        Integer index = node instanceof VariableReference
                ? indexes.get(node.toStringAST().substring(1))
                : null;
        return index != null ? ResolvableType.forMethodParameter(method, index, targetClass) : ResolvableType.NONE;
    }

    /**
     * {@return the first variable in a text that is not an expression, such as {@code #id}; null if there is none}
     * Within a word, a # is text, unless a parameter has the name that follows it. A template has its own #root.
     */
    public @Nullable String findIn(String text) {
        return VARIABLE.matcher(text)
                .results()
                .filter(found -> found.group(1).isEmpty() || has(found.group(2)))
                .map(found -> "#" + found.group(2))
                .filter(name -> !text.contains("#{") || !OF_TEMPLATES.contains(name))
                .findFirst()
                .orElse(null);
    }

    /** Whether an expression may name it with a #. */
    private boolean has(String name) {
        return indexes.containsKey(name) || name.equals("root");
    }

    /** What to write instead of a name that does not exist. */
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

    @Override
    public String toString() {
        return description;
    }

    /** Reads the arguments of the call without copying them. */
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

    /** The {@code #root} of an expression. */
    @SuppressWarnings("ArrayRecordComponent") // of one call, and never compared
    record Root(
            Method method,
            @Nullable Object target,
            @Nullable Object[] args) {}
}
