package io.github.lockboot.redis.engine;

import io.github.lockboot.LockNames;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** What a registry writes to the log. Lock names may be personal data, so by default their digests stand there. */
public final class LockLog {

    private static final Log log = LogFactory.getLog("io.github.lockboot.redis.RedisLock");

    private volatile boolean inTheClear;

    /** Has names themselves written, on one line each. */
    public void writeNames() {
        inTheClear = true;
    }

    public void notAcquired(String name) {
        if (log.isDebugEnabled()) {
            log.debug("Lock not acquired, another held it: " + shown(name));
        }
    }

    public void unavailable(String name, String reason) {
        if (log.isDebugEnabled()) {
            log.debug("Lock unavailable: " + shown(name) + ": " + reason);
        }
    }

    public void lost(Hold hold, @Nullable Throwable stuckAt) {
        String text = "Lock lost: " + shown(hold.name()) + ", fencing token " + hold.fencingToken() + ": "
                + hold.lossReason();
        if (stuckAt != null) {
            log.warn(text, stuckAt);
        } else {
            log.warn(text);
        }
    }

    /** Something should have gone on, and was made to. */
    public void overlooked(String name, String what) {
        log.error("Lock engine: " + what + " had come to a halt and goes on: " + shown(name));
    }

    public static void callbackFailed(Throwable failure) {
        log.warn("A callback for a lost lock failed", failure);
    }

    private String shown(String name) {
        return inTheClear ? "name " + LockNames.printable(name) : "name digest " + LockNames.digest(name);
    }
}
