package io.github.lockboot.sample.payment;

import java.time.Duration;

/** A way to exclude other payments from the same account. */
interface AccountLock {

    /**
     * Waits until it has the lock of the account.
     *
     * @return releases the lock
     * @throws io.github.lockboot.LockNotAcquiredException if that takes too long
     */
    Release acquire(String accountId) throws InterruptedException;

    /** Simulates a process that dies while it holds the lock: the lock is taken and never released. */
    default void crash(String accountId) throws InterruptedException {
        acquire(accountId);
    }

    /** Removes what such a process left behind, as an operator would by hand. */
    default void clear(String accountId) {}

    interface Release {

        /** @param pause of the process, at the moment when it does most harm */
        void release(Duration pause) throws InterruptedException;
    }
}
