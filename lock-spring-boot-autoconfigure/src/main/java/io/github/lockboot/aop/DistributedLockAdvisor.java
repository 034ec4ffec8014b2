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

/**
 * Runs {@link io.github.lockboot.DistributedLock} methods under their locks. The container creates it before ordinary
 * beans, so template and order are supplied later.
 */
public final class DistributedLockAdvisor extends StaticMethodMatcherPointcut implements PointcutAdvisor, Ordered {

    /**
     * After method security, whose last advisor has 600, so a caller who is denied acquires no lock. Before retries of
     * Spring Retry, caches and transactions, which have the lowest precedence unless the application says otherwise:
     * the release comes after the commit.
     */
    public static final int DEFAULT_ORDER = 1_000;

    private final DistributedLockInterceptor interceptor;
    private final IntSupplier order;

    /**
     * @param beanFactory resolves {@code ${...}} and {@code @bean}
     * @param template called when all singletons exist, if methods are locked, and at the first call of each
     * @param order called when the advisors of a bean are sorted
     */
    public DistributedLockAdvisor(
            ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template, IntSupplier order) {
        this.interceptor = new DistributedLockInterceptor(beanFactory, template);
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
