package io.github.lockboot.aop;

import io.github.lockboot.LockContext;
import io.github.lockboot.LockTemplate;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** The usual case, made short: one lock of the calling thread for the time of the call. */
final class PlainCall implements CallStrategy {

    private final LockSpec spec;
    private final CallStrategy insideTransaction;

    PlainCall(LockSpec spec, CallStrategy insideTransaction) {
        this.spec = spec;
        this.insideTransaction = insideTransaction;
    }

    @Override
    public @Nullable Object invoke(LockedCall call, MethodInvocation invocation) throws Throwable {
        if (Transactions.isActive()) {
            return insideTransaction.invoke(call, invocation);
        }
        String name = spec.lockName(call.context(invocation));
        LockTemplate template = spec.template().get();
        LockContext context = LockContext.of(template.registry(), name);
        return template.execute(name, spec.options(), () -> context.call(call.body(invocation)));
    }
}
