package io.github.lockboot.aop;

import java.lang.reflect.Method;

import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** Methods with {@link io.github.lockboot.DistributedLock}, their own or from what they override or implement, or of a class with it. */
final class DistributedLockPointcut extends StaticMethodMatcherPointcut {

    DistributedLockPointcut() {
        setClassFilter(LockAnnotations::areAnywhereIn);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return LockAnnotations.arePresent(method, targetClass);
    }
}
