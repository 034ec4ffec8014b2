package io.github.lockboot.engine;

import java.time.Duration;

import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.LockOrder;
import io.github.lockboot.internal.Logs;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;

/** What a registry writes to the log. Lock names may be personal data, so by default their digests stand there. */
public final class LockLog {

    /**
     * A hold, as a warning names it.
     *
     * @param thread null for a lease
     */
    record Held(
            LockRequest request, Duration time, @Nullable Thread thread, long token) {

        private String duration() {
            return time.toSeconds() < 10 ? time.toMillis() + " ms" : time.toSeconds() + " s";
        }

        /** A virtual thread may have no name. */
        private String holder() {
            if (thread == null) {
                return "a lease";
            }
            return thread.getName().isEmpty() ? "#" + thread.getId() : LockNames.printable(thread.getName());
        }
    }

    private static final Log log = Logs.of(NamedLock.class);

    private volatile boolean inTheClear;

    /** Has names themselves written, on one line each. */
    public void writeNames() {
        inTheClear = true;
    }

    void notAcquired(LockRequest request, String reason) {
        if (log.isDebugEnabled()) {
            log.debug("Lock not acquired: " + shown(request.node()) + ": " + reason);
        }
    }

    void unavailable(LockRequest request, String reason) {
        if (log.isDebugEnabled()) {
            log.debug("Lock unavailable: " + shown(request.node()) + ": " + reason);
        }
    }

    void unconfirmed(Held hold) {
        log.warn("Lock release was not confirmed: " + shown(hold) + ": the lock may stay held for up to its ttl");
    }

    /** With the stack of the thread that does not release it. */
    void stuck(Held hold, String reason) {
        String text = "Lock no longer renewed: " + shown(hold) + ": " + reason;
        if (hold.thread == null) {
            log.warn(text);
        } else {
            Throwable where = new Throwable("where thread " + hold.holder() + " is");
            where.setStackTrace(hold.thread.getStackTrace());
            log.warn(text, where);
        }
    }

    void lost(Held hold, String reason) {
        log.warn("Lock lost: " + shown(hold) + ": " + reason);
    }

    void bothOrders(LockOrder.Node held, LockOrder.Node wanted, String here, String there) {
        log.warn("Possible deadlock: locks are acquired in opposite orders: " + shown(wanted) + " while " + shown(held)
                + " is held at " + here + ", and the other way round at " + there
                + ". Acquire them in the same order everywhere");
    }

    private String shown(Held hold) {
        return shown(hold.request.node()) + ", held for " + hold.duration() + " by " + hold.holder()
                + ", fencing token " + hold.token;
    }

    private String shown(LockOrder.Node lock) {
        String group = lock.group();
        return (group == null ? "no group" : LockNames.printable(group)) + " (" + shown(lock.name()) + ")";
    }

    private String shown(String name) {
        return inTheClear ? "name " + LockNames.printable(name) : "name digest " + LockNames.digest(name);
    }
}
