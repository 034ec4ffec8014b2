package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.aop.LockDefinition.Needed;
import io.github.lockboot.aop.key.KeyContext;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** A method together with the locks it asks for and the way they are taken, parsed once. */
final class LockedCall {

    private static final Log log = LogFactory.getLog(LockedCall.class);

    private final LockedMethod method;
    private final List<LockDefinition> definitions;
    private final @Nullable Integer tokenParameter;
    private final CallStrategy strategy;
    private final boolean mayHideWork;
    private final StandardEvaluationContext shared;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * @param tokenParameter the position of the parameter that receives the fencing token; null if there is none
     * @param mayHideWork whether the method is locked until it returns, and its result may be work that runs later
     * @param shared whose bean resolver, accessors and their caches expressions use
     */
    LockedCall(
            LockedMethod method,
            List<LockDefinition> definitions,
            @Nullable Integer tokenParameter,
            CallStrategy strategy,
            boolean mayHideWork,
            StandardEvaluationContext shared) {
        this.method = method;
        this.definitions = definitions;
        this.tokenParameter = tokenParameter;
        this.strategy = strategy;
        this.mayHideWork = mayHideWork;
        this.shared = shared;
    }

    List<LockDefinition> definitions() {
        return definitions;
    }

    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable {
        return strategy.invoke(this, invocation);
    }

    /** @throws IllegalArgumentException if the arguments of this call give no name */
    List<Needed> needed(MethodInvocation invocation) {
        return needed(invocation.getThis(), invocation.getArguments());
    }

    /** The locks that a call needs, in the order in which they must be taken. */
    List<Needed> needed(@Nullable Object target, @Nullable Object[] args) {
        Supplier<KeyContext> context = () -> new KeyContext(shared, method.variables(), target, args);
        List<Needed> needed = new ArrayList<>(definitions.size());
        for (LockDefinition definition : definitions) {
            definition.collect(context, needed);
        }
        return Needed.inOrder(needed);
    }

    /** Runs the method's body under its locks, or finds the answer to a refusal. */
    @SuppressWarnings("NullAway") // what runs may return null, as its type argument says
    @Nullable
    Object run(MethodInvocation invocation, List<Needed> needed, HeldLocks held) throws Throwable {
        LockNotAcquiredException refusal = held.refusal();
        if (refusal != null) {
            return needed.get(held.refusedAt()).definition().contention().resolve(invocation, refusal);
        }
        if (tokenParameter != null) {
            LockContext innermost = held.innermost();
            @Nullable Object[] args = invocation.getArguments().clone();
            args[tokenParameter] = innermost != null ? innermost.fencingToken() : null;
            ((ProxyMethodInvocation) invocation).setArguments(args);
        }
        Object result = held.<@Nullable Object, Throwable>call(invocation::proceed);
        if (mayHideWork && result != null) {
            LaterResult.refuse(method, result);
        }
        return result;
    }

    /** Says once that a transaction was active before the lock was taken. */
    void warnOfTransaction() {
        if (warned.compareAndSet(false, true)) {
            log.warn(method
                    + " takes its lock inside a transaction that is already active: what others committed while it"
                    + " waited may be invisible to it, and the lock is held until that transaction ends."
                    + " Begin the transaction under the lock instead");
        }
    }
}
