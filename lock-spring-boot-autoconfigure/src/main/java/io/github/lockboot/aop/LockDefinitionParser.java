package io.github.lockboot.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockSet.Keep;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.aop.key.KeyExpression;
import io.github.lockboot.aop.key.KeyExpressionParser;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.function.SingletonSupplier;

/** Parses one annotation. */
record LockDefinitionParser(
        ConfigurableBeanFactory beanFactory,
        Supplier<LockTemplate> template,
        KeyExpressionParser expressions,
        LockedMethod method,
        ResultKind result,
        DistributedLock annotation,
        Findings findings) {

    /** @return what makes sense only if nothing was found */
    LockDefinition parse() {
        String name = name();
        Keep keep = keep();
        String registry = Objects.requireNonNullElse(resolve("registry", annotation.registry()), "");
        return new LockDefinition(
                name,
                key(),
                annotation.perElement(),
                condition(),
                options(!name.isBlank() ? name : method.shortName(), keep != null),
                keep,
                Contention.read(annotation, method, result, findings),
                registry,
                registry.isEmpty() ? template : templateOf(registry));
    }

    private String name() {
        String written = annotation.name();
        if (written.isEmpty() && annotation.key().length == 0) {
            findings.add(
                    "has neither key nor name",
                    "write key = \"#id\" for a lock per argument, or name = \"...\" for one lock");
        }
        String name = resolve("name", written);
        if (name == null) {
            return "";
        }
        if (name.isBlank() && !written.isEmpty()) {
            findings.add("name = \"" + written + "\" is blank", "write a name, or leave the attribute out");
        }
        return name;
    }

    private List<KeyExpression> key() {
        if (annotation.perElement() && annotation.key().length != 1) {
            findings.add(
                    "has perElement = true and " + annotation.key().length + " key expressions",
                    "write one key expression that gives a collection or an array, such as key = \"#ids\"");
        }
        List<KeyExpression> key = new ArrayList<>();
        for (String text : annotation.key()) {
            String resolved = resolve("key", text);
            KeyExpression expression =
                    resolved != null ? expressions.parse(method.variables(), "key", resolved, findings::add) : null;
            if (expression != null) {
                key.add(expression);
            }
        }
        return List.copyOf(key);
    }

    private @Nullable KeyExpression condition() {
        String resolved = annotation.condition().isEmpty() ? null : resolve("condition", annotation.condition());
        return resolved != null ? expressions.parse(method.variables(), "condition", resolved, findings::add) : null;
    }

    private @Nullable Keep keep() {
        Keep keep = duration("keepFor", annotation.keepFor(), time -> {
            if (time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException("keepFor is " + time + "; it must be positive");
            }
            return new Keep(time, annotation.keepOn() == KeepOn.SUCCESS);
        });
        if (annotation.keepFor().isEmpty() && annotation.keepOn() != KeepOn.ALWAYS) {
            findings.add("has keepOn without keepFor", "say for how long, as in keepFor = \"5s\"");
        }
        if (keep != null && annotation.renew() == Renewal.OFF) {
            findings.add(
                    "has keepFor and renew = OFF, so the lock could end before its time",
                    "leave renew out, or use a ttl of that length instead of keepFor");
        }
        return keep;
    }

    private LockOptions options(String group, boolean kept) {
        LockOptions options = LockOptions.defaults().withGroup(group);
        options = orSame(options, duration("waitTime", annotation.waitTime(), options::withWaitTime));
        options = orSame(options, duration("ttl", annotation.ttl(), options::withTtl));
        options = orSame(options, duration("maxHold", annotation.maxHold(), options::withMaxHold));
        if (kept || annotation.renew() == Renewal.ON) {
            return options.withRenewal();
        }
        return annotation.renew() == Renewal.OFF ? options.withoutRenewal() : options;
    }

    private static LockOptions orSame(LockOptions options, @Nullable LockOptions changed) {
        return changed != null ? changed : options;
    }

    private Supplier<LockTemplate> templateOf(String registry) {
        if (!beanFactory.containsBean(registry)) {
            findings.add(
                    "names the registry '" + registry + "', and no bean has that name",
                    "define a LockRegistry bean of that name, or name another");
        } else if (!beanFactory.isTypeMatch(registry, LockRegistry.class)) {
            findings.add("names the registry '" + registry + "', which is no LockRegistry", "name a LockRegistry bean");
        }
        return SingletonSupplier.of(() -> new LockTemplate(
                beanFactory.getBean(registry, LockRegistry.class),
                template.get().waitTime()));
    }

    // --- texts ------------------------------------------------------------------------------------------------

    /** The text with its placeholders resolved, or null if one has no value. */
    private @Nullable String resolve(String attribute, String text) {
        String resolved = null;
        try {
            resolved = Objects.requireNonNullElse(beanFactory.resolveEmbeddedValue(text), "");
        } catch (IllegalArgumentException unresolvable) {
            // reported below, like a placeholder that a lenient resolver leaves as it is
        }
        if (resolved != null && !resolved.contains("${")) {
            return resolved;
        }
        findings.add(
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
    private <T> @Nullable T duration(String attribute, String text, Function<Duration, T> use) {
        String resolved = resolve(attribute, text);
        if (resolved == null || resolved.isBlank()) {
            return null;
        }
        String written = attribute + " = \"" + text + "\"" + (text.equals(resolved) ? "" : " (" + resolved + ")");
        Duration duration;
        try {
            duration = parse(resolved.strip());
        } catch (IllegalArgumentException | ArithmeticException failure) {
            findings.add(written + " is no duration", "write a number with a unit such as 500ms, 10s or PT5S");
            return null;
        }
        try {
            return use.apply(duration);
        } catch (IllegalArgumentException failure) {
            findings.add(
                    written + " is out of range", Objects.requireNonNullElse(failure.getMessage(), "choose another"));
            return null;
        }
    }

    /** {@code 500ms}, {@code 10s}, {@code 1m30s}, {@code PT5S} or {@code 0}. */
    private static Duration parse(String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        if (text.matches("[+-]?\\d+")) {
            throw new IllegalArgumentException("no unit");
        }
        return DurationFormatterUtils.detectAndParse(text);
    }
}
