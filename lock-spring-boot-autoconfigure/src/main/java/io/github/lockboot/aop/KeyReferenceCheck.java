package io.github.lockboot.aop;

import java.util.Set;
import java.util.function.Consumer;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * Finds what an expression names and nothing has: SpEL evaluates an unknown variable to null without a word, and the rest
 * would fail at the first call only.
 */
final class KeyReferenceCheck {

    private static final Set<String> BUILT_IN = Set.of("root", "this");

    private final BeanFactory beanFactory;

    KeyReferenceCheck(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    static String nameOf(VariableReference variable) {
        return variable.toStringAST().substring(1);
    }

    void check(KeySource source, SpelNode root, Consumer<Finding> findings) {
        check(source, root, true, true, findings);
    }

    /**
     * @param bare whether a name without prefix is looked up on {@code #root} here: not behind a dot
     * @param rootScope whether it may be below here: not in a projection or selection
     */
    private void check(KeySource source, SpelNode node, boolean bare, boolean rootScope, Consumer<Finding> findings) {
        checkName(source, node, bare, findings);
        boolean scope = rootScope && !(node instanceof Projection || node instanceof Selection);
        boolean keys = node instanceof Indexer || node instanceof InlineMap;
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean behindDot = node instanceof CompoundExpression && i > 0;
            check(source, node.getChild(i), scope && !keys && !behindDot, scope, findings);
        }
    }

    private void checkName(KeySource source, SpelNode node, boolean bare, Consumer<Finding> findings) {
        if (node instanceof VariableReference variable) {
            checkVariable(source, nameOf(variable), findings);
        } else if (node instanceof FunctionReference function) {
            String text = function.toStringAST();
            checkVariable(source, text.substring(1, text.indexOf('(')), findings);
        } else if (node instanceof BeanReference bean) {
            checkBean(source, bean.toStringAST(), findings);
        } else if (node instanceof TypeReference type) {
            checkType(source, type, findings);
        } else if (bare && node instanceof PropertyOrFieldReference property) {
            checkRootProperty(source, property.getName(), findings);
        } else if (bare && node instanceof MethodReference method) {
            String call = method.getName() + "(...)";
            findings.accept(source.finding(
                    "calls " + call + " on nothing", "write #root.target." + call + " or @bean." + call));
        }
    }

    private static void checkVariable(KeySource source, String name, Consumer<Finding> findings) {
        if (source.method().indexOf(name) == null && !BUILT_IN.contains(name)) {
            findings.accept(source.finding(
                    "names #" + name + ", which does not exist", source.method().whichVariables()));
        }
    }

    private static void checkRootProperty(KeySource source, String name, Consumer<Finding> findings) {
        if (!KeyRoot.PROPERTIES.contains(name)) {
            findings.accept(source.finding(
                    "names " + name + ", which is no property of #root",
                    source.method().indexOf(name) != null
                            ? "write #" + name
                            : "write #root.method, #root.target or #root.args, or '" + name + "' for text"));
        }
    }

    private void checkBean(KeySource source, String reference, Consumer<Finding> findings) {
        String name = reference.substring(1).replace("'", "");
        if (!beanFactory.containsBean(name)) {
            findings.accept(source.finding(
                    "names the bean '" + name + "', which does not exist", "define it, or name another bean"));
        }
    }

    private static void checkType(KeySource source, TypeReference type, Consumer<Finding> findings) {
        try {
            new SpelExpression(type.toStringAST(), (SpelNodeImpl) type, new SpelParserConfiguration()).getValue();
        } catch (EvaluationException failure) {
            findings.accept(source.finding(
                    "names the type " + type.toStringAST() + ", which is not found", "write its full class name"));
        }
    }
}
