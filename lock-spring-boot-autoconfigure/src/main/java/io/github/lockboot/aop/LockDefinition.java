package io.github.lockboot.aop;

import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockSet;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/**
 * What one annotation of a method asks for, parsed once.
 *
 * <p>The lock's name is what {@link LockRegistry#nameOf} makes of name and key.
 *
 * @param name the literal namespace; empty for none, and then {@code key} is not
 * @param perElement whether each element of the only key expression's value is a key
 * @param condition null for always
 * @param keep null for no longer than the call
 * @param registry the name of the registry bean; empty for that of the template bean
 * @param template whose registry has the locks and whose wait time counts if the options have none; asked for at the first call
 */
record LockDefinition(
        String name,
        List<KeyExpression> key,
        boolean perElement,
        @Nullable KeyExpression condition,
        LockOptions options,
        LockSet.@Nullable Keep keep,
        Contention contention,
        String registry,
        Supplier<LockTemplate> template) {

    /** @throws IllegalArgumentException if the arguments of the call give no name */
    List<Needed> neededIn(EvaluationContext call) {
        if (condition != null && !condition.isMet(call)) {
            return List.of();
        }
        if (perElement) {
            return key.get(0).evaluateElements(call).stream()
                    .map(element -> new Needed(LockRegistry.nameOf(name, element), this))
                    .toList();
        }
        String[] parts = key.stream().map(part -> part.evaluate(call)).toArray(String[]::new);
        return List.of(new Needed(LockRegistry.nameOf(name, parts), this));
    }

    /** A lock that a call needs. */
    record Needed(String name, LockDefinition definition) {

        /** The same for all methods of the fleet. */
        static final Comparator<Needed> GLOBAL_ORDER =
                Comparator.comparing(Needed::name).thenComparing(needed -> needed.definition.registry);

        /** @param leased whether the hold belongs to the call; that of a lock which is kept does in any case */
        LockSet.Wanted wanted(boolean leased) {
            LockOptions options = definition.options;
            LockTemplate template = definition.template.get();
            LockRegistry locks = template.registry();
            NamedLock lock =
                    locks.get(name, options.waitTime() != null ? options : options.withWaitTime(template.waitTime()));
            boolean ofCall = leased || definition.keep != null;
            return new LockSet.Wanted(
                    lock, ofCall ? wait -> LockRuntime.acquireAsync(locks, lock, wait) : null, definition.keep);
        }
    }
}
