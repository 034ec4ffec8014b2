package io.github.lockboot.aop;

import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** The variables of one call. Looks an argument up where it lies, so that making one copies nothing. */
final class KeyContext extends StandardEvaluationContext {

    private final LockedMethod method;
    private final @Nullable Object[] args;

    /** @param shared whose bean resolver, accessors and their caches are used */
    KeyContext(
            StandardEvaluationContext shared, LockedMethod method, @Nullable Object target, @Nullable Object[] args) {
        super(new KeyRoot(method.method(), target, args));
        this.method = method;
        this.args = args;
        shared.applyDelegatesTo(this);
    }

    @Override
    public @Nullable Object lookupVariable(String name) {
        Integer index = method.indexOf(name);
        return index != null ? args[index] : super.lookupVariable(name);
    }
}
