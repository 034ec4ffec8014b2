package io.github.lockboot.engine;

import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.LockOrder;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** What a registry writes to the log. Lock names may be personal data, so by default their digests stand there. */
public final class LockLog {

    private static final Log log = LogFactory.getLog(NamedLock.class);

    private volatile boolean inTheClear;

    /** Has names themselves written, on one line each. */
    public void writeNames() {
        inTheClear = true;
    }

    void notAcquired(String name) {
        if (log.isDebugEnabled()) {
            log.debug("Lock not acquired, another held it: " + shown(name));
        }
    }

    void unavailable(String name, String reason) {
        if (log.isDebugEnabled()) {
            log.debug("Lock unavailable: " + shown(name) + ": " + reason);
        }
    }

    void unconfirmed(String name) {
        log.warn("Lock release not confirmed, it may stay taken for up to its ttl: " + shown(name));
    }

    void bothOrders(LockOrder.Node held, LockOrder.Node wanted, String here, String there) {
        log.warn("Locks are taken in both orders, so two threads may wait for each other: " + shown(wanted) + " while "
                + shown(held) + " is held at " + here + ", and the other way round at " + there);
    }

    void lost(String name, long token, String reason, @Nullable Throwable stuckAt) {
        String text = "Lock lost: " + shown(name) + ", fencing token " + token + ": " + reason;
        if (stuckAt != null) {
            log.warn(text, stuckAt);
        } else {
            log.warn(text);
        }
    }

    /** Runs what is to happen after a loss; what it throws goes to the log. */
    static void runCallback(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable failure) {
            log.warn("A callback for a lost lock failed", failure);
        }
    }

    private String shown(LockOrder.Node lock) {
        String group = lock.group();
        return group != null ? "group " + LockNames.printable(group) : shown(lock.name());
    }

    private String shown(String name) {
        return inTheClear ? "name " + LockNames.printable(name) : "name digest " + LockNames.digest(name);
    }
}
