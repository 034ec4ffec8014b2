package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockLostException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Locks that were acquired inside a transaction. If they were released before it ends, the next holder would not see
 * what is not yet committed. Callbacks of the same order run in the order of their registration: the locks cover those
 * that were registered before them, but not those that the method registers, such as its {@code AFTER_COMMIT}
 * listeners.
 *
 * @param held which any thread may release: with JTA a transaction may end on another thread than it began on
 * @param returned whether the method has returned
 */
record TransactionBoundLocks(HeldLocks held, AtomicBoolean returned) implements TransactionSynchronization {

    /** Whether a transaction of the method, behind the lock, suspends the active one. */
    static boolean isSuspendedBehindTheLock(MethodInvocation invocation) {
        return invocation instanceof ProxyMethodInvocation call
                && call.getProxy() instanceof Advised proxy
                && Stream.concat(
                                Stream.of(proxy.getAdvisors()).dropWhile(each -> !InnerProxy.isOfLocks(each)),
                                InnerProxy.advisorsIn(invocation))
                        .anyMatch(each -> suspends(each, invocation.getMethod(), InnerProxy.targetOf(invocation)));
    }

    /** Whether it begins a new transaction, runs the method without one, or refuses the method. */
    private static boolean suspends(Advisor advisor, Method method, @Nullable Object target) {
        if (target == null
                || !(advisor.getAdvice() instanceof TransactionAspectSupport transactions)
                || !InnerProxy.applies(advisor, method, target)) {
            return false;
        }
        TransactionAttributeSource source = transactions.getTransactionAttributeSource();
        TransactionAttribute attribute =
                source != null ? source.getTransactionAttribute(method, AopUtils.getTargetClass(target)) : null;
        return attribute != null
                && switch (attribute.getPropagationBehavior()) {
                    case TransactionAttribute.PROPAGATION_REQUIRES_NEW,
                            TransactionAttribute.PROPAGATION_NOT_SUPPORTED,
                            TransactionAttribute.PROPAGATION_NEVER -> true;
                    default -> false;
                };
    }

    /**
     * Runs a body. The active transaction releases the locks when it has ended; the call has succeeded if the body has
     * returned and the transaction is committed. If they cannot be bound to it, they are released.
     */
    static <T extends @Nullable Object, E extends Throwable> T run(HeldLocks held, HeldLocks.Body<T, E> body) throws E {
        AtomicBoolean returned = new AtomicBoolean();
        held.passTo(given ->
                TransactionSynchronizationManager.registerSynchronization(new TransactionBoundLocks(given, returned)));
        T result = body.run();
        returned.set(true);
        return result;
    }

    /**
     * In addition to {@link CommitCheck}, for a transaction that is committed by no bean of the application, or on
     * another thread.
     *
     * @throws LockLostException if one of the locks may have been lost, which rolls the transaction back
     */
    @Override
    public void beforeCommit(boolean readOnly) {
        LockLostException lost = held.findLoss(CommitCheck.REASON);
        if (lost != null) {
            throw lost;
        }
    }

    /**
     * May be called more than once. The registry has reported a loss already. An exception would reach no caller, only
     * Spring's log, with the name of the lock.
     */
    @Override
    public void afterCompletion(int status) {
        try {
            held.release(status == STATUS_COMMITTED && returned.get());
        } catch (LockLostException reported) {
            // the transaction has ended
        }
    }
}
