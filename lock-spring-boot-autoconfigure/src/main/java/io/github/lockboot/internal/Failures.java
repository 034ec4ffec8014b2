package io.github.lockboot.internal;

import org.apache.commons.logging.Log;

/** Logs exceptions that no caller can handle, and formats the reason of others. */
public final class Failures {

    private static final Log log = Logs.of("io.github.lockboot");

    /** Causes may form a circle. */
    private static final int DEEPEST_CAUSE = 20;

    private Failures() {}

    /**
     * {@return the message of the failure and, if it says more, of the innermost cause, for readers of the first line}
     */
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
    public static void log(String where, Throwable thrown) {
        try {
            log.error("Unexpected failure " + where, thrown);
        } catch (Throwable thrownHereToo) {
            // the caller continues
        }
    }

    /** Runs an action whose failure costs only time, and logs the failure. */
    public static void runAndLog(String where, Runnable action) {
        try {
            action.run();
        } catch (Throwable thrown) {
            log(where, thrown);
        }
    }
}
