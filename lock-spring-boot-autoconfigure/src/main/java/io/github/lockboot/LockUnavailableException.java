package io.github.lockboot;

import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Troubleshooting;
import org.jspecify.annotations.Nullable;

/**
 * Redis did not answer in time, refused the request, or granted the lock so late that its lease was over; or the
 * registry is closing.
 *
 * @see <a
 *     href="https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#lockunavailableexception">What
 *     to do</a>
 */
public class LockUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    /**
     * @param lockName of the lock, without the key prefix
     * @param reason what could not be done and what to check
     * @param cause what the Redis client reported, if anything
     */
    public LockUnavailableException(String lockName, String reason, @Nullable Throwable cause) {
        super(
                lockName,
                "lock '" + LockNames.printable(lockName) + "' is unavailable: " + reason
                        + (cause == null ? "" : " (" + LockNames.printable(Failures.reasonOf(cause)) + ")") + "; see "
                        + Troubleshooting.PAGE + "lockunavailableexception",
                cause);
    }
}
