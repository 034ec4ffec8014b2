package io.github.lockboot;

import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** The lock could not be asked for: Redis did not answer in time, refused, or the registry is closing. */
public class LockUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    /**
     * @param lockName of the lock, without the key prefix
     * @param reason what could not be done and what to look at, appended to the lock's name
     * @param cause what the Redis client reported, if anything
     */
    public LockUnavailableException(String lockName, String reason, @Nullable Throwable cause) {
        super(lockName, "lock '" + LockNames.printable(lockName) + "' is unavailable: " + reason, cause);
    }
}
