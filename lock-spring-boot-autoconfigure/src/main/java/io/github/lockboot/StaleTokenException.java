package io.github.lockboot;

import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Troubleshooting;

/**
 * A fence refused a write, because its fencing token is smaller than the largest that the fence has seen: another
 * caller has acquired the lock since. Nothing was written.
 *
 * @see <a
 *     href="https://github.com/lockboot/lock-spring-boot-starter/blob/main/docs/troubleshooting.md#staletokenexception">What
 *     to do</a>
 */
public class StaleTokenException extends LockException {

    private static final long serialVersionUID = 1L;

    /** The token of the writer. */
    private final long fencingToken;

    /** The largest token that the fence has seen. */
    private final long newestToken;

    /**
     * @param name of the lock, or of the resource if that differs
     * @param fencingToken of the writer
     * @param newestToken the largest that the fence has seen
     */
    public StaleTokenException(String name, long fencingToken, long newestToken) {
        super(
                name,
                "a write under '" + LockNames.printable(name) + "' was refused: fencing token " + fencingToken
                        + " is older than " + newestToken + ", so another caller has held the lock since; see "
                        + Troubleshooting.PAGE + "staletokenexception",
                null);
        this.fencingToken = fencingToken;
        this.newestToken = newestToken;
    }

    /** {@return the token of the writer} */
    public long getFencingToken() {
        return fencingToken;
    }

    /** {@return the largest token that the fence has seen} */
    public long getNewestToken() {
        return newestToken;
    }
}
