package io.github.lockboot.aop;

import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockLostException;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Locks that were taken inside a transaction: releasing them before it ends would let the next holder read what is not
 * committed yet. Last among the transaction's callbacks, so that the check is as late and the lock covers as much as it can.
 */
final class TransactionBoundLocks implements TransactionSynchronization {

    private final HeldLocks held;
    private final AtomicBoolean ended = new AtomicBoolean();

    /** @param held which any thread may release: with JTA a transaction may end on another than it began on */
    private TransactionBoundLocks(HeldLocks held) {
        this.held = held;
    }

    /** Hands the locks over to the active transaction, which gives them back when it has ended. */
    static void bind(HeldLocks held) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionBoundLocks(held.onAnyThread()));
    }

    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    /** @throws LockLostException if one of the locks may have been lost, which rolls the transaction back */
    @Override
    public void beforeCommit(boolean readOnly) {
        LockLostException lost = held.findLoss("found before the commit of the transaction, which is rolled back");
        if (lost != null) {
            throw lost;
        }
    }

    /** A loss that did no harm, because nothing was committed, is not reported again. */
    @Override
    public void afterCompletion(int status) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        try {
            held.release(status == STATUS_COMMITTED);
        } catch (LockLostException lost) {
            if (status != STATUS_ROLLED_BACK) {
                throw lost;
            }
        }
    }
}
