package io.github.lockboot;

import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Troubleshooting;

/**
 * The lease ended before its holder released the lock, and another caller may have held the lock since. The release
 * throws this exception and deletes nothing. Before that, the commit of a Spring transaction of the holder's thread
 * throws it, and the transaction is rolled back. If an annotated method acquires several locks, this exception may be
 * thrown before the method, which then does not run; the message says so.
 *
 * @see <a
 *     href="https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#locklostexception">What
 *     to do</a>
 */
public class LockLostException extends IllegalMonitorStateException {

    private static final long serialVersionUID = 1L;

    /** The name of the lock, without the key prefix. */
    private final String lockName;

    /** The token of the lost hold. */
    private final long fencingToken;

    /**
     * @param lockName of the lock, without the key prefix
     * @param fencingToken of the hold
     * @param reason how the loss was found
     */
    public LockLostException(String lockName, long fencingToken, String reason) {
        super("lock '" + LockNames.printable(lockName) + "' (fencing token " + fencingToken + ") was lost: " + reason
                + "; see " + Troubleshooting.PAGE + "locklostexception");
        this.lockName = lockName;
        this.fencingToken = fencingToken;
    }

    /** {@return the name of the lock, without the key prefix} */
    public String getLockName() {
        return lockName;
    }

    /** {@return the token of the lost hold} */
    public long getFencingToken() {
        return fencingToken;
    }
}
