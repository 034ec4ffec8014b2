package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockSet.Keep;
import io.github.lockboot.LockTemplate;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.function.SingletonSupplier;

/** Parses one annotation, and adds to the findings of the method what is wrong with it before there are arguments. */
record LockDefinitionParser(
        ConfigurableBeanFactory beanFactory,
        Supplier<LockTemplate> template,
        KeyVariables variables,
        LockedMethod method,
        DistributedLock annotation) {

    /** @return what makes sense only if nothing was found */
    LockDefinition parse() {
        String name = name();
        Keep keep = keep();
        String registry = Objects.requireNonNullElse(resolve("registry", annotation.registry()), "");
        return new LockDefinition(
                name,
                key(),
                annotation.perElement(),
                annotation.condition().isEmpty() ? null : expression("condition", annotation.condition()),
                options(name, keep != null),
                keep,
                Contention.read(annotation, method),
                registry,
                registry.isEmpty() ? template : templateOf(registry));
    }

    private String name() {
        String written = annotation.name();
        if (written.isEmpty() && annotation.key().length == 0) {
            method.add(
                    "has neither key nor name",
                    "write key = \"#id\" for a lock per argument, or name = \"...\" for one lock");
        }
        String name = resolve("name", written);
        if (name != null && name.isBlank() && !written.isEmpty()) {
            method.add("name = \"" + written + "\" is blank", "write a name, or leave the attribute out");
        }
        return name != null ? name : "";
    }

    private List<KeyExpression> key() {
        if (annotation.perElement() && annotation.key().length != 1) {
            method.add(
                    "has perElement = true and " + annotation.key().length + " key expressions",
                    "write one key expression that gives a collection or an array, such as key = \"#ids\"");
        }
        return Stream.of(annotation.key())
                .map(text -> expression("key", text))
                .filter(Objects::nonNull)
                .toList();
    }

    private @Nullable KeyExpression expression(String attribute, String text) {
        String resolved = resolve(attribute, text);
        return resolved != null ? KeyExpression.parse(variables, attribute, resolved, method::add) : null;
    }

    private @Nullable Keep keep() {
        Optional<Keep> keep = duration("keepFor", annotation.keepFor(), time -> {
            if (time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException("keepFor is " + time + "; it must be positive");
            }
            return new Keep(time, annotation.keepOn() == KeepOn.SUCCESS);
        });
        if (annotation.keepFor().isEmpty() && annotation.keepOn() != KeepOn.ALWAYS) {
            method.add("has keepOn without keepFor", "say for how long, as in keepFor = \"5s\"");
        }
        if (keep.isPresent() && annotation.renew() == Renewal.OFF) {
            method.add(
                    "has keepFor and renew = OFF, so the lock could end before its time",
                    "leave renew out, or use a ttl of that length instead of keepFor");
        }
        return keep.orElse(null);
    }

    private LockOptions options(String name, boolean kept) {
        Method declared = method.method();
        String group = name.isBlank() ? declared.getDeclaringClass().getSimpleName() + "." + declared.getName() : name;
        LockOptions options = LockOptions.defaults().withGroup(group);
        options = duration("waitTime", annotation.waitTime(), options::withWaitTime)
                .orElse(options);
        options = duration("ttl", annotation.ttl(), options::withTtl).orElse(options);
        options =
                duration("maxHold", annotation.maxHold(), options::withMaxHold).orElse(options);
        if (kept || annotation.renew() == Renewal.ON) {
            return options.withRenewal();
        }
        return annotation.renew() == Renewal.OFF ? options.withoutRenewal() : options;
    }

    private Supplier<LockTemplate> templateOf(String registry) {
        if (!beanFactory.containsBean(registry)) {
            method.add(
                    "names the registry '" + registry + "', and no bean has that name",
                    "define a LockRegistry bean of that name, or name another");
        } else if (!beanFactory.isTypeMatch(registry, LockRegistry.class)) {
            method.add("names the registry '" + registry + "', which is no LockRegistry", "name a LockRegistry bean");
        }
        return SingletonSupplier.of(() -> new LockTemplate(
                beanFactory.getBean(registry, LockRegistry.class),
                template.get().waitTime()));
    }

    // --- texts ------------------------------------------------------------------------------------------------

    /** The text with its placeholders resolved, or null if one has no value. */
    private @Nullable String resolve(String attribute, String text) {
        String resolved = "${";
        try {
            resolved = Objects.requireNonNullElse(beanFactory.resolveEmbeddedValue(text), "");
        } catch (IllegalArgumentException unresolvable) {
            // a lenient resolver leaves the placeholder as it is
        }
        if (!resolved.contains("${")) {
            return resolved;
        }
        method.add(
                attribute + " = \"" + text + "\" has a placeholder without a value",
                "set the property, or give a default as in ${property:default}");
        return null;
    }

    /**
     * What a duration is good for; nothing if the text is blank or something was found.
     *
     * @param use throws IllegalArgumentException for a duration out of range
     */
    private <T> Optional<T> duration(String attribute, String text, Function<Duration, T> use) {
        String resolved = resolve(attribute, text);
        if (resolved == null || resolved.isBlank()) {
            return Optional.empty();
        }
        String written = attribute + " = \"" + text + "\"" + (text.equals(resolved) ? "" : " (" + resolved + ")");
        Duration duration;
        try {
            duration = parse(resolved.strip());
        } catch (IllegalArgumentException | ArithmeticException failure) {
            method.add(written + " is no duration", "write a number with a unit such as 500ms, 10s or PT5S");
            return Optional.empty();
        }
        try {
            return Optional.of(use.apply(duration));
        } catch (IllegalArgumentException failure) {
            method.add(
                    written + " is out of range", Objects.requireNonNullElse(failure.getMessage(), "choose another"));
            return Optional.empty();
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
