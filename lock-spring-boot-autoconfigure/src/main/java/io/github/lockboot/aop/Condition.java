package io.github.lockboot.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;

/** Whether a call needs the lock, parsed. */
record Condition(KeySource source, Expression expression) {

    /** @throws IllegalArgumentException if the arguments of this call give neither true nor false */
    boolean isMet(EvaluationContext context) {
        if (value(context) instanceof Boolean met) {
            return met;
        }
        throw source.refusal("gives neither true nor false", "compare, as in #amount > 100");
    }

    private @Nullable Object value(EvaluationContext context) {
        try {
            return expression.getValue(context);
        } catch (EvaluationException failure) {
            throw source.failure(failure);
        }
    }
}
