package io.github.lockboot.aop;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Has each transaction manager check the locks of its thread before it commits. If one may have been lost, the transaction is rolled
 * back, and its caller gets the {@link LockLostException}. Spring Boot would add a listener only to the managers that it makes itself.
 */
public final class CommitCheck implements BeanPostProcessor {

    static final String REASON = "found before the commit of the transaction, which is rolled back";

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager manager) {
            manager.addListener(new Listener());
        }
        return bean;
    }

    private static final class Listener implements TransactionExecutionListener {

        /** The transaction of the thread that began first. It worked under the locks that are given up before its end. */
        private static final ThreadLocal<@Nullable TransactionExecution> OUTERMOST = new ThreadLocal<>();

        @Override
        public void beforeBegin(TransactionExecution transaction) {
            TransactionExecution outermost = OUTERMOST.get();
            if (outermost == null || outermost.isCompleted()) { // not every end is reported
                LockSet.OfThread.ignoreThoseGivenUp();
                OUTERMOST.set(transaction);
            }
        }

        @Override
        public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
            if (failure != null) {
                ended(transaction);
            }
        }

        @Override
        public void beforeCommit(TransactionExecution transaction) {
            LockLostException lost = LockSet.OfThread.findAnyLoss(REASON);
            if (lost != null) {
                throw lost;
            }
        }

        @Override
        public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
            ended(transaction);
        }

        @Override
        public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
            ended(transaction);
        }

        private static void ended(TransactionExecution transaction) {
            if (OUTERMOST.get() == transaction) {
                OUTERMOST.remove();
            }
        }
    }
}
