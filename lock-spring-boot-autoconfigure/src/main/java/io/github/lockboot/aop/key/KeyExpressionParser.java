package io.github.lockboot.aop.key;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;

/** Parses expressions, and finds all that is wrong with them before there are arguments. */
public final class KeyExpressionParser {

    private final SpelExpressionParser parser = new SpelExpressionParser(KeyExpression.INTERPRETED);
    private final BeanFactory beanFactory;

    /** @param beanFactory of the beans that an expression may name */
    public KeyExpressionParser(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    /**
     * {@return the parsed expression; null if something was found}
     *
     * @param variables of the method
     * @param attribute of the annotation, {@code key} or {@code condition}
     * @param text of the attribute
     * @param findings what is wrong and what to do about it
     */
    public @Nullable KeyExpression parse(
            KeyVariables variables, String attribute, String text, BiConsumer<String, String> findings) {
        boolean key = attribute.equals("key");
        String example = key ? "#id" : "#amount > 100";
        AtomicBoolean found = new AtomicBoolean();
        BiConsumer<String, String> find = (problem, action) -> {
            found.set(true);
            findings.accept(attribute + " expression \"" + text + "\" " + problem, action);
        };
        if (text.isBlank()) {
            find.accept("is empty", "write an expression such as \"" + example + "\"");
            return null;
        }
        SpelNode root;
        try {
            root = parser.parseRaw(text).getAST();
        } catch (ParseException failure) {
            find.accept(
                    "cannot be parsed (" + failure.getSimpleMessage() + ")",
                    "write a SpEL expression such as \"" + example + "\"");
            return null;
        }
        new KeyReferences(beanFactory, variables, find).check(root);
        if (key) {
            checkPlus(root, variables, find);
        } else {
            checkBoolean(typeOf(root, variables), find);
        }
        return found.get() ? null : new KeyExpression(variables, attribute, text, root);
    }

    /** A + may stand between the parts of a key only. */
    private static void checkPlus(SpelNode node, KeyVariables variables, BiConsumer<String, String> find) {
        if (!KeyExpression.hasPlus(node)) {
            return;
        }
        if (KeyExpression.isPlus(node)) {
            if (isNumber(node.getChild(0), variables) && isNumber(node.getChild(1), variables)) {
                find.accept(KeyExpression.ADDITION, KeyExpression.remedyOfAddition(node));
            }
        } else if (!(node instanceof Ternary || node instanceof Elvis)) {
            find.accept(
                    "has a + inside " + node.toStringAST() + ", where it may add numbers or take in a null unseen",
                    "write + only between the parts of a key");
            return;
        }
        for (int i = node instanceof Ternary ? 1 : 0; i < node.getChildCount(); i++) {
            checkPlus(node.getChild(i), variables, find);
        }
    }

    private static void checkBoolean(@Nullable Class<?> type, BiConsumer<String, String> find) {
        if (type != null && type != Boolean.class && type != boolean.class && type != Object.class) {
            find.accept(
                    "gives a " + type.getSimpleName() + " and neither true nor false", "compare, as in #amount > 100");
        }
    }

    private static boolean isNumber(SpelNode node, KeyVariables variables) {
        Class<?> type = typeOf(node, variables);
        return type != null && Number.class.isAssignableFrom(ClassUtils.resolvePrimitiveIfNecessary(type));
    }

    /** The type of a literal or a parameter; null if it is not known before a call. */
    private static @Nullable Class<?> typeOf(SpelNode node, KeyVariables variables) {
        if (node instanceof Literal literal) {
            Object value = literal.getLiteralValue().getValue();
            return value != null ? value.getClass() : null;
        }
        return node instanceof VariableReference variable ? variables.typeOf(KeyReferences.nameOf(variable)) : null;
    }
}
