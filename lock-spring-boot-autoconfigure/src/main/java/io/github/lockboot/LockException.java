package io.github.lockboot;

import org.jspecify.annotations.Nullable;

/**
 * Base of the exceptions about a lock. It has the name of the lock; the message also contains the name, on one line.
 *
 * @see <a
 *     href="https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#a-call-fails">What
 *     to do</a>
 */
public abstract class LockException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The name of the lock, without the key prefix. */
    private final String lockName;

    LockException(String lockName, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.lockName = lockName;
    }

    /** {@return the name of the lock, without the key prefix} */
    public String getLockName() {
        return lockName;
    }
}
