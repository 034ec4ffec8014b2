package io.github.lockboot.aop;

import io.github.lockboot.LockContext;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;

/** The parameter of a method that receives the fencing token. */
record TokenParameter(int index) {

    /** @param context null when the call needs no lock, and so has no token */
    void set(MethodInvocation invocation, @Nullable LockContext context) {
        @Nullable Object[] args = invocation.getArguments().clone();
        args[index] = context != null ? context.fencingToken() : null;
        ((ProxyMethodInvocation) invocation).setArguments(args);
    }
}
