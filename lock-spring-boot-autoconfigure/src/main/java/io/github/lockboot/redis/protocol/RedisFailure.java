package io.github.lockboot.redis.protocol;

import java.util.Objects;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import org.jspecify.annotations.Nullable;

/** Classifies the errors of Redis, and of proxies in front of it, by their texts. */
public final class RedisFailure {

    public static final String NO_CONNECTION_FREE =
            "no connection in the pool of the Redis client was available; check the pool size, such as"
                    + " spring.data.redis.jedis.pool.max-active, and who holds its connections";

    /** For a client that does not report which of the two happened. */
    public static final String NO_ANSWER_OR_NO_CONNECTION = "Redis did not answer in time, or " + NO_CONNECTION_FREE;

    /** If a command in a script is refused, Redis 6.2 puts the refusal at the end of a longer message. */
    private static final Pattern REFUSAL = Pattern.compile("(-?|.*@user_script: ?\\d+: -)"
            + "(LOADING|BUSY|OOM|READONLY|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|TRYAGAIN|MISCONF|MOVED|ASK|NOSCRIPT)"
            + "( |$)");

    /** From proxies that read a script to find its keys. */
    private static final Pattern SCRIPT_TEXT = Pattern.compile("\\bbad\\hlua\\hscript\\b");

    private RedisFailure() {}

    /**
     * Loads this class before the first failure: a class whose initialization overflows the stack is unusable from then
     * on.
     */
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

    /** Whether a proxy in front of Redis refuses the text of a script. */
    public static boolean isOfScriptText(Throwable failure) {
        return anyMessage(failure, message -> SCRIPT_TEXT.matcher(message).find());
    }

    /** Whether a node of a Cluster refers to another node. */
    public static boolean isOfRedirection(Throwable failure) {
        return anyMessage(failure, message -> message.startsWith("MOVED ") || message.startsWith("ASK "));
    }

    /** Of the failure and its causes. */
    private static boolean anyMessage(Throwable failure, Predicate<String> which) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .map(each -> String.valueOf(each.getMessage()))
                .anyMatch(which);
    }

    /** Whether the server is a replica, which may have lost its master, or Lettuce only knows replicas. */
    public static boolean isOfReplica(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        return message.contains("READONLY ")
                || message.startsWith("MASTERDOWN ")
                || message.startsWith("Master is currently unknown");
    }

    /** Whether the server of a Cluster knows no master of the key: the server may have left the Cluster. */
    public static boolean isOfNoMaster(Throwable failure) {
        return String.valueOf(failure.getMessage()).startsWith("CLUSTERDOWN ");
    }
}
