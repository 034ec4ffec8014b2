package io.github.lockboot.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.DistributedLock.KeepOn;
import io.github.lockboot.DistributedLock.Renewal;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/** Annotation to {@link LockSpec}, with all that can be found wrong before there are arguments. */
final class LockSpecParser {

    private final ConfigurableBeanFactory beanFactory;
    private final Supplier<LockTemplate> template;
    private final KeyExpressionParser expressions;

    LockSpecParser(ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template) {
        this.beanFactory = beanFactory;
        this.template = template;
        this.expressions = new KeyExpressionParser(new KeyReferenceCheck(beanFactory));
    }

    /** @return what makes sense only if nothing was found */
    LockSpec parse(LockedMethod method, DistributedLock annotation, ResultKind result, Consumer<Finding> findings) {
        AttributeReader reader = new AttributeReader(beanFactory, method, findings);
        String name = name(annotation, reader);
        List<KeyExpression> key = key(annotation, reader);
        Condition condition = condition(annotation, reader);
        Keep keep = keep(annotation, reader);
        LockOptions options = options(annotation, group(name, method), keep != null, reader);
        Contention contention = new ContentionReader(reader, result).read(annotation);
        String registry = Objects.requireNonNullElse(reader.resolve("registry", annotation.registry()), "");
        return new LockSpec(
                name,
                key,
                annotation.perElement(),
                condition,
                options,
                keep,
                contention,
                registry,
                template(registry, reader));
    }

    private static String name(DistributedLock annotation, AttributeReader reader) {
        String written = annotation.name();
        if (written.isEmpty() && annotation.key().length == 0) {
            reader.find(
                    "has neither key nor name",
                    "write key = \"#id\" for a lock per argument, or name = \"...\" for one lock");
        }
        String name = reader.resolve("name", written);
        if (name == null) {
            return "";
        }
        if (name.isBlank() && !written.isEmpty()) {
            reader.find("name = \"" + written + "\" is blank", "write a name, or leave the attribute out");
        }
        return name;
    }

    private List<KeyExpression> key(DistributedLock annotation, AttributeReader reader) {
        if (annotation.perElement() && annotation.key().length != 1) {
            reader.find(
                    "has perElement = true and " + annotation.key().length + " key expressions",
                    "write one key expression that gives a collection or an array, such as key = \"#ids\"");
        }
        List<KeyExpression> key = new ArrayList<>();
        for (String text : annotation.key()) {
            String resolved = reader.resolve("key", text);
            KeyExpression expression = resolved != null
                    ? expressions.parseKey(new KeySource(reader.method(), "key", resolved), reader.findings())
                    : null;
            if (expression != null) {
                key.add(expression);
            }
        }
        return List.copyOf(key);
    }

    private @Nullable Condition condition(DistributedLock annotation, AttributeReader reader) {
        if (annotation.condition().isEmpty()) {
            return null;
        }
        String resolved = reader.resolve("condition", annotation.condition());
        return resolved != null
                ? expressions.parseCondition(new KeySource(reader.method(), "condition", resolved), reader.findings())
                : null;
    }

    private static @Nullable Keep keep(DistributedLock annotation, AttributeReader reader) {
        Keep keep = reader.duration("keepFor", annotation.keepFor(), time -> {
            if (time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException("keepFor is " + time + "; it must be positive");
            }
            return new Keep(time, annotation.keepOn() == KeepOn.SUCCESS);
        });
        if (annotation.keepFor().isEmpty() && annotation.keepOn() != KeepOn.ALWAYS) {
            reader.find("has keepOn without keepFor", "say for how long, as in keepFor = \"5s\"");
        }
        if (keep != null && annotation.renew() == Renewal.OFF) {
            reader.find(
                    "has keepFor and renew = OFF, so the lock could end before its time",
                    "leave renew out, or use a ttl of that length instead of keepFor");
        }
        return keep;
    }

    private static String group(String name, LockedMethod method) {
        return !name.isBlank() ? name : method.shortName();
    }

    private static LockOptions options(DistributedLock annotation, String group, boolean kept, AttributeReader reader) {
        LockOptions options = LockOptions.defaults().withGroup(group);
        options = orSame(options, reader.duration("waitTime", annotation.waitTime(), options::withWaitTime));
        options = orSame(options, reader.duration("ttl", annotation.ttl(), options::withTtl));
        options = orSame(options, reader.duration("maxHold", annotation.maxHold(), options::withMaxHold));
        if (kept || annotation.renew() == Renewal.ON) {
            return options.withRenewal();
        }
        return annotation.renew() == Renewal.OFF ? options.withoutRenewal() : options;
    }

    private static LockOptions orSame(LockOptions options, @Nullable LockOptions changed) {
        return changed != null ? changed : options;
    }

    private Supplier<LockTemplate> template(String registry, AttributeReader reader) {
        if (registry.isEmpty()) {
            return template;
        }
        if (!beanFactory.containsBean(registry)) {
            reader.find(
                    "names the registry '" + registry + "', and no bean has that name",
                    "define a LockRegistry bean of that name, or name another");
        } else if (!beanFactory.isTypeMatch(registry, LockRegistry.class)) {
            reader.find("names the registry '" + registry + "', which is no LockRegistry", "name a LockRegistry bean");
        }
        return SingletonSupplier.of(() -> {
            Duration waitTime = template.get().waitTime();
            return new LockTemplate(beanFactory.getBean(registry, LockRegistry.class), waitTime);
        });
    }
}
