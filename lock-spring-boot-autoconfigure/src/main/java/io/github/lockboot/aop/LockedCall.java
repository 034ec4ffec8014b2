package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.lockboot.LockTemplate.Action;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/** A method together with the locks it asks for and the way they are taken. */
final class LockedCall {

    private static final Log log = LogFactory.getLog(LockedCall.class);

    private final LockedMethod method;
    private final List<LockSpec> specs;
    private final @Nullable TokenParameter token;
    private final CallStrategy strategy;
    private final boolean mayHideWork;
    private final StandardEvaluationContext shared;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * @param mayHideWork whether the method is locked until it returns, and what it returns may be work of later
     * @param shared whose bean resolver, accessors and their caches expressions use
     */
    LockedCall(
            LockedMethod method,
            List<LockSpec> specs,
            @Nullable TokenParameter token,
            CallStrategy strategy,
            boolean mayHideWork,
            StandardEvaluationContext shared) {
        this.method = method;
        this.specs = specs;
        this.token = token;
        this.strategy = strategy;
        this.mayHideWork = mayHideWork;
        this.shared = shared;
    }

    List<LockSpec> specs() {
        return specs;
    }

    @Nullable
    Object invoke(MethodInvocation invocation) throws Throwable {
        return strategy.invoke(this, invocation);
    }

    /**
     * The locks that this call needs, in the order in which they must be taken.
     *
     * @throws IllegalArgumentException if its arguments give no name
     */
    List<WantedLock> wanted(MethodInvocation invocation) {
        return wanted(invocation.getThis(), invocation.getArguments());
    }

    List<WantedLock> wanted(@Nullable Object target, @Nullable Object[] args) {
        Supplier<KeyContext> context = context(target, args);
        List<WantedLock> wanted = new ArrayList<>(specs.size());
        for (LockSpec spec : specs) {
            spec.collect(context, wanted);
        }
        return WantedLock.inOrder(wanted);
    }

    /** What expressions see; made only where there is one. */
    Supplier<KeyContext> context(MethodInvocation invocation) {
        return context(invocation.getThis(), invocation.getArguments());
    }

    private Supplier<KeyContext> context(@Nullable Object target, @Nullable Object[] args) {
        return () -> new KeyContext(shared, method, target, args);
    }

    /** Runs the method's body, told of its locks. */
    @Nullable
    Object proceed(MethodInvocation invocation, HeldLocks held) throws Throwable {
        if (token != null) {
            token.set(invocation, held.innermost());
        }
        return held.call(body(invocation));
    }

    /** The method's body; it throws {@link InvalidLockDefinitionException} if what it returned is work that its locks do not cover. */
    @SuppressWarnings("NullAway") // it may return null, as its type argument says
    Action<@Nullable Object, Throwable> body(MethodInvocation invocation) {
        return () -> {
            Object result = invocation.proceed();
            if (mayHideWork && result != null) {
                LaterResult.refuse(method, result);
            }
            return result;
        };
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
