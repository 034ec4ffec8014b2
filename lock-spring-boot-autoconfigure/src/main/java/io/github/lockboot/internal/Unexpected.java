package io.github.lockboot.internal;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Logs failures that no caller is there to get. */
public final class Unexpected {

    private static final Log log = LogFactory.getLog("io.github.lockboot");

    private Unexpected() {}

    /** Throws nothing itself: there may be no memory left to write a line with. */
    public static void failure(String where, Throwable thrown) {
        try {
            log.error("Unexpected failure " + where, thrown);
        } catch (Throwable thrownHereToo) {
            // the caller goes on all the same
        }
    }
}
