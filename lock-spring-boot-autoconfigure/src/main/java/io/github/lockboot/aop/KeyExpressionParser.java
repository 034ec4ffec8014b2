package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import io.github.lockboot.aop.KeyPart.Choice;
import io.github.lockboot.aop.KeyPart.Concatenation;
import io.github.lockboot.aop.KeyPart.Operand;
import io.github.lockboot.aop.KeyPart.OrElse;
import io.github.lockboot.aop.KeyPart.Value;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ClassUtils;

/** Text to {@link KeyExpression}, with all that can be found wrong before there are arguments. */
final class KeyExpressionParser {

    private static final SpelParserConfiguration INTERPRETED = new SpelParserConfiguration(SpelCompilerMode.OFF, null);

    private final SpelExpressionParser parser = new SpelExpressionParser(INTERPRETED);
    private final KeyReferenceCheck references;

    KeyExpressionParser(KeyReferenceCheck references) {
        this.references = references;
    }

    /** @return null if something was found */
    @Nullable
    KeyExpression parseKey(KeySource source, Consumer<Finding> findings) {
        return parse(source, "#id", findings, (node, found) -> new KeyExpression(source, part(source, node, found)));
    }

    /** @return null if something was found */
    @Nullable
    Condition parseCondition(KeySource source, Consumer<Finding> findings) {
        return parse(source, "#amount > 100", findings, (node, found) -> {
            Class<?> type = typeOf(source, node);
            if (type != null && type != Boolean.class && type != boolean.class && type != Object.class) {
                found.accept(source.finding(
                        "gives a " + type.getSimpleName() + " and neither true nor false",
                        "compare, as in #amount > 100"));
            }
            return new Condition(source, expression(node));
        });
    }

    /** @return null if something was found, by the reader too */
    private <T> @Nullable T parse(KeySource source, String example, Consumer<Finding> findings, Reader<T> reader) {
        String mend = "write an expression such as \"" + example + "\"";
        if (source.expression().isBlank()) {
            findings.accept(source.finding("is empty", mend));
            return null;
        }
        List<Finding> found = new ArrayList<>();
        T result = null;
        try {
            SpelNode node = parser.parseRaw(source.expression()).getAST();
            references.check(source, node, found::add);
            result = reader.read(node, found::add);
        } catch (ParseException failure) {
            found.add(source.finding(
                    "cannot be parsed (" + failure.getSimpleMessage() + ")",
                    "write a SpEL expression such as \"" + example + "\""));
        }
        found.forEach(findings);
        return found.isEmpty() ? result : null;
    }

    /** Makes something of an expression. */
    private interface Reader<T> {
        T read(SpelNode node, Consumer<Finding> findings);
    }

    private static KeyPart part(KeySource source, SpelNode node, Consumer<Finding> findings) {
        if (!hasPlus(node)) {
            return new Value(expression(node));
        }
        if (isPlus(node)) {
            SpelNode left = node.getChild(0);
            SpelNode right = node.getChild(1);
            Finding addition = addition(source, node);
            if (isNumber(source, left) && isNumber(source, right)) {
                findings.accept(addition);
            }
            return new Concatenation(
                    source,
                    new Operand(part(source, left, findings), left.toStringAST()),
                    new Operand(part(source, right, findings), right.toStringAST()),
                    addition);
        }
        if (node instanceof Ternary) {
            return new Choice(
                    expression(node.getChild(0)),
                    part(source, node.getChild(1), findings),
                    part(source, node.getChild(2), findings));
        }
        if (node instanceof Elvis) {
            return new OrElse(part(source, node.getChild(0), findings), part(source, node.getChild(1), findings));
        }
        findings.accept(source.finding(
                "has a + inside " + node.toStringAST() + ", where it may add numbers or take in a null unseen",
                "write + only between the parts of a key"));
        return new Value(expression(node));
    }

    private static SpelExpression expression(SpelNode node) {
        return new SpelExpression(node.toStringAST(), (SpelNodeImpl) node, INTERPRETED);
    }

    private static boolean isPlus(SpelNode node) {
        return node instanceof OpPlus && node.getChildCount() == 2;
    }

    private static boolean hasPlus(SpelNode node) {
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

    private static boolean isNumber(KeySource source, SpelNode node) {
        Class<?> type = typeOf(source, node);
        return type != null && Number.class.isAssignableFrom(ClassUtils.resolvePrimitiveIfNecessary(type));
    }

    /** The type of a literal or a parameter; null if it is not known before a call. */
    private static @Nullable Class<?> typeOf(KeySource source, SpelNode node) {
        if (node instanceof Literal literal) {
            Object value = literal.getLiteralValue().getValue();
            return value != null ? value.getClass() : null;
        }
        return node instanceof VariableReference variable
                ? source.method().typeOf(KeyReferenceCheck.nameOf(variable))
                : null;
    }

    private static Finding addition(KeySource source, SpelNode plus) {
        List<String> operands = new ArrayList<>();
        collectOperands(plus, operands);
        String list = operands.stream().map(text -> "\"" + text + "\"").collect(Collectors.joining(", ", "{", "}"));
        return source.finding(
                "adds two numbers, so that different arguments share a lock", "use key = " + list + " instead");
    }

    private static void collectOperands(SpelNode node, List<String> operands) {
        if (isPlus(node)) {
            collectOperands(node.getChild(0), operands);
            collectOperands(node.getChild(1), operands);
        } else {
            operands.add(node.toStringAST());
        }
    }
}
