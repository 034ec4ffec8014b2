package io.github.lockboot.aop;

import java.util.List;
import java.util.function.Supplier;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/**
 * What one annotation of a method asks for.
 *
 * <p>The lock's name is what {@link LockRegistry#nameOf} makes of name and key.
 *
 * @param name the literal namespace; empty for none, and then {@code key} is not
 * @param perElement whether each element of the only key expression's value is a key
 * @param condition null for always
 * @param keep null for no longer than the call
 * @param registry the name of the registry bean; empty for that of the template bean
 * @param template runs actions under locks of that registry; asked for at the first call
 */
record LockSpec(
        String name,
        List<KeyExpression> key,
        boolean perElement,
        @Nullable Condition condition,
        LockOptions options,
        @Nullable Keep keep,
        Contention contention,
        String registry,
        Supplier<LockTemplate> template) {

    /** Whether it is always one lock of the calling thread, and an exception when there is none. */
    boolean isPlain() {
        return !perElement && condition == null && keep == null && contention == Contention.THROW;
    }

    /**
     * Adds the locks that this call needs.
     *
     * @throws IllegalArgumentException if its arguments give no name
     */
    void collect(Supplier<? extends EvaluationContext> call, List<WantedLock> wanted) {
        if (condition != null && !condition.isMet(call.get())) {
            return;
        }
        if (perElement) {
            for (String element : key.get(0).evaluateElements(call.get())) {
                wanted.add(new WantedLock(LockRegistry.nameOf(name, element), this));
            }
        } else {
            wanted.add(new WantedLock(lockName(call), this));
        }
    }

    /** @throws IllegalArgumentException if the arguments of this call give no name */
    String lockName(Supplier<? extends EvaluationContext> call) {
        if (key.isEmpty()) {
            return name;
        }
        EvaluationContext context = call.get();
        String[] texts = new String[key.size()];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = key.get(i).evaluate(context);
        }
        return LockRegistry.nameOf(name, texts);
    }
}
