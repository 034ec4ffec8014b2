package io.github.lockboot;

import java.time.Duration;

import io.github.lockboot.internal.LockNames;

/**
 * The lock was not acquired although Redis answered. Another held it until the wait ended: this is contention. Or the thread
 * was interrupted before or during the wait, whether or not anybody held it: then the cause is an {@link InterruptedException}
 * and the thread's interrupt flag is set.
 */
public class LockNotAcquiredException extends LockException {

    private static final long serialVersionUID = 1L;

    /** How long the caller waited. */
    private final Duration waited;

    /**
     * For a wait that ended because its time was over.
     *
     * @param lockName of the lock, without the key prefix
     * @param waited since it was requested
     */
    public LockNotAcquiredException(String lockName, Duration waited) {
        super(
                lockName,
                "lock '" + LockNames.printable(lockName) + "' was held by another for the " + waited.toMillis()
                        + " ms waited",
                null);
        this.waited = waited;
    }

    /**
     * For a wait that ended by an interrupt in a place that cannot throw {@link InterruptedException}; the code that throws it
     * has set the thread's interrupt flag again.
     *
     * @param lockName of the lock, without the key prefix
     * @param waited since it was requested
     * @param cause the interrupt
     */
    public LockNotAcquiredException(String lockName, Duration waited, InterruptedException cause) {
        super(
                lockName,
                "interrupted after waiting " + waited.toMillis() + " ms for lock '" + LockNames.printable(lockName)
                        + "'",
                cause);
        this.waited = waited;
    }

    /** {@return how long the caller waited} */
    public Duration getWaited() {
        return waited;
    }
}
