package io.github.lockboot.redis.protocol;

import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/** Whether a failed command has run. */
public enum RedisFailure {

    /**
     * Redis refused the command, which may be sent again. An earlier copy may have run. Even this one may have run: an error has no
     * number, so it may belong to another command.
     */
    NOT_NOW,

    /** There was no connection: the client did not get the command. */
    NOT_SENT,

    /** The command may have run, may run later, or may never run. */
    UNKNOWN;

    public static final String NO_CONNECTION_FREE =
            "no connection in the pool of the Redis client was free; check its size, such as"
                    + " spring.data.redis.jedis.pool.max-active, and what keeps its connections";

    /** There is no connection; the cause says why. */
    public static final class NotConnectedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public NotConnectedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** Too few replicas have what Redis answered, or the append-only file does not. */
    public static final class NotAcknowledgedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public NotAcknowledgedException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** The lease of a grant was over before its caller could use it. */
    public static final class GrantedTooLateException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        public GrantedTooLateException(String message) {
            super(message, null, false, false); // it says how a grant ended, not where
        }
    }

    /** The keys of a script are not of one slot, as they have to be on a Cluster: the client did not get the command. */
    public static final class SeveralSlotsException extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    /** Redis 6.2 puts that of a command in a script at the end of a longer message. */
    private static final Pattern REFUSAL = Pattern.compile("(-?|.*@user_script: ?\\d+: -)"
            + "(LOADING|BUSY|OOM|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|MISCONF|MOVED|ASK|NOSCRIPT|CROSSSLOT)"
            + "( |$)");

    /** Of proxies that read which keys a script uses. */
    private static final Pattern SCRIPT_TEXT = Pattern.compile("\\bbad\\hlua\\hscript\\b");

    private static final Pattern SEVERAL_KEYS =
            Pattern.compile("(^|\\W)(TRYAGAIN|CROSSSLOT) |\\bkeys\\hmust\\h(be\\h)?in\\h(the\\h)?same\\hslot\\b|"
                    + SCRIPT_TEXT.pattern());

    /** Ahead of the first failure, which may come deep down a stack: a class whose initialization overflows it is lost for good. */
    static void load() {}

    public static RedisFailure of(@Nullable Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof NotConnectedException || t instanceof SeveralSlotsException) {
                return NOT_SENT;
            }
            String message = t.getMessage();
            if (message != null && REFUSAL.matcher(message).lookingAt()) {
                return NOT_NOW;
            }
        }
        return UNKNOWN;
    }

    /** Whether Redis, or a proxy before it, may have refused a script only because it has several keys. */
    public static boolean isOfSeveralKeys(@Nullable Throwable failure) {
        return says(SEVERAL_KEYS, failure);
    }

    /** Whether a proxy before Redis refuses the text of a script. */
    public static boolean isOfScriptText(Throwable failure) {
        return says(SCRIPT_TEXT, failure);
    }

    private static boolean says(Pattern words, @Nullable Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (words.matcher(String.valueOf(t.getMessage())).find()) {
                return true;
            }
        }
        return false;
    }

    /** {@return why a question has no answer yet} */
    public static Throwable whyUnanswered(LockStore.Client client) {
        if (client.lacksConnection()) {
            return noConnectionFree();
        }
        return client.isConnecting()
                ? new NotConnectedException("the connection to Redis is still being made", null)
                : new TimeoutException("Redis has not answered yet");
    }

    /** {@return the failure of a question that was not sent in time, because others use the connections of the client} */
    public static Throwable noConnectionFree() {
        return new TimeoutException(NO_CONNECTION_FREE);
    }

    /** Whether the server is a replica, which may have lost its master, or Lettuce knows of replicas only. */
    public static boolean isOfReplica(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("READONLY ")
                || message.startsWith("MASTERDOWN ")
                || message.startsWith("Master is currently unknown");
    }

    /** Whether the server, of a Cluster, knows no master of the key: it may have left the Cluster. */
    public static boolean isOfNoMaster(Throwable failure) {
        return String.valueOf(failure.getMessage()).startsWith("CLUSTERDOWN ");
    }
}
