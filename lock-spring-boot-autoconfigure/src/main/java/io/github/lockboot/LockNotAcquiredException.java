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

    /** Why it was refused; part of the message. */
    private final String reason;

    /** The id of the holder; null if it is not known. */
    private final @Nullable String holderId;

    /** What was left of the lease of the holder; null if it is not known. */
    private final @Nullable Duration retryAfter;

    /** The text for a person; null for none. */
    private @Nullable String userMessage;

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
        this(lockName, waited, HELD, heldName, null, null);
    }

    /**
     * The lock was refused.
     *
     * @param lockName of the lock, without the key prefix
     * @param waited since it was requested
     * @param reason why it was refused; part of the message
     * @param holderId null if it is not known
     * @param retryAfter what is left of the lease of that holder; null if it is not known
     */
    public LockNotAcquiredException(
            String lockName, Duration waited, String reason, @Nullable String holderId, @Nullable Duration retryAfter) {
        this(lockName, waited, reason, null, holderId, retryAfter);
    }

    private LockNotAcquiredException(
            String lockName,
            Duration waited,
            String reason,
            @Nullable String heldName,
            @Nullable String holderId,
            @Nullable Duration retryAfter) {
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
        this.holderId = holderId;
        this.retryAfter = retryAfter;
    }

    /**
     * The lock was refused, and its caller waited longer.
     *
     * @param refusal of the same lock
     * @param waited since the caller began
     * @param heldName of another lock that the thread held; null for none
     */
    public LockNotAcquiredException(LockNotAcquiredException refusal, Duration waited, @Nullable String heldName) {
        this(refusal.getLockName(), waited, refusal.reason, heldName, refusal.holderId, refusal.retryAfter);
        this.userMessage = refusal.userMessage;
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
        this.holderId = null;
        this.retryAfter = null;
    }

    /** {@return how long the caller waited} */
    public Duration getWaited() {
        return waited;
    }

    /**
     * {@return the id of the holder, as {@code RedisLock.state} and the endpoint {@code lock} show it, by the last
     * answer before the refusal; null if it is not known} Of several holders it is the one whose lease ends first. Ids
     * of one registry have the same beginning.
     */
    public @Nullable String getHolderId() {
        return holderId;
    }

    /**
     * {@return what was left of the lease of that holder at the refusal; zero or more; null if it is not known} The
     * holder may release the lock earlier, or renew the lease.
     */
    public @Nullable Duration getRetryAfter() {
        return retryAfter;
    }

    /** {@return the text for a person, which {@link DistributedLock#message} sets; null for none} */
    public @Nullable String getUserMessage() {
        return userMessage;
    }

    /**
     * Sets the text for a person. The {@linkplain #getMessage() message} for logs stays as it is.
     *
     * @param text without the name of the lock
     * @return this exception
     */
    public LockNotAcquiredException withUserMessage(String text) {
        userMessage = text;
        return this;
    }
}
