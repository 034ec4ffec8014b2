package io.github.lockboot.aop;

import org.springframework.util.ClassUtils;

/** The transaction of the calling thread, if there are transactions at all: spring-tx may be absent. */
final class Transactions {

    private static final boolean PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            Transactions.class.getClassLoader());

    private Transactions() {}

    /** Whether one is active whose end can be waited for. */
    static boolean isActive() {
        return PRESENT && TransactionBoundLocks.isTransactionActive();
    }

    /** Hands the locks over to the active transaction, which gives them back when it has ended. */
    static void holdUntilCompletion(HeldLocks held) {
        TransactionBoundLocks.bind(held);
    }
}
