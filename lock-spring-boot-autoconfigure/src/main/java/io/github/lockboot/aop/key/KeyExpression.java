package io.github.lockboot.aop.key;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.OpDivide;
import org.springframework.expression.spel.ast.OpMinus;
import org.springframework.expression.spel.ast.OpModulus;
import org.springframework.expression.spel.ast.OpMultiply;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;
import org.springframework.util.ObjectUtils;

/**
 * A key expression or a condition, parsed. A {@code +} that is part of a key is not left to SpEL, which adds numbers
 * and writes null as "null": with both, different arguments could share a lock.
 *
 * <p>No message has a value of a call in it, because keys can be personal data.
 */
public final class KeyExpression {

    private static final SpelParserConfiguration INTERPRETED = new SpelParserConfiguration(SpelCompilerMode.OFF, null);

    private static final String ELEMENT = "has an element that is ";
    private static final String MANY = "pass a collection or an array, or leave out perElement";

    private final KeyVariables variables;
    private final String quoted;
    private final Function<EvaluationContext, @Nullable Object> evaluator;
    private final boolean ofArgumentsOnly;

    private KeyExpression(
            KeyVariables variables, String quoted, SpelNode root, boolean key, BiConsumer<String, String> findings) {
        this.variables = variables;
        this.quoted = quoted;
        this.evaluator = key ? evaluatorOf(root, findings) : expressionOf(root)::getValue;
        this.ofArgumentsOnly = isOfArgumentsOnly(root);
    }

    // --- parsing ----------------------------------------------------------------------------------------------

    /**
     * @param attribute of the annotation, {@code key} or {@code condition}
     * @param perElement whether the key is to give a collection or an array
     * @param findings receives each problem that does not depend on the arguments, and its action
     * @return null if the text cannot be parsed
     */
    public static @Nullable KeyExpression parse(
            KeyVariables variables,
            String attribute,
            String text,
            boolean perElement,
            BiConsumer<String, String> findings) {
        boolean key = attribute.equals("key");
        String example = "expression such as \"" + (key ? "#id" : "#amount > 100") + "\"";
        String quoted = attribute + " expression \"" + text + "\" ";
        BiConsumer<String, String> find = (problem, action) -> findings.accept(quoted + problem, action);
        if (text.isBlank()) {
            find.accept("is empty", "write an " + example);
            return null;
        }
        SpelNode root;
        try {
            root = new SpelExpressionParser(INTERPRETED).parseRaw(text).getAST();
        } catch (ParseException failure) {
            find.accept("cannot be parsed (" + failure.getSimpleMessage() + ")", "write a SpEL " + example);
            return null;
        }
        variables.check(root, find);
        Class<?> type = variables.typeOf(root);
        if (!key && type != Boolean.class && type != Object.class) {
            find.accept(
                    "gives a " + type.getSimpleName() + ", not true or false",
                    "use a comparison such as #amount > 100");
        }
        if (key && perElement) {
            checkElements(variables, root, find);
        } else if (key) {
            checkType(variables, root, "gives ", find);
        }
        return new KeyExpression(variables, quoted, root, key, find);
    }

    /** Finds operands that can never be keys, by the declared types of parameters. */
    private static void checkType(
            KeyVariables variables, SpelNode node, String subject, BiConsumer<String, String> findings) {
        if (isPlus(node) || node instanceof Ternary || node instanceof Elvis) {
            // The condition of the first, and what gives way to the other, is no part of the key, or not always.
            children(node)
                    .skip(isPlus(node) ? 0 : 1)
                    .forEach(part -> checkType(variables, part, subjectOf(part), findings));
            return;
        }
        if (isArithmetic(node) && children(node).allMatch(KeyExpression::hasVariable)) {
            findings.accept(
                    "calculates with several parameters, so that different arguments share a lock", partsOf(node));
        }
        Class<?> type = variables.typeOf(node);
        if (KeyTypes.isNeverKey(type)) {
            findings.accept(subject + "a " + type.getTypeName(), KeyTypes.instead(type));
        }
    }

    private static void checkElements(KeyVariables variables, SpelNode node, BiConsumer<String, String> findings) {
        Class<?> type = variables.typeOf(node);
        Class<?> element = KeyTypes.elementOf(variables.resolvableTypeOf(node));
        if (KeyTypes.isNeverMany(type)) {
            findings.accept("gives a " + type.getTypeName(), MANY);
        } else if (KeyTypes.isNeverKey(ClassUtils.resolvePrimitiveIfNecessary(element))) {
            findings.accept(ELEMENT + "a " + element.getTypeName(), KeyTypes.instead(element));
        }
    }

    private static String subjectOf(SpelNode operand) {
        return "has the operand " + operand.toStringAST() + ", which gives ";
    }

    /** A + is allowed only between the parts of a key. */
    private Function<EvaluationContext, @Nullable Object> evaluatorOf(
            SpelNode node, BiConsumer<String, String> findings) {
        if (!hasPlus(node)) {
            return expressionOf(node)::getValue;
        }
        SpelNode first = node.getChild(0);
        if (isPlus(node)) {
            return concatenation(node, first, node.getChild(1), findings);
        }
        if (node instanceof Ternary) {
            SpelExpression condition = expressionOf(first);
            var met = evaluatorOf(node.getChild(1), findings);
            var unmet = evaluatorOf(node.getChild(2), findings);
            return call -> (Boolean.TRUE.equals(condition.getValue(call, Boolean.class)) ? met : unmet).apply(call);
        }
        if (node instanceof Elvis) {
            var preferred = evaluatorOf(first, findings);
            var otherwise = evaluatorOf(node.getChild(1), findings);
            return call -> {
                Object value = preferred.apply(call);
                return value == null || "".equals(value) ? otherwise.apply(call) : value;
            };
        }
        findings.accept(
                "has a + inside " + node.toStringAST() + ", where it may add numbers or include a null",
                "write + only between the parts of a key");
        return expressionOf(node)::getValue;
    }

    private Function<EvaluationContext, @Nullable Object> concatenation(
            SpelNode plus, SpelNode first, SpelNode second, BiConsumer<String, String> findings) {
        String problem = "adds two numbers, so that different arguments share a lock";
        String action = partsOf(plus);
        if (Number.class.isAssignableFrom(variables.typeOf(first))
                && Number.class.isAssignableFrom(variables.typeOf(second))) {
            findings.accept(problem, action);
        }
        var left = evaluatorOf(first, findings);
        var right = evaluatorOf(second, findings);
        String ofLeft = subjectOf(first);
        String ofRight = subjectOf(second);
        return call -> {
            Object one = left.apply(call);
            Object other = right.apply(call);
            if (one instanceof Number && other instanceof Number) {
                throw refusal(problem, action);
            }
            return textOf(one, ofLeft) + textOf(other, ofRight);
        };
    }

    static SpelExpression expressionOf(SpelNode node) {
        return new SpelExpression("", (SpelNodeImpl) node, INTERPRETED);
    }

    private static boolean isPlus(SpelNode node) {
        return node instanceof OpPlus && node.getChildCount() == 2;
    }

    private static boolean hasPlus(SpelNode node) {
        return isPlus(node) || children(node).anyMatch(KeyExpression::hasPlus);
    }

    private static Stream<SpelNode> children(SpelNode node) {
        return IntStream.range(0, node.getChildCount()).mapToObj(node::getChild);
    }

    /** {@return whether nothing but separators is added to what the arguments of the call give} */
    public boolean isOfArgumentsOnly() {
        return ofArgumentsOnly;
    }

    private static boolean isOfArgumentsOnly(SpelNode node) {
        boolean other = node instanceof Literal literal
                        && String.valueOf(literal.getLiteralValue().getValue())
                                .chars()
                                .anyMatch(Character::isLetter)
                || node instanceof VariableReference && node.toStringAST().equals("#root")
                || node instanceof BeanReference
                || node instanceof TypeReference;
        return !other && children(node).allMatch(KeyExpression::isOfArgumentsOnly);
    }

    private static boolean isArithmetic(SpelNode node) {
        return node.getChildCount() == 2
                && (node instanceof OpMinus
                        || node instanceof OpMultiply
                        || node instanceof OpDivide
                        || node instanceof OpModulus);
    }

    private static boolean hasVariable(SpelNode node) {
        return node instanceof VariableReference || children(node).anyMatch(KeyExpression::hasVariable);
    }

    private static String partsOf(SpelNode node) {
        return operands(node)
                .map(operand -> "\"" + operand.toStringAST() + "\"")
                .collect(Collectors.joining(", ", "use key = {", "} instead"));
    }

    private static Stream<SpelNode> operands(SpelNode node) {
        return isPlus(node) || isArithmetic(node) ? children(node).flatMap(KeyExpression::operands) : Stream.of(node);
    }

    // --- evaluation -------------------------------------------------------------------------------------------

    /** @throws IllegalArgumentException if the arguments give null, empty text or a type that is not a key */
    public String evaluate(EvaluationContext call) {
        return nonEmpty(textOf(valueIn(call), "gives "));
    }

    /**
     * @throws IllegalArgumentException if the arguments give no collection or array, an empty one, or an element that
     *     is not a key
     */
    public List<String> evaluateElements(EvaluationContext call) {
        Object value = valueIn(call);
        if (!(value instanceof Collection || ObjectUtils.isArray(value))) {
            throw refusal(
                    value == null ? "gives null" : "gives a " + value.getClass().getTypeName(), MANY);
        }
        Object[] elements = value instanceof Collection<?> some ? some.toArray() : ObjectUtils.toObjectArray(value);
        if (elements.length == 0) {
            throw refusal(
                    "gives no element",
                    "pass an element, or add a condition for calls that need no lock, such as !#ids.isEmpty()");
        }
        return Stream.of(elements)
                .map(element -> nonEmpty(textOf(element, ELEMENT)))
                .toList();
    }

    /** @throws IllegalArgumentException if the arguments give neither true nor false */
    public boolean isMet(EvaluationContext call) {
        if (valueIn(call) instanceof Boolean met) {
            return met;
        }
        throw refusal("gives neither true nor false", "use a comparison such as #amount > 100");
    }

    private @Nullable Object valueIn(EvaluationContext call) {
        try {
            return evaluator.apply(call);
        } catch (EvaluationException failure) {
            String message =
                    message("cannot be evaluated", "see the cause, and check for nulls on the path to a property");
            throw new IllegalArgumentException(message, failure);
        }
    }

    // --- values as text ---------------------------------------------------------------------------------------

    /** @param subject begins the sentence of the message */
    private String textOf(@Nullable Object value, String subject) {
        if (value instanceof String text) {
            return text;
        }
        if (value == null) {
            throw refusal(subject + "null", "pass a value, or use an expression that is never null");
        }
        if (!KeyTypes.isKey(value.getClass())) {
            throw refusal(subject + "a " + value.getClass().getTypeName(), KeyTypes.instead(value.getClass()));
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        return value instanceof Number number ? textOfNumber(number, subject) : value.toString();
    }

    /** The same for equal decimals of different scales, and for both zeros. */
    private String textOfNumber(Number number, String subject) {
        if (number instanceof BigDecimal decimal) {
            BigDecimal shortest = decimal.stripTrailingZeros();
            if (Math.max((long) shortest.precision() - shortest.scale(), shortest.scale()) <= LockNames.MAX_LENGTH) {
                return shortest.toPlainString();
            }
            throw refusal(subject + "a number of more than " + LockNames.MAX_LENGTH + " digits", "pass one with fewer");
        }
        if (number instanceof Double || number instanceof Float) {
            if (!Double.isFinite(number.doubleValue())) {
                throw refusal(subject + number, "pass a number");
            }
            return number.doubleValue() == 0 ? "0.0" : number.toString();
        }
        return number.toString();
    }

    private String nonEmpty(String key) {
        if (key.isEmpty()) {
            throw refusal("gives empty text", "pass a value, or use an expression that is never empty");
        }
        return key;
    }

    private IllegalArgumentException refusal(String problem, String action) {
        return new IllegalArgumentException(message(problem, action));
    }

    private String message(String problem, String action) {
        return variables + ": " + quoted + problem + ": " + action;
    }
}
