package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import io.github.lockboot.LockTemplate;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;

/**
 * Puts {@link io.github.lockboot.DistributedLock} methods under their locks. It is made before ordinary beans can be, so it
 * asks for the template when a method is called and for its order when a method is found.
 */
public final class DistributedLockAdvisor implements PointcutAdvisor, Ordered {

    /** Outside transactions and caches, inside retries: each retry locks again, and the release comes after the commit. */
    public static final int DEFAULT_ORDER = HIGHEST_PRECEDENCE + 100;

    private final Pointcut pointcut = new LockedMethods();
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
    }

    /** Methods with {@link io.github.lockboot.DistributedLock}, their own or from what they override or implement, or of a class with it. */
    private static final class LockedMethods extends StaticMethodMatcherPointcut {

        LockedMethods() {
            setClassFilter(LockAnnotations::areAnywhereIn);
        }

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return LockAnnotations.arePresent(method, targetClass);
        }
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public Advice getAdvice() {
        return interceptor;
    }

    DistributedLockInterceptor interceptor() {
        return interceptor;
    }

    @Override
    public int getOrder() {
        return order.getAsInt();
    }
}
