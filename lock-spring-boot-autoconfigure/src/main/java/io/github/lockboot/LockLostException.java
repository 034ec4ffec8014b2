package io.github.lockboot;

import io.github.lockboot.internal.LockNames;

/**
 * The lease ended while its holder believed to hold the lock: another may have held it since, so what was done under it may
 * not have been done alone. Comes out of the release; nothing was deleted by it. Where an annotated method takes several locks it
 * may come before the method, which does not run then: the message says so.
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
     * @param reason how the loss was found out
     */
    public LockLostException(String lockName, long fencingToken, String reason) {
        super("lock '" + LockNames.printable(lockName) + "' (fencing token " + fencingToken + ") was lost: " + reason);
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
