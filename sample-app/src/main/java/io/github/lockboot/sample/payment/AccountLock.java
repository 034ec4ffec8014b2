package io.github.lockboot.sample.payment;

import java.time.Duration;

import io.github.lockboot.sample.live.Work;

/** A way to exclude other payments from the same account. */
interface AccountLock {

    /**
     * Runs a payment with the lock of the account.
     *
     * @param late how long the process is paused when it releases the lock, at the moment when it does most harm
     * @throws io.github.lockboot.LockNotAcquiredException if it waits for the lock for too long
     */
    <T> T pay(String accountId, Duration late, Work<T, InterruptedException> payment) throws InterruptedException;

    /** Simulates a process that dies while it holds the lock: the lock is taken and never released. */
    void crash(String accountId) throws InterruptedException;

    /** Removes what such a process left behind, as an operator would by hand. */
    default void clear(String accountId) {}
}
