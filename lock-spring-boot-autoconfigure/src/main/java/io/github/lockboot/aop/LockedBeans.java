package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;

/**
 * The beans of one context: their locked methods, which of them the container creates, and which of them it injects
 * before they are complete. Spring creates the proxy of such a bean early, and passes the bean itself to later
 * post-processors: methods that these find in it and call run without their locks.
 */
final class LockedBeans implements SmartInstantiationAwareBeanPostProcessor {

    private final DistributedLockAdvisor advisor;
    private final ConfigurableListableBeanFactory beanFactory;
    private final Set<String> created = ConcurrentHashMap.newKeySet();
    private final Set<String> injectedEarly = ConcurrentHashMap.newKeySet();
    private volatile boolean checked;

    LockedBeans(DistributedLockAdvisor advisor, ConfigurableListableBeanFactory beanFactory) {
        this.advisor = advisor;
        this.beanFactory = beanFactory;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        if (!checked) {
            created.add(beanName);
        }
        return bean;
    }

    /** @throws InvalidLockDefinitionException if the start is over and the bean has locked methods */
    @Override
    public Object getEarlyBeanReference(Object bean, String beanName) {
        if (!(bean instanceof FactoryBean)) { // the proxy wraps its object, which is complete
            injectedEarly.add(beanName);
        }
        if (checked) {
            List<Finding> findings = new ArrayList<>();
            checkCircle(beanName, AopProxyUtils.ultimateTargetClass(bean), findings);
            InvalidLockDefinitionException.throwIfAny(findings);
        }
        return bean;
    }

    void checkCircle(String beanName, Class<?> type, List<Finding> findings) {
        if (injectedEarly.contains(beanName)) {
            methodsOf(type).stream()
                    .findFirst()
                    .ifPresent(method -> new LockedMethod(method, type, findings)
                            .add(
                                    "may be called without its lock, because bean '" + beanName
                                            + "' is part of a circular reference and was injected before it was fully initialized",
                                    "put @Lazy on one of the injection points of the circular reference"));
        }
    }

    /** The beans of the start are checked. */
    void checked() {
        checked = true;
    }

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

    Set<Method> methodsOf(Class<?> type) {
        try {
            return LockAnnotations.areAnywhereIn(type)
                    ? MethodIntrospector.selectMethods(type, (Method method) -> advisor.matches(method, type))
                    : Set.of();
        } catch (IllegalStateException | LinkageError unresolvable) {
            // As above: a signature names a class that is not there.
            return Set.of();
        }
    }

    /**
     * Whether an object is the bean itself, without a proxy of the advisor around it. The class does not tell: a bean
     * that is an interface proxy may have the class of the proxies around it.
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

    /**
     * Whether a test has registered an object in the place of the bean, such as a mock. Spring creates no proxy for it,
     * so it locks nothing.
     */
    boolean isReplaced(String beanName, Class<?> type) {
        return !created.contains(beanName) && isBare(beanFactory.getSingleton(beanName), type);
    }
}
