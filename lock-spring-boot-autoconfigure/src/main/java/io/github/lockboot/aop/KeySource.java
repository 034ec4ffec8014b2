package io.github.lockboot.aop;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.UUID;

import io.github.lockboot.LockRegistry;
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
        if (value instanceof BigDecimal decimal) {
            return plainTextOf(decimal, subject);
        }
        return value instanceof Double || value instanceof Float
                ? textOfFloating((Number) value, subject)
                : value.toString();
    }

    /** The same for equal decimals of different scales. */
    private String plainTextOf(BigDecimal decimal, String subject) {
        if (decimal.signum() == 0) {
            return "0";
        }
        long digitsBeforeThePoint = (long) decimal.precision() - decimal.scale();
        if (digitsBeforeThePoint <= LockRegistry.MAX_NAME_LENGTH) {
            BigDecimal shortest = decimal.stripTrailingZeros();
            if (shortest.scale() <= LockRegistry.MAX_NAME_LENGTH) {
                return shortest.toPlainString();
            }
        }
        throw refusal(
                subject + "a number of more than " + LockRegistry.MAX_NAME_LENGTH + " digits", "pass one with fewer");
    }

    private String textOfFloating(Number number, String subject) {
        if (!Double.isFinite(number.doubleValue())) {
            throw refusal(subject + number, "pass a number");
        }
        return number.doubleValue() == 0 ? "0.0" : number.toString();
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

    /** Types of the application are none, even if they are numbers or text: their text may be that of an object's identity. */
    private static boolean isText(Object value) {
        String place = value.getClass().getPackageName();
        return value instanceof CharSequence && place.startsWith("java.")
                || value instanceof Number && (place.equals("java.lang") || place.equals("java.math"))
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
