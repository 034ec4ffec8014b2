package io.github.lockboot.sample.payment;

/** One way to keep the payments from an account apart. */
interface AccountLock {

    /** As the parameter {@code mode} names it. */
    String mode();

    /**
     * Waits until the account is ours.
     *
     * @return gives it back
     * @throws io.github.lockboot.LockNotAcquiredException if that takes too long
     */
    Release acquire(String accountId) throws InterruptedException;

    /** A process that dies while it has the account: the lock is taken and nobody gives it back. */
    default void crash(String accountId) throws InterruptedException {
        acquire(accountId);
    }

    /** Removes what such a process left behind, as somebody on call would by hand. */
    void clear(String accountId);

    /** Gives the account back. */
    interface Release {

        /** @param pause what may happen to any process at any moment, put where it hurts most */
        void release(Pause pause) throws InterruptedException;
    }

    /** Takes a moment, or a long one. */
    interface Pause {

        void run() throws InterruptedException;
    }
}
