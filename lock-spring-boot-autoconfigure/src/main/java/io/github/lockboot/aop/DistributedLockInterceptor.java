package io.github.lockboot.aop;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;

/** Runs the invocation under the locks that its method asks for. */
final class DistributedLockInterceptor implements MethodInterceptor {

    private final LockSpecSource source;

    DistributedLockInterceptor(LockSpecSource source) {
        this.source = source;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Class<?> targetClass = target != null
                ? AopUtils.getTargetClass(target)
                : invocation.getMethod().getDeclaringClass();
        return source.get(invocation.getMethod(), targetClass).invoke(invocation);
    }
}
