package io.github.lockboot.aop;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/** Reads the texts of one annotation; what is wrong with them becomes findings. */
final class AttributeReader {

    private final ConfigurableBeanFactory beanFactory;
    private final LockedMethod method;
    private final Consumer<Finding> findings;

    AttributeReader(ConfigurableBeanFactory beanFactory, LockedMethod method, Consumer<Finding> findings) {
        this.beanFactory = beanFactory;
        this.method = method;
        this.findings = findings;
    }

    LockedMethod method() {
        return method;
    }

    Consumer<Finding> findings() {
        return findings;
    }

    void find(String problem, String mend) {
        findings.accept(method.finding(problem, mend));
    }

    /** The text with its placeholders resolved, or null if one has no value. */
    @Nullable
    String resolve(String attribute, String text) {
        String resolved = null;
        try {
            resolved = Objects.requireNonNullElse(beanFactory.resolveEmbeddedValue(text), "");
        } catch (IllegalArgumentException unresolvable) {
            // reported below, like a placeholder that a lenient resolver leaves as it is
        }
        if (resolved != null && !resolved.contains("${")) {
            return resolved;
        }
        find(
                attribute + " = \"" + text + "\" has a placeholder without a value",
                "set the property, or give a default as in ${property:default}");
        return null;
    }

    /**
     * What a duration is good for.
     *
     * @param use throws IllegalArgumentException for a duration out of range
     * @return null if the text is blank or something was found
     */
    <T> @Nullable T duration(String attribute, String text, Function<Duration, T> use) {
        String resolved = resolve(attribute, text);
        if (resolved == null || resolved.isBlank()) {
            return null;
        }
        String written = attribute + " = \"" + text + "\"" + (text.equals(resolved) ? "" : " (" + resolved + ")");
        Duration duration;
        try {
            duration = DurationText.parse(resolved.strip());
        } catch (IllegalArgumentException | ArithmeticException failure) {
            find(written + " is no duration", "write a number with a unit such as 500ms, 10s or PT5S");
            return null;
        }
        try {
            return use.apply(duration);
        } catch (IllegalArgumentException failure) {
            find(written + " is out of range", Objects.requireNonNullElse(failure.getMessage(), "choose another"));
            return null;
        }
    }
}
