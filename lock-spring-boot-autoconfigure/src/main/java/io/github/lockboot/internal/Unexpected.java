package io.github.lockboot.internal;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Logs failures that have no caller to go to. */
public final class Unexpected {

    private static final Log log = LogFactory.getLog("io.github.lockboot");

    private Unexpected() {}

    /** Never throws, not even if there is no memory left to write the line. */
    public static void failure(String where, Throwable thrown) {
        try {
            log.error("Unexpected failure " + where, thrown);
        } catch (Throwable thrownHereToo) {
            // the caller goes on all the same
        }
    }

    /** Runs an action whose failure costs only time, and logs the failure. */
    public static void attempt(String where, Runnable action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            failure(where, thrown);
        }
    }
}
