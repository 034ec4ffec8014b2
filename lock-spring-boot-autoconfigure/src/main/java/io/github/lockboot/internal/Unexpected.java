package io.github.lockboot.internal;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Failures that have no caller to go to are logged, and others tell their reason. */
public final class Unexpected {

    private static final Log log = LogFactory.getLog("io.github.lockboot");

    /** Causes may form a circle. */
    private static final int DEEPEST_CAUSE = 20;

    private Unexpected() {}

    /** {@return what the failure says, and the innermost cause that says more, for those who see the first line only} */
    public static String reasonOf(Throwable failure) {
        String first = messageOf(failure);
        String last = first;
        Throwable each = failure.getCause();
        for (int depth = 0; each != null && depth < DEEPEST_CAUSE; depth++, each = each.getCause()) {
            last = last.contains(messageOf(each)) ? last : messageOf(each);
        }
        return last.equals(first) ? first : first + ": " + last;
    }

    private static String messageOf(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }

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
