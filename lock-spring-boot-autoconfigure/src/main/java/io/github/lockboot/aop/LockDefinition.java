package io.github.lockboot.aop;

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
    void collect(Supplier<KeyContext> call, List<NamedDefinition> wanted) {
        if (condition != null && !condition.isMet(call.get())) {
            return;
        }
        if (perElement) {
            for (String element : key.get(0).evaluateElements(call.get())) {
                wanted.add(new NamedDefinition(LockRegistry.nameOf(name, element), this));
            }
        } else {
            wanted.add(new NamedDefinition(lockName(call), this));
        }
    }

    private String lockName(Supplier<KeyContext> call) {
        if (key.isEmpty()) {
            return name;
        }
        KeyContext context = call.get();
        return LockRegistry.nameOf(
                name, key.stream().map(each -> each.evaluate(context)).toArray(String[]::new));
    }

    /** @param leased whether the hold belongs to the call, as that of a lock which is kept does in any case */
    LockSet.Wanted lock(String lockName, boolean leased) {
        LockTemplate source = template.get();
        LockOptions timed = options.waitTime() != null ? options : options.withWaitTime(source.waitTime());
        LockRegistry locks = source.registry();
        NamedLock lock = locks.get(lockName, timed);
        boolean ofCall = leased || keep != null;
        return new LockSet.Wanted(lock, ofCall ? wait -> LockRuntime.acquireAsync(locks, lock, wait) : null, keep);
    }
}
