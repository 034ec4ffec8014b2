package io.github.lockboot.aop;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockContext.Keep;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import io.github.lockboot.aop.LockedMethod.End;
import io.github.lockboot.aop.key.KeyExpression;
import io.github.lockboot.aop.key.KeyVariables;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Mocks;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.ExpressionException;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.function.SingletonSupplier;

/** The lock that one annotation of a method defines, parsed once. */
final class LockDefinition {

    /**
     * How an attribute is written that is text in the annotation.
     *
     * @param parser throws ArithmeticException or IllegalArgumentException for other text
     * @param problem that it is other text
     */
    private record Format<V>(Function<String, V> parser, String problem, String action) {}

    private static final Format<Duration> DURATION = new Format<>(
            LockDefinition::parse, " is not a duration", "write a number with a unit such as 500ms, 10s or PT5S");

    private static final Format<Integer> NUMBER = new Format<>(
            Integer::valueOf, " is not a whole number", "write a number such as 5, or a placeholder such as ${calls}");

    private final DistributedLock annotation;
    private final LockedMethod method;
    private final KeyVariables variables;
    private final ConfigurableBeanFactory beanFactory;

    private final String name;
    private final List<KeyExpression> key;
    private final boolean perElement;
    private final @Nullable KeyExpression condition;
    private final @Nullable Keep keep;
    private final LockOptions options;
    private final Contention contention;
    private final String message;
    private final String registryName;
    private final Supplier<LockRegistry> registry;
    private final Supplier<String> registryKey;
    private final Supplier<Function<String, NamedLock>> handles;

    /** Whether the holds belong to the call, not to a thread. */
    private final boolean leased;

    /**
     * Adds to the findings of the method what is wrong with the annotation, whatever the arguments of a call are. Use
     * the definition only if there are no findings.
     *
     * @param template has the registry if the annotation names none, and may have a wait time for it; supplied at the
     *     first call
     */
    LockDefinition(
            DistributedLock annotation,
            LockedMethod method,
            KeyVariables variables,
            ConfigurableBeanFactory beanFactory,
            Supplier<LockTemplate> template) {
        this.annotation = annotation;
        this.method = method;
        this.variables = variables;
        this.beanFactory = beanFactory;
        this.name = parseName();
        this.keep = parseKeep();
        this.registryName = resolve("registry", annotation.registry()).orElse("");
        this.key = parseKey();
        this.perElement = annotation.perElement();
        this.condition = annotation.condition().isEmpty()
                ? null
                : expression("condition", annotation.condition()).orElse(null);
        this.options = parseOptions(!name.isBlank() ? name : method.shortName());
        this.contention = Contention.read(annotation, method);
        this.message = resolve("message", annotation.message()).orElse("");
        this.registry = parseRegistry(template);
        this.leased = keep != null || method.end() != End.VALUE;
        this.registryKey = SingletonSupplier.of(() -> registryKey(template.get()));
        this.handles = SingletonSupplier.of(() -> LockRuntime.handles(registry.get(), optionsWith(template.get())));
    }

    LockOptions options() {
        return options;
    }

    String name() {
        return name;
    }

    /** Whether it is the lock of a job, which one instance is to run. */
    boolean isOfJob() {
        return method.isJob(annotation);
    }

    boolean isOfDefaultRegistry() {
        return registryName.isEmpty();
    }

    String registryName() {
        return registryName;
    }

    List<String> writtenKey() {
        return List.of(annotation.key());
    }

    /** Whether equal arguments of another method may give the same lock. */
    boolean isNamedByArgumentsOnly() {
        return name.isEmpty() && key.stream().allMatch(KeyExpression::isOfArgumentsOnly);
    }

    /** Null if the lock is kept no longer than the call. */
    @Nullable
    Keep keep() {
        return keep;
    }

    /** Returns or throws what the annotation demands for a call that has not acquired this lock. */
    @Nullable
    Object resolve(MethodInvocation invocation, LockNotAcquiredException refusal) throws Throwable {
        return contention.resolve(invocation, message.isEmpty() ? refusal : refusal.withUserMessage(message));
    }

    /** @throws IllegalArgumentException if the arguments of the call give no name */
    List<Needed> neededIn(EvaluationContext call) {
        if (condition != null && !condition.isMet(call)) {
            return List.of();
        }
        if (perElement) {
            return key.get(0).evaluateElements(call).stream()
                    .map(element -> new Needed(LockNames.join(name, element), this))
                    .toList();
        }
        String[] parts = key.stream().map(part -> part.evaluate(call)).toArray(String[]::new);
        return List.of(new Needed(LockNames.join(name, parts), this));
    }

    /** A lock that a call needs. */
    record Needed(String name, LockDefinition definition) {

        /** The same for all methods of all instances. */
        static final Comparator<Needed> GLOBAL_ORDER =
                Comparator.comparing(Needed::name).thenComparing(Needed::definition, LockDefinition::compareRegistries);

        /** @throws IllegalArgumentException if the other needs the same lock with another mode or permits */
        void requireSameKind(Needed other) {
            String kind = kind();
            String otherKind = other.kind();
            if (!kind.equals(otherKind)) {
                throw new IllegalArgumentException(definition.method + " needs lock '" + LockNames.printable(name)
                        + "' with " + kind + " and with " + otherKind
                        + ", which one call cannot hold: use another key or a condition for one of the annotations");
            }
        }

        private String kind() {
            LockOptions options = definition.handles.get().apply(name).options();
            return options.permits() != null
                    ? "permits = " + options.permits()
                    : "mode = " + Objects.requireNonNullElse(options.mode(), Mode.EXCLUSIVE);
        }

        LockContext wanted() {
            NamedLock lock = definition.handles.get().apply(name);
            return HeldLocks.wanted(
                    lock,
                    definition.leased ? wait -> LockRuntime.acquireAsync(definition.registry.get(), lock, wait) : null,
                    definition.keep);
        }
    }

    private LockOptions optionsWith(LockTemplate template) {
        Duration wait = isOfDefaultRegistry() ? template.waitTime() : null;
        return options.waitTime() != null || wait == null ? options : options.withWaitTime(wait);
    }

    /** A set compares its first element with itself, which must cost a call nothing. */
    private static int compareRegistries(LockDefinition one, LockDefinition other) {
        return one == other ? 0 : one.registryKey.get().compareTo(other.registryKey.get());
    }

    /**
     * The same for all names of one registry: an annotation may name that of the template, too, and beans have aliases.
     */
    private String registryKey(LockTemplate template) {
        return registry.get() == template.registry()
                ? ""
                : Stream.of(beanFactory.getAliases(registryName))
                        .reduce(registryName, BinaryOperator.minBy(Comparator.naturalOrder()));
    }

    // --- parsing ----------------------------------------------------------------------------------------------

    private String parseName() {
        String written = annotation.name();
        if (written.isEmpty() && annotation.key().length == 0) {
            method.add(
                    "has neither key nor name",
                    "write key = \"#id\" for a lock per argument, or name = \"...\" for one lock");
        }
        Optional<String> resolved = resolve("name", written)
                .filter(this::hasNoVariable)
                .flatMap(text -> evaluate(written, text))
                .filter(this::hasNoVariable);
        if (!written.isEmpty() && resolved.filter(String::isBlank).isPresent()) {
            method.add("name = \"" + written + "\" is blank", "write a name, or leave the attribute out");
        }
        return resolved.orElse("");
    }

    /** @param name with placeholders resolved and, if it has no template, evaluated */
    private boolean hasNoVariable(String name) {
        String found = variables.findIn(name);
        if (found != null) {
            String written = annotation.name();
            method.add(
                    "name = \"" + written + "\"" + (written.equals(name) ? "" : " (" + name + ")") + " has " + found
                            + " in it, which is not evaluated there, so that all calls would share one lock",
                    isOfJob()
                            ? "write @DistributedLock with key = \"" + found + "\": a @ScheduledLock is one lock"
                            : "leave only text in the name, and write key = \"" + found + "\"");
        }
        return found == null;
    }

    private List<KeyExpression> parseKey() {
        if (annotation.perElement() && annotation.key().length != 1) {
            method.add(
                    "has perElement = true and " + annotation.key().length + " key expressions",
                    "write one key expression that gives a collection or an array, such as key = \"#ids\"");
            return List.of();
        }
        return Stream.of(annotation.key())
                .flatMap(text -> expression("key", text).stream())
                .toList();
    }

    private Optional<KeyExpression> expression(String attribute, String text) {
        return resolve(attribute, text)
                .map(resolved ->
                        KeyExpression.parse(variables, attribute, resolved, annotation.perElement(), method::add));
    }

    private @Nullable Keep parseKeep() {
        String attribute = isOfJob() ? "atLeastFor" : "keepFor";
        Optional<Keep> parsed = value(attribute, annotation.keepFor(), DURATION, time -> {
            if (time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException(attribute + " is " + time + "; it must be positive");
            }
            return new Keep(time, annotation.keepOn() == KeepOn.SUCCESS);
        });
        if (annotation.keepFor().isEmpty() && annotation.keepOn() != KeepOn.ALWAYS) {
            method.add("has keepOn without keepFor", "add keepFor, such as keepFor = \"5s\"");
        }
        return parsed.orElse(null);
    }

    private LockOptions parseOptions(String group) {
        LockOptions asked = LockOptions.defaults().withGroup(group).withRelease(annotation.release());
        asked = value("waitTime", annotation.waitTime(), DURATION, asked::withWaitTime)
                .orElse(asked);
        asked = value("maxWaiting", annotation.maxWaiting(), NUMBER, asked::withMaxWaiting)
                .orElse(asked);
        asked = value("ttl", annotation.ttl(), DURATION, asked::withTtl).orElse(asked);
        asked = value("maxHold", annotation.maxHold(), DURATION, asked::withMaxHold)
                .orElse(asked);
        asked = value("permits", annotation.permits(), NUMBER, asked::withPermits)
                .orElse(asked);
        if (annotation.mode() == Mode.SHARED && asked.permits() != null) {
            method.add("has permits and mode = SHARED, which allows any number of holders", "remove one of them");
        } else if (annotation.mode() == Mode.SHARED) {
            asked = asked.shared();
        }
        if (annotation.renew() == Renewal.ON) {
            asked = asked.withRenewal();
        } else if (annotation.renew() == Renewal.OFF) {
            asked = asked.withoutRenewal();
        }
        return value("linger", annotation.linger(), DURATION, asked::withLinger).orElse(asked);
    }

    private Supplier<LockRegistry> parseRegistry(Supplier<LockTemplate> template) {
        if (registryName.isEmpty()) {
            return SingletonSupplier.of(
                    () -> Mocks.nonNull(template.get().registry(), "LockTemplate returned no LockRegistry"));
        }
        if (!beanFactory.containsBean(registryName)) {
            method.add(
                    "names the registry '" + registryName + "', but no bean has that name",
                    "define a LockRegistry bean of that name, or name another");
        } else if (!beanFactory.isTypeMatch(registryName, LockRegistry.class)) {
            method.add(
                    "names the registry '" + registryName + "', which is not a LockRegistry",
                    "name a LockRegistry bean");
        }
        return SingletonSupplier.of(() -> beanFactory.getBean(registryName, LockRegistry.class));
    }

    /** Evaluates {@code #{...}}, as in {@code @Value}; empty if that fails. */
    private Optional<String> evaluate(String written, String text) {
        try {
            return Optional.of(
                    Objects.requireNonNullElse(new EmbeddedValueResolver(beanFactory).resolveStringValue(text), ""));
        } catch (BeansException | ExpressionException failure) {
            method.add(
                    "name = \"" + written + "\" cannot be evaluated ("
                            + NestedExceptionUtils.getMostSpecificCause(failure).getMessage() + ")",
                    "write an expression as in @Value, without the method's parameters, or use key");
            return Optional.empty();
        }
    }

    /** The text with its placeholders resolved; empty if one has no value. */
    private Optional<String> resolve(String attribute, String text) {
        String resolved = "${";
        try {
            resolved = Objects.requireNonNullElse(beanFactory.resolveEmbeddedValue(text), "");
        } catch (IllegalArgumentException unresolvable) {
            // a lenient resolver leaves the placeholder as it is
        }
        if (!resolved.contains("${")) {
            return Optional.of(resolved);
        }
        method.add(
                attribute + " = \"" + text + "\" has a placeholder without a value",
                "set the property, or give a default as in ${property:default}");
        return Optional.empty();
    }

    /** @param use throws IllegalArgumentException for a value out of range */
    private <V, T> Optional<T> value(String attribute, String text, Format<V> format, Function<V, T> use) {
        String resolved = resolve(attribute, text).orElse("");
        if (resolved.isBlank()) {
            return Optional.empty();
        }
        String written = attribute + " = \"" + text + "\"" + (text.equals(resolved) ? "" : " (" + resolved + ")");
        V value;
        try {
            value = format.parser().apply(resolved.strip());
        } catch (IllegalArgumentException | ArithmeticException failure) {
            method.add(written + format.problem(), format.action());
            return Optional.empty();
        }
        try {
            return Optional.of(use.apply(value));
        } catch (IllegalArgumentException failure) {
            method.add(
                    written + " is out of range",
                    Objects.requireNonNullElse(failure.getMessage(), "use another value"));
            return Optional.empty();
        }
    }

    /** {@code 500ms}, {@code 10s}, {@code 1m30s}, {@code PT5S} or {@code 0}. */
    private static Duration parse(String text) {
        if (text.equals("0")) {
            return Duration.ZERO;
        }
        if (text.matches("[+-]?\\d+")) {
            throw new IllegalArgumentException(text);
        }
        return DurationFormatterUtils.detectAndParse(text);
    }
}
