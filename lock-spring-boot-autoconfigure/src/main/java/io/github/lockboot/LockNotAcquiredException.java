package io.github.lockboot;

import java.time.Duration;

import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Troubleshooting;
import org.jspecify.annotations.Nullable;

/**
 * The lock was not acquired, although the store works. Another caller held the lock until the wait ended, or as many
 * callers waited as {@link LockOptions#maxWaiting()} allows, or the thread was interrupted before or during the wait.
 * After an interrupt, the cause is an {@link InterruptedException} and the thread's interrupt flag is set.
 *
 * @see <a
 *     href="https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#locknotacquiredexception">What
 *     to do</a>
 */
public class LockNotAcquiredException extends LockException {

    private static final long serialVersionUID = 1L;

    private static final String SEE = "; see " + Troubleshooting.PAGE + "locknotacquiredexception";

    private static final String HELD = "another caller held it";

    /** How long the caller waited. */
    private final Duration waited;

    private final String reason;

    /**
     * The wait time is over.
     *
     * @param lockName of the lock, without the key prefix
     * @param waited since it was requested
     */
    public LockNotAcquiredException(String lockName, Duration waited) {
        this(lockName, waited, (String) null);
    }

    /**
     * The wait time is over, and the thread held another lock, for which the other caller may wait.
     *
     * @param lockName of the lock, without the key prefix
     * @param waited since it was requested
     * @param heldName of the other lock, without the key prefix; null for none
     */
    public LockNotAcquiredException(String lockName, Duration waited, @Nullable String heldName) {
        this(lockName, waited, HELD, heldName);
    }

    /**
     * The lock was refused.
     *
     * @param lockName of the lock, without the key prefix
     * @param waited since it was requested
     * @param reason why it was refused; part of the message
     * @param heldName of another lock that the thread held; null for none
     */
    public LockNotAcquiredException(String lockName, Duration waited, String reason, @Nullable String heldName) {
        super(
                lockName,
                "could not acquire lock '" + LockNames.printable(lockName) + "' within " + waited.toMillis() + " ms: "
                        + reason
                        + (heldName == null
                                ? ""
                                : ", and this thread held lock '" + LockNames.printable(heldName) + "' meanwhile")
                        + SEE,
                null);
        this.waited = waited;
        this.reason = reason;
    }

    /**
     * The lock was refused, and its caller waited longer.
     *
     * @param refusal of the same lock
     * @param waited since the caller began
     * @param heldName of another lock that the thread held; null for none
     */
    public LockNotAcquiredException(LockNotAcquiredException refusal, Duration waited, @Nullable String heldName) {
        this(refusal.getLockName(), waited, refusal.reason, heldName);
    }

    /**
     * The wait was interrupted, and {@link InterruptedException} cannot be thrown. Set the thread's interrupt flag
     * first.
     *
     * @param lockName of the lock, without the key prefix
     * @param waited since it was requested
     * @param cause the interrupt
     */
    public LockNotAcquiredException(String lockName, Duration waited, InterruptedException cause) {
        super(
                lockName,
                "interrupted after waiting " + waited.toMillis() + " ms for lock '" + LockNames.printable(lockName)
                        + "'" + SEE,
                cause);
        this.waited = waited;
        this.reason = HELD;
    }

    /** {@return how long the caller waited} */
    public Duration getWaited() {
        return waited;
    }
}
