package io.github.lockboot.redis.protocol;

import java.util.regex.Pattern;

import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import org.jspecify.annotations.Nullable;

/** What the errors of Redis, and of proxies before it, say of a command that failed. */
public final class RedisFailure {

    public static final String NO_CONNECTION_FREE =
            "no connection in the pool of the Redis client was free; check its size, such as"
                    + " spring.data.redis.jedis.pool.max-active, and what keeps its connections";

    /** For a client that shows neither. */
    public static final String NO_ANSWER_OR_NO_CONNECTION = "Redis did not answer in time, or " + NO_CONNECTION_FREE;

    /** Redis 6.2 puts that of a command in a script at the end of a longer message. */
    private static final Pattern REFUSAL = Pattern.compile("(-?|.*@user_script: ?\\d+: -)"
            + "(LOADING|BUSY|OOM|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|MISCONF|MOVED|ASK|NOSCRIPT)"
            + "( |$)");

    /** Of proxies that read which keys a script uses. */
    private static final Pattern SCRIPT_TEXT = Pattern.compile("\\bbad\\hlua\\hscript\\b");

    private RedisFailure() {}

    /** Ahead of the first failure, which may come deep down a stack: a class whose initialization overflows it is lost for good. */
    static void load() {}

    public static StoreFailure of(@Nullable Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (t instanceof NotConnectedException) {
                return StoreFailure.NOT_SENT;
            }
            String message = t.getMessage();
            if (message != null && REFUSAL.matcher(message).lookingAt()) {
                return StoreFailure.NOT_NOW;
            }
        }
        return StoreFailure.UNKNOWN;
    }

    /** Whether a proxy before Redis refuses the text of a script. */
    public static boolean isOfScriptText(Throwable failure) {
        for (Throwable t = failure; t != null; t = t.getCause()) {
            if (SCRIPT_TEXT.matcher(String.valueOf(t.getMessage())).find()) {
                return true;
            }
        }
        return false;
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
