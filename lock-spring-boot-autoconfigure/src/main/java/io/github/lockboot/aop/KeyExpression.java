package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.util.CollectionUtils;

/** One expression of a key, parsed. */
record KeyExpression(KeySource source, KeyPart root) {

    /**
     * Text that is neither null nor empty.
     *
     * @throws IllegalArgumentException if the arguments of this call give none
     */
    String evaluate(EvaluationContext context) {
        return checked(source.textOf(evaluateRoot(context), source.expression()));
    }

    /**
     * The texts of the elements of a collection or array, of which there is at least one.
     *
     * @throws IllegalArgumentException if the arguments of this call give none, or one of them is null or empty
     */
    List<String> evaluateElements(EvaluationContext context) {
        Object value = evaluateRoot(context);
        Collection<?> elements;
        if (value instanceof Collection<?> collection) {
            elements = collection;
        } else if (value != null && value.getClass().isArray()) {
            elements = CollectionUtils.arrayToList(value);
        } else {
            throw source.refusal(
                    value == null ? "gives null" : "gives a " + value.getClass().getName(),
                    "pass a collection or an array, or leave out perElement");
        }
        if (elements.isEmpty()) {
            throw source.refusal(
                    "gives no element",
                    "pass one, or add a condition for when no lock is needed, as in !#ids.isEmpty()");
        }
        List<String> texts = new ArrayList<>(elements.size());
        for (Object element : elements) {
            texts.add(checked(source.textOf(element, KeySource.ELEMENT)));
        }
        return texts;
    }

    private String checked(String text) {
        if (text.isEmpty()) {
            throw source.refusal("gives empty text", "pass a value, or use an expression that is never empty");
        }
        return text;
    }

    private @Nullable Object evaluateRoot(EvaluationContext context) {
        try {
            return root.evaluate(context);
        } catch (EvaluationException failure) {
            throw source.failure(failure);
        }
    }
}
