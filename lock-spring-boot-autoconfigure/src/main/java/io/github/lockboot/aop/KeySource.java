package io.github.lockboot.aop;

import java.util.Collection;
import java.util.UUID;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationException;

/**
 * Where an expression stands, for all that is said about it. No message has a value of a call in it: keys can be personal
 * data.
 */
record KeySource(LockedMethod method, String attribute, String expression) {

    /** Stands for an element of the expression's value where an operand is named. */
    static final String ELEMENT = "[]";

    Finding finding(String problem, String mend) {
        return method.finding(attribute + " expression \"" + expression + "\" " + problem, mend);
    }

    /**
     * The value of the expression or of one operand as text.
     *
     * @throws IllegalArgumentException if it is null, or of a type whose text does not identify it
     */
    String textOf(@Nullable Object value, String operand) {
        String subject = subject(operand);
        if (value == null) {
            throw refusal(subject + "null", "pass a value, or use an expression that is never null");
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (!isText(value)) {
            throw refusal(
                    subject + "a " + value.getClass().getName(),
                    "use a property of it that is text, a number, an enum constant or a UUID"
                            + (hasElements(value) ? ", or perElement = true for a lock per element" : ""));
        }
        return value.toString();
    }

    private String subject(String operand) {
        if (operand.equals(expression)) {
            return "gives ";
        }
        return operand.equals(ELEMENT) ? "has an element that is " : "has the operand " + operand + ", which gives ";
    }

    private static boolean hasElements(Object value) {
        return value instanceof Collection || value.getClass().isArray();
    }

    private static boolean isText(Object value) {
        return value instanceof CharSequence
                || value instanceof Number
                || value instanceof UUID
                || value instanceof Character
                || value instanceof Boolean;
    }

    IllegalArgumentException refusal(String problem, String mend) {
        return new IllegalArgumentException(finding(problem, mend).toString());
    }

    IllegalArgumentException failure(EvaluationException cause) {
        Finding finding = finding("cannot be evaluated", "see the cause, and mind nulls on the way to a property");
        return new IllegalArgumentException(finding.toString(), cause);
    }
}
