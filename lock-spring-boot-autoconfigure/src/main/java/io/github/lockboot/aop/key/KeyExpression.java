package io.github.lockboot.aop.key;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.CollectionUtils;

/**
 * A key expression or a condition, parsed. A {@code +} that is part of a key is not left to SpEL, which adds numbers and writes null
 * as "null": with both, different arguments could share a lock.
 *
 * <p>No message has a value of a call in it, because keys can be personal data.
 */
public final class KeyExpression {

    static final SpelParserConfiguration INTERPRETED = new SpelParserConfiguration(SpelCompilerMode.OFF, null);

    private final KeyVariables variables;
    private final String attribute;
    private final String text;
    private final SpelNode root;

    KeyExpression(KeyVariables variables, String attribute, String text, SpelNode root) {
        this.variables = variables;
        this.attribute = attribute;
        this.text = text;
        this.root = root;
    }

    /**
     * {@return the text of a key, which is not empty}
     *
     * @param context of the call
     * @throws IllegalArgumentException if its arguments give null, or what has no text of its own
     */
    public String evaluate(KeyContext context) {
        return nonEmpty(textOf(valueOf(context), "gives "));
    }

    /**
     * {@return the texts of the elements of a collection or array, of which there is at least one}
     *
     * @param context of the call
     * @throws IllegalArgumentException if its arguments give none, or one that is no key
     */
    public List<String> evaluateElements(KeyContext context) {
        Object value = valueOf(context);
        Collection<?> elements;
        if (value instanceof Collection<?> collection) {
            elements = collection;
        } else if (value != null && value.getClass().isArray()) {
            elements = CollectionUtils.arrayToList(value);
        } else {
            throw refusal(
                    value == null ? "gives null" : "gives a " + value.getClass().getName(),
                    "pass a collection or an array, or leave out perElement");
        }
        if (elements.isEmpty()) {
            throw refusal(
                    "gives no element",
                    "pass one, or add a condition for when no lock is needed, as in !#ids.isEmpty()");
        }
        List<String> texts = new ArrayList<>(elements.size());
        for (Object element : elements) {
            texts.add(nonEmpty(textOf(element, "has an element that is ")));
        }
        return texts;
    }

    /**
     * {@return whether the condition is met}
     *
     * @param context of the call
     * @throws IllegalArgumentException if its arguments give neither true nor false
     */
    public boolean isMet(KeyContext context) {
        try {
            if (plain(root).getValue(context) instanceof Boolean met) {
                return met;
            }
        } catch (EvaluationException failure) {
            throw failed(failure);
        }
        throw refusal("gives neither true nor false", "compare, as in #amount > 100");
    }

    // --- evaluation -------------------------------------------------------------------------------------------

    private @Nullable Object valueOf(KeyContext context) {
        try {
            return valueOf(root, context);
        } catch (EvaluationException failure) {
            throw failed(failure);
        }
    }

    private @Nullable Object valueOf(SpelNode node, KeyContext context) {
        if (!hasPlus(node)) {
            return plain(node).getValue(context);
        }
        SpelNode first = node.getChild(0);
        SpelNode second = node.getChild(1);
        if (node instanceof Ternary) {
            boolean met = Boolean.TRUE.equals(plain(first).getValue(context, Boolean.class));
            return valueOf(met ? second : node.getChild(2), context);
        }
        Object left = valueOf(first, context);
        if (node instanceof Elvis) {
            return left == null || "".equals(left) ? valueOf(second, context) : left;
        }
        Object right = valueOf(second, context);
        if (left instanceof Number && right instanceof Number) {
            throw refusal(ADDITION, remedyOfAddition(node));
        }
        return textOf(left, operand(first)) + textOf(right, operand(second));
    }

    private static SpelExpression plain(SpelNode node) {
        return new SpelExpression("", (SpelNodeImpl) node, INTERPRETED);
    }

    private static String operand(SpelNode node) {
        return "has the operand " + node.toStringAST() + ", which gives ";
    }

    // --- concatenation ----------------------------------------------------------------------------------------

    static final String ADDITION = "adds two numbers, so that different arguments share a lock";

    static boolean isPlus(SpelNode node) {
        return node instanceof OpPlus && node.getChildCount() == 2;
    }

    static boolean hasPlus(SpelNode node) {
        if (isPlus(node)) {
            return true;
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            if (hasPlus(node.getChild(i))) {
                return true;
            }
        }
        return false;
    }

    static String remedyOfAddition(SpelNode plus) {
        List<String> operands = new ArrayList<>();
        collectOperands(plus, operands);
        return operands.stream()
                .map(operand -> "\"" + operand + "\"")
                .collect(Collectors.joining(", ", "use key = {", "} instead"));
    }

    private static void collectOperands(SpelNode node, List<String> operands) {
        if (isPlus(node)) {
            collectOperands(node.getChild(0), operands);
            collectOperands(node.getChild(1), operands);
        } else {
            operands.add(node.toStringAST());
        }
    }

    // --- values as text ---------------------------------------------------------------------------------------

    /**
     * Types of the application are refused, even if they are numbers or text: their text may be that of an object's identity.
     *
     * @param subject begins the sentence that says what is wrong with the value
     */
    private String textOf(@Nullable Object value, String subject) {
        if (value == null) {
            throw refusal(subject + "null", "pass a value, or use an expression that is never null");
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        String place = value.getClass().getPackageName();
        if (value instanceof Number number && (place.equals("java.lang") || place.equals("java.math"))) {
            return textOfNumber(number, subject);
        }
        if (value instanceof CharSequence && place.startsWith("java.")
                || value instanceof UUID
                || value instanceof Character
                || value instanceof Boolean) {
            return value.toString();
        }
        boolean hasElements = value instanceof Collection || value.getClass().isArray();
        throw refusal(
                subject + "a " + value.getClass().getName(),
                "use a property of it that is text, a number, an enum constant or a UUID"
                        + (hasElements ? ", or perElement = true for a lock per element" : ""));
    }

    /** The same for equal decimals of different scales, and for both zeros. */
    private String textOfNumber(Number number, String subject) {
        if (number instanceof BigDecimal decimal && decimal.signum() != 0) {
            long digitsBeforeThePoint = (long) decimal.precision() - decimal.scale();
            BigDecimal shortest = digitsBeforeThePoint <= LockNames.MAX_LENGTH ? decimal.stripTrailingZeros() : decimal;
            if (digitsBeforeThePoint > LockNames.MAX_LENGTH || shortest.scale() > LockNames.MAX_LENGTH) {
                throw refusal(
                        subject + "a number of more than " + LockNames.MAX_LENGTH + " digits", "pass one with fewer");
            }
            return shortest.toPlainString();
        }
        if (number instanceof Double || number instanceof Float) {
            if (!Double.isFinite(number.doubleValue())) {
                throw refusal(subject + number, "pass a number");
            }
            return number.doubleValue() == 0 ? "0.0" : number.toString();
        }
        return number instanceof BigDecimal ? "0" : number.toString();
    }

    private String nonEmpty(String key) {
        if (key.isEmpty()) {
            throw refusal("gives empty text", "pass a value, or use an expression that is never empty");
        }
        return key;
    }

    // --- messages ---------------------------------------------------------------------------------------------

    private IllegalArgumentException refusal(String problem, String action) {
        return new IllegalArgumentException(message(problem, action));
    }

    private IllegalArgumentException failed(EvaluationException cause) {
        String message = message("cannot be evaluated", "see the cause, and mind nulls on the way to a property");
        return new IllegalArgumentException(message, cause);
    }

    private String message(String problem, String action) {
        return variables + ": " + attribute + " expression \"" + text + "\" " + problem + ": " + action;
    }
}
