package io.github.lockboot.aop;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockLostException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Locks that were taken inside a transaction. If they were released before it ends, the next holder would not see what is not
 * committed yet. By default, this is the last of the transaction's callbacks: the check is as late as possible, and the locks cover
 * the other callbacks.
 *
 * @param held which any thread may release: with JTA a transaction may end on another thread than it began on
 */
record TransactionBoundLocks(HeldLocks held) implements TransactionSynchronization {

    /** The active transaction releases the locks when it has ended. If they cannot be bound to it, they are released. */
    static void bind(HeldLocks held) {
        held.giveTo(
                given -> TransactionSynchronizationManager.registerSynchronization(new TransactionBoundLocks(given)));
    }

    /**
     * Beside {@link CommitCheck}, for a transaction that is committed by no bean of the application, or on another thread.
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
     * May be called more than once. The registry has reported a loss already. What is thrown here would get to no caller, but to
     * Spring's log, with the name of the lock in it.
     */
    @Override
    public void afterCompletion(int status) {
        try {
            held.release(status == STATUS_COMMITTED);
        } catch (LockLostException reported) {
            // the transaction has ended
        }
    }
}
