package io.github.lockboot.aop;

import java.lang.reflect.Method;

import io.github.lockboot.DistributedLock;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotationUtils;

/** Methods with {@link DistributedLock}, their own or from what they override or implement, or of a class with it. */
final class DistributedLockPointcut extends StaticMethodMatcherPointcut {

    DistributedLockPointcut() {
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, DistributedLock.class));
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return LockAnnotations.arePresent(method, targetClass);
    }
}
