package io.github.lockboot.aop;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/**
 * A key expression taken apart where it has a {@code +} that SpEL must not evaluate: SpEL adds numbers and writes null as
 * "null", and both would let strangers share a lock. What has no {@code +} is left to SpEL.
 */
sealed interface KeyPart {

    @Nullable
    Object evaluate(EvaluationContext context);

    record Value(Expression expression) implements KeyPart {

        @Override
        public @Nullable Object evaluate(EvaluationContext context) {
            return expression.getValue(context);
        }
    }

    /** {@code left + right}, where at least one side is no number and neither is null. */
    record Concatenation(KeySource source, Operand left, Operand right, Finding addition) implements KeyPart {

        @Override
        public Object evaluate(EvaluationContext context) {
            Object leftValue = left.part.evaluate(context);
            Object rightValue = right.part.evaluate(context);
            if (leftValue instanceof Number && rightValue instanceof Number) {
                throw new IllegalArgumentException(addition.toString());
            }
            return source.textOf(leftValue, left.text) + source.textOf(rightValue, right.text);
        }
    }

    /** A side of a concatenation and how it was written. */
    record Operand(KeyPart part, String text) {}

    /** {@code condition ? then : otherwise}. */
    record Choice(Expression condition, KeyPart then, KeyPart otherwise) implements KeyPart {

        @Override
        public @Nullable Object evaluate(EvaluationContext context) {
            return (Boolean.TRUE.equals(condition.getValue(context, Boolean.class)) ? then : otherwise)
                    .evaluate(context);
        }
    }

    /** {@code value ?: fallback}. */
    record OrElse(KeyPart value, KeyPart fallback) implements KeyPart {

        @Override
        public @Nullable Object evaluate(EvaluationContext context) {
            Object result = value.evaluate(context);
            return result == null || "".equals(result) ? fallback.evaluate(context) : result;
        }
    }
}
