package io.github.lockboot.sample.payment;

/** A way to exclude other payments from the same account. */
interface AccountLock {

    /** As the parameter {@code mode} names it. */
    String mode();

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
    void clear(String accountId);

    /** Releases the lock. */
    interface Release {

        /** @param pause a pause of the process, at the moment when it does most harm */
        void release(Pause pause) throws InterruptedException;
    }

    /** Takes no time, or a long time. */
    interface Pause {

        void run() throws InterruptedException;
    }
}
