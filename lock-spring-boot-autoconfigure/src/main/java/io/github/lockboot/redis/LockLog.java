package io.github.lockboot.redis;

import io.github.lockboot.internal.LockNames;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** What a registry writes to the log. Lock names may be personal data, so by default their digests stand there. */
final class LockLog {

    private static final Log log = LogFactory.getLog(RedisLock.class);

    private volatile boolean inTheClear;

    /** Has names themselves written, on one line each. */
    void writeNames() {
        inTheClear = true;
    }

    /** Something was thrown that nobody expects. Throws nothing itself: there may be no memory left to write a line with. */
    static void unexpected(String where, Throwable thrown) {
        try {
            log.error("Unexpected failure " + where, thrown);
        } catch (Throwable thrownHereToo) {
            // what can be put in order is, without a line that says so
        }
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

    void lost(Hold hold, @Nullable Throwable stuckAt) {
        String text = "Lock lost: " + shown(hold.name()) + ", fencing token " + hold.fencingToken() + ": "
                + hold.lossReason();
        if (stuckAt != null) {
            log.warn(text, stuckAt);
        } else {
            log.warn(text);
        }
    }

    /** Something should have gone on, and was made to. */
    void overlooked(String name, String what) {
        log.error("Lock engine: " + what + " had come to a halt and goes on: " + shown(name));
    }

    static void callbackFailed(Throwable failure) {
        log.warn("A callback for a lost lock failed", failure);
    }

    private String shown(String name) {
        return inTheClear ? "name " + LockNames.printable(name) : "name digest " + LockNames.digest(name);
    }
}
