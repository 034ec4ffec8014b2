package io.github.lockboot.aop.key;

import java.util.Set;
import java.util.function.BiConsumer;

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
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * Rejects references that cannot be resolved: SpEL evaluates an unknown variable to null without a word, and the rest would
 * fail at the first call only.
 */
record KeyReferences(KeyVariables variables, BiConsumer<String, String> findings) {

    private static final Set<String> PROPERTIES_OF_ROOT = Set.of("method", "target", "args");

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
        String text = node.toStringAST();
        if (node instanceof VariableReference) {
            checkVariable(text.substring(1));
        } else if (node instanceof FunctionReference) {
            checkVariable(text.substring(1, text.indexOf('(')));
        } else if (node instanceof BeanReference) {
            String name = text.substring(1).replace("'", "");
            if (!variables.hasBean(name)) {
                findings.accept(
                        "names the bean '" + name + "', which does not exist", "define it, or name another bean");
            }
        } else if (node instanceof TypeReference) {
            checkType(node, text);
        } else if (bare && node instanceof PropertyOrFieldReference property) {
            checkPropertyOfRoot(property.getName());
        } else if (bare && node instanceof MethodReference method) {
            String call = method.getName() + "(...)";
            findings.accept("calls " + call + " on nothing", "write #root.target." + call + " or @bean." + call);
        }
    }

    private void checkVariable(String name) {
        if (!variables.has(name) && !name.equals("root") && !name.equals("this")) {
            findings.accept("names #" + name + ", which does not exist", variables.hint());
        }
    }

    private void checkPropertyOfRoot(String name) {
        if (!PROPERTIES_OF_ROOT.contains(name)) {
            String root = "write #root.method, #root.target or #root.args, or '" + name + "' for text";
            findings.accept(
                    "names " + name + ", which is no property of #root", variables.has(name) ? "write #" + name : root);
        }
    }

    private void checkType(SpelNode type, String text) {
        try {
            KeyExpression.plain(type).getValue();
        } catch (EvaluationException failure) {
            findings.accept("names the type " + text + ", which is not found", "write its full class name");
        }
    }
}
