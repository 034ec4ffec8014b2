package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockTemplate;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

/** Runs a method under its locks. The annotations of each method are parsed once. */
final class DistributedLockInterceptor implements InnerProxy.Locking {

    /** Until the first call of a proxy around a proxy, no call can be that of an inner one. */
    private static volatile boolean proxyAroundProxy;

    private final Map<MethodClassKey, MethodLocks> locks = new ConcurrentHashMap<>();
    private final ConfigurableBeanFactory beanFactory;
    private final Supplier<LockTemplate> template;

    DistributedLockInterceptor(ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template) {
        this.beanFactory = beanFactory;
        this.template = template;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        if (invocation.getThis() instanceof Advised) {
            proxyAroundProxy = true;
        }
        if (proxyAroundProxy) {
            if (InnerProxy.changesThread(invocation)) {
                return invocation.proceed();
            }
            if (InnerProxy.isMarked(invocation)) {
                return InnerProxy.proceed(invocation, null);
            }
        }
        Object target = targetOf(invocation);
        Class<?> targetClass = target != null
                ? ClassUtils.getUserClass(target)
                : invocation.getMethod().getDeclaringClass();
        return locksOf(invocation.getMethod(), targetClass).invoke(invocation);
    }

    /** {@return the bean behind all its locked proxies; null if there is none} */
    static @Nullable Object targetOf(MethodInvocation invocation) {
        return proxyAroundProxy ? InnerProxy.targetOf(invocation) : invocation.getThis();
    }

    /** The template. Asked for at the start, so that its absence fails the start rather than each call. */
    LockTemplate template() {
        return template.get();
    }

    /** @throws InvalidLockDefinitionException with all findings about the annotations of the method */
    MethodLocks locksOf(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        MethodLocks known = locks.get(key);
        return known != null ? known : locks.computeIfAbsent(key, absent -> parse(method, targetClass));
    }

    private MethodLocks parse(Method method, Class<?> targetClass) {
        List<DistributedLock> annotations = LockAnnotations.find(method, targetClass);
        // The methods of a proxy class have no names of parameters.
        Method specific =
                Proxy.isProxyClass(targetClass) ? method : AopUtils.getMostSpecificMethod(method, targetClass);
        LockedMethod locked = new LockedMethod(specific, targetClass);
        return annotations.stream().anyMatch(locked::isJob)
                ? ScheduledCall.of(locked, annotations, beanFactory, template)
                : new MethodLocks(locked, annotations, beanFactory, template);
    }
}
