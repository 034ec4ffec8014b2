package io.github.lockboot.aop;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockSet;
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

        @Override
        public void beforeBegin(TransactionExecution transaction) {
            LockSet.OfThread.endThoseGivenUp();
        }

        @Override
        public void beforeCommit(TransactionExecution transaction) {
            LockLostException lost = LockSet.OfThread.findAnyLoss(REASON);
            if (lost != null) {
                throw lost;
            }
        }
    }
}
