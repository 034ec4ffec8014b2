package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;

/** The beans of one context, their locked methods, and whether they have proxies of the advisor. */
record LockedBeans(DistributedLockAdvisor advisor, ConfigurableListableBeanFactory beanFactory) {

    /** The class below the proxies of a bean. */
    @Nullable
    Class<?> typeOf(String beanName) {
        try {
            Class<?> type = AutoProxyUtils.determineTargetClass(beanFactory, beanName);
            return type == null ? null : ClassUtils.getUserClass(type);
        } catch (BeansException unmade) {
            // If it is lazy, the application gets this exception when it gets the bean.
            return null;
        }
    }

    Set<Method> methodsOf(@Nullable Class<?> type) {
        try {
            return type != null && LockAnnotations.areAnywhereIn(type)
                    ? MethodIntrospector.selectMethods(type, (Method method) -> advisor.matches(method, type))
                    : Set.of();
        } catch (IllegalStateException | LinkageError unresolvable) {
            // As above: a signature names a class that is not there.
            return Set.of();
        }
    }

    /**
     * Whether an object is the bean itself, without a proxy of the advisor around it. The class does not tell: a bean that is an interface proxy
     * may have the class of the proxies around it.
     */
    boolean isBare(@Nullable Object bean, Class<?> type) {
        Object inner = bean;
        while (inner instanceof Advised proxy) {
            if (Stream.of(proxy.getAdvisors()).anyMatch(each -> each.getAdvice() == advisor.getAdvice())) {
                return false;
            }
            inner = AopProxyUtils.getSingletonTarget(proxy);
        }
        return bean != null && bean.getClass() == type;
    }
}
