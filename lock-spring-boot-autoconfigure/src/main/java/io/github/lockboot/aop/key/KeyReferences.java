package io.github.lockboot.aop.key;

import java.util.Set;
import java.util.function.BiConsumer;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
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
 * Rejects references that cannot be resolved: SpEL evaluates an unknown variable to null without a word, and the rest would
 * fail at the first call only.
 */
record KeyReferences(BeanFactory beanFactory, KeyVariables variables, BiConsumer<String, String> findings) {

    private static final Set<String> BUILT_IN = Set.of("root", "this");

    static String nameOf(VariableReference variable) {
        return variable.toStringAST().substring(1);
    }

    void check(SpelNode root) {
        check(root, true, true);
    }

    /**
     * @param bare whether a name without prefix is looked up on {@code #root} here: not behind a dot
     * @param rootScope whether it may be below here: not in a projection or selection
     */
    private void check(SpelNode node, boolean bare, boolean rootScope) {
        checkName(node, bare);
        boolean scope = rootScope && !(node instanceof Projection || node instanceof Selection);
        boolean keys = node instanceof Indexer || node instanceof InlineMap;
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean behindDot = node instanceof CompoundExpression && i > 0;
            check(node.getChild(i), scope && !keys && !behindDot, scope);
        }
    }

    private void checkName(SpelNode node, boolean bare) {
        if (node instanceof VariableReference variable) {
            checkVariable(nameOf(variable));
        } else if (node instanceof FunctionReference function) {
            String text = function.toStringAST();
            checkVariable(text.substring(1, text.indexOf('(')));
        } else if (node instanceof BeanReference bean) {
            checkBean(bean.toStringAST().substring(1).replace("'", ""));
        } else if (node instanceof TypeReference type) {
            checkType(type);
        } else if (bare && node instanceof PropertyOrFieldReference property) {
            checkRootProperty(property.getName());
        } else if (bare && node instanceof MethodReference method) {
            String call = method.getName() + "(...)";
            findings.accept("calls " + call + " on nothing", "write #root.target." + call + " or @bean." + call);
        }
    }

    private void checkVariable(String name) {
        if (variables.indexOf(name) == null && !BUILT_IN.contains(name)) {
            findings.accept("names #" + name + ", which does not exist", variables.hint());
        }
    }

    private void checkRootProperty(String name) {
        if (!KeyContext.Root.PROPERTIES.contains(name)) {
            String root = "write #root.method, #root.target or #root.args, or '" + name + "' for text";
            findings.accept(
                    "names " + name + ", which is no property of #root",
                    variables.indexOf(name) != null ? "write #" + name : root);
        }
    }

    private void checkBean(String name) {
        if (!beanFactory.containsBean(name)) {
            findings.accept("names the bean '" + name + "', which does not exist", "define it, or name another bean");
        }
    }

    private void checkType(TypeReference type) {
        try {
            new SpelExpression("", (SpelNodeImpl) type, KeyExpression.INTERPRETED).getValue();
        } catch (EvaluationException failure) {
            findings.accept(
                    "names the type " + type.toStringAST() + ", which is not found", "write its full class name");
        }
    }
}
