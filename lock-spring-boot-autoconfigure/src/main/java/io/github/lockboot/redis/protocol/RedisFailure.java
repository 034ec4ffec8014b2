package io.github.lockboot.redis.protocol;

import java.util.Set;

import org.jspecify.annotations.Nullable;

/** What a failed command says about whether it ran. */
public enum RedisFailure {

    /**
     * Redis refused this copy of the command, for now: the same command may be sent again. An earlier copy may have run; and since an error
     * has no number, this one too, if the refusal was another command's.
     */
    NOT_NOW,

    /** It was not given to the client, as there was no connection. */
    NOT_SENT,

    /** It may have run, may run later, or never. */
    UNKNOWN;

    /** Says that there is no connection, and why. */
    public static final class NotConnectedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public NotConnectedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    private static final Set<String> REFUSALS = Set.of(
            "LOADING",
            "BUSY",
            "OOM",
            "READONLY",
            "MASTERDOWN",
            "NOREPLICAS",
            "CLUSTERDOWN",
            "TRYAGAIN",
            "MISCONF",
            "MOVED",
            "ASK",
            "NOSCRIPT");

    public static RedisFailure of(@Nullable Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof NotConnectedException) {
                return NOT_SENT;
            }
            String message = t.getMessage();
            if (message != null && REFUSALS.contains(firstWord(message))) {
                return NOT_NOW;
            }
        }
        return UNKNOWN;
    }

    /** Whether it says that the server is no master; Redis 6.2 puts what a script was refused with at the end of a longer message. */
    public static boolean isOfReplica(Throwable failure) {
        return String.valueOf(failure.getMessage()).contains("READONLY ");
    }

    private static String firstWord(String message) {
        int start = message.startsWith("-") ? 1 : 0;
        int end = message.indexOf(' ', start);
        return end < 0 ? message.substring(start) : message.substring(start, end);
    }
}
