package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockSet;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;
import io.github.lockboot.aop.key.KeyContext;
import io.github.lockboot.aop.key.KeyExpression;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

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

    /**
     * Adds the locks that this call needs.
     *
     * @throws IllegalArgumentException if its arguments give no name
     */
    void collect(Supplier<KeyContext> call, List<Needed> needed) {
        if (condition != null && !condition.isMet(call.get())) {
            return;
        }
        if (perElement) {
            for (String element : key.get(0).evaluateElements(call.get())) {
                needed.add(new Needed(LockNames.join(name, element), this));
            }
        } else {
            needed.add(new Needed(lockName(call), this));
        }
    }

    private String lockName(Supplier<KeyContext> call) {
        if (key.isEmpty()) {
            return name;
        }
        KeyContext context = call.get();
        return LockNames.join(
                name, key.stream().map(each -> each.evaluate(context)).toArray(String[]::new));
    }

    private LockSet.Wanted lock(String lockName, boolean leased) {
        LockTemplate source = template.get();
        LockOptions timed = options.waitTime() != null ? options : options.withWaitTime(source.waitTime());
        LockRegistry locks = source.registry();
        NamedLock lock = locks.get(lockName, timed);
        boolean ofCall = leased || keep != null;
        return new LockSet.Wanted(lock, ofCall ? wait -> LockRuntime.acquireAsync(locks, lock, wait) : null, keep);
    }

    /** A lock that a call needs. */
    record Needed(String name, LockDefinition definition) {

        /** The same for all methods of the fleet. If two are equal, the one that is kept beyond the call comes first. */
        private static final Comparator<Needed> GLOBAL_ORDER = Comparator.comparing(Needed::name)
                .thenComparing(needed -> needed.definition.registry)
                .thenComparing(needed -> needed.definition.keep == null);

        /** In the order in which they must be taken, each once. */
        static List<Needed> inOrder(List<Needed> needed) {
            if (needed.size() < 2) {
                return needed;
            }
            List<Needed> ordered = new ArrayList<>(needed.size());
            needed.stream().sorted(GLOBAL_ORDER).forEach(next -> {
                if (ordered.isEmpty() || !next.isSameAs(ordered.get(ordered.size() - 1))) {
                    ordered.add(next);
                }
            });
            return ordered;
        }

        private boolean isSameAs(Needed other) {
            return name.equals(other.name) && definition.registry.equals(other.definition.registry);
        }

        /** @param leased whether the holds belong to the call; that of a lock which is kept does in any case */
        static List<LockSet.Wanted> locks(List<Needed> needed, boolean leased) {
            return needed.stream()
                    .map(each -> each.definition.lock(each.name, leased))
                    .toList();
        }
    }
}
