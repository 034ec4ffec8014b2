package io.github.lockboot.aop;

import java.util.function.IntSupplier;
import java.util.function.Supplier;

import io.github.lockboot.LockTemplate;
import org.aopalliance.aop.Advice;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
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

    private final DistributedLockPointcut pointcut = new DistributedLockPointcut();
    private final LockSpecSource specs;
    private final DistributedLockInterceptor interceptor;
    private final IntSupplier order;

    /**
     * @param beanFactory resolves {@code ${...}} and {@code @bean}
     * @param template asked once, at the first call of a locked method
     * @param order asked when the advisors of a bean are sorted
     */
    public DistributedLockAdvisor(
            ConfigurableBeanFactory beanFactory, Supplier<LockTemplate> template, IntSupplier order) {
        this.specs = new LockSpecSource(beanFactory, SingletonSupplier.of(template));
        this.interceptor = new DistributedLockInterceptor(specs);
        this.order = order;
    }

    LockSpecSource specs() {
        return specs;
    }

    @Override
    public Pointcut getPointcut() {
        return pointcut;
    }

    @Override
    public Advice getAdvice() {
        return interceptor;
    }

    @Override
    public int getOrder() {
        return order.getAsInt();
    }
}
