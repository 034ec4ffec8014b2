package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import io.github.lockboot.LockTemplate;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts {@link io.github.lockboot.DistributedLock} methods under their locks: those with the annotation, their own or from what they
 * override or implement, and those of a class with it. It is made before ordinary beans can be, so it asks for the template when
 * a method is called and for its order when a method is found.
 */
public final class DistributedLockAdvisor extends StaticMethodMatcherPointcut implements PointcutAdvisor, Ordered {

    /** Outside transactions and caches, inside retries: each retry locks again, and the release comes after the commit. */
    public static final int DEFAULT_ORDER = HIGHEST_PRECEDENCE + 100;

    private final DistributedLockInterceptor interceptor;
    private final IntSupplier order;

    /**
     * @param beanFactory resolves {@code ${...}} and {@code @bean}
     * @param template asked once, at the first call of a locked method
     * @param order asked when the advisors of a bean are sorted
     */
    public DistributedLockAdvisor(
            ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template, IntSupplier order) {
        this.interceptor = new DistributedLockInterceptor(beanFactory, SingletonSupplier.of(template));
        this.order = order;
        setClassFilter(LockAnnotations::areAnywhereIn);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return !LockAnnotations.find(method, targetClass).isEmpty();
    }

    @Override
    public Pointcut getPointcut() {
        return this;
    }

    @Override
    public DistributedLockInterceptor getAdvice() {
        return interceptor;
    }

    @Override
    public int getOrder() {
        return order.getAsInt();
    }
}
