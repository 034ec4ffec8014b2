package io.github.lockboot;

import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Troubleshooting;
import org.jspecify.annotations.Nullable;

/**
 * Redis did not answer in time or refused the request, or the registry is closing.
 *
 * @see <a href="https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#lockunavailableexception">What to do</a>
 */
public class LockUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    /** Causes may form a circle. */
    private static final int DEEPEST_CAUSE = 20;

    /**
     * @param lockName of the lock, without the key prefix
     * @param reason what could not be done and what to check
     * @param cause what the Redis client reported, if anything
     */
    public LockUnavailableException(String lockName, String reason, @Nullable Throwable cause) {
        super(
                lockName,
                "lock '" + LockNames.printable(lockName) + "' is unavailable: " + reason
                        + (cause == null ? "" : " (" + LockNames.printable(text(cause)) + ")") + "; see "
                        + Troubleshooting.PAGE + "lockunavailableexception",
                cause);
    }

    /** What the cause says, and the innermost one that says more: a log may show the first line only. */
    private static String text(Throwable cause) {
        String first = messageOf(cause);
        String last = first;
        Throwable each = cause;
        for (int depth = 0; each != null && depth < DEEPEST_CAUSE; depth++, each = each.getCause()) {
            last = last.contains(messageOf(each)) ? last : messageOf(each);
        }
        return last.equals(first) ? first : first + ": " + last;
    }

    private static String messageOf(Throwable failure) {
        return failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    }
}
