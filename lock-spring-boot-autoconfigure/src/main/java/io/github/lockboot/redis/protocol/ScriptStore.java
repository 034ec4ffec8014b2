package io.github.lockboot.redis.protocol;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.internal.Threads;
import org.jspecify.annotations.Nullable;

/** Locks in Redis: each question runs a script. */
public final class ScriptStore implements LockStore {

    /**
     * Runs scripts without blocking the caller. A future completes within the command timeout, on a thread that must not be blocked. If
     * it fails, the script may have run, may run later, or may never run. A reply always belongs to its own call.
     */
    public interface Runner {

        CompletableFuture<Reply> run(LuaScript script, String key, byte[]... arguments);

        /** As {@link LockStore#epoch()}. */
        long epoch();

        void close();
    }

    /** The stack that a client needs to send a command, of which Lettuce was measured to use 6. */
    private static final int CLIENT_KILOBYTES = 16;

    private static final String CLIENT = "client:";

    private final Runner runner;
    private final String keyPrefix;
    private final byte[] channels;
    private final byte[] poll;
    private final byte[] patience;
    private final long maxWaiters;

    public ScriptStore(Runner runner, String keyPrefix, Duration poll, Duration patience, int maxWaiters) {
        this.runner = runner;
        this.keyPrefix = keyPrefix;
        this.channels = bytes(keyPrefix + CLIENT);
        this.poll = bytes(poll.toMillis());
        this.patience = bytes(patience.toMillis());
        this.maxWaiters = maxWaiters;
    }

    /** The channel of a session: grants and hints. */
    public String channelOf(String session) {
        return keyPrefix + CLIENT + session;
    }

    public String completionChannel() {
        return keyPrefix + "flights";
    }

    public String keyOf(String name) {
        return keyPrefix + name;
    }

    @Override
    public @Nullable String nameOf(String key) {
        return key.length() > keyPrefix.length() && key.startsWith(keyPrefix)
                ? key.substring(keyPrefix.length())
                : null;
    }

    @Override
    public CompletableFuture<Reply> acquire(String name, String id, long ttlMillis, boolean enqueue) {
        return run(LuaScript.ACQUIRE, name, id, ttlMillis, enqueue ? 1 : 0, maxWaiters);
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken) {
        return unlock(name, id, lastToken, "", 0);
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken, String nextId, long nextTtlMillis) {
        return run(LuaScript.UNLOCK, name, id, lastToken, nextId, nextTtlMillis);
    }

    @Override
    public CompletableFuture<Reply> renew(String name, String id, long token, long ttlMillis) {
        return run(LuaScript.RENEW, name, id, token, ttlMillis);
    }

    @Override
    public CompletableFuture<Reply> cancel(String name, String id) {
        return run(LuaScript.CANCEL, name, id);
    }

    @Override
    public CompletableFuture<Reply> complete(String name, String id, long lastToken) {
        return run(LuaScript.COMPLETE, name, id, lastToken, completionChannel());
    }

    @Override
    public CompletableFuture<Reply> inspect(String name) {
        return run(LuaScript.INSPECT, name, "");
    }

    /** Publishes an empty message on the channel of the session. */
    public CompletableFuture<Reply> echo(String session) {
        return run(LuaScript.ECHO, CLIENT + session, channelOf(session));
    }

    @Override
    public long epoch() {
        return runner.epoch();
    }

    /** Passes the id, the arguments that all scripts have, and then the others. */
    private CompletableFuture<Reply> run(LuaScript script, String name, String id, Object... others) {
        try {
            Threads.requireStack(CLIENT_KILOBYTES);
            byte[][] arguments = new byte[4 + others.length][];
            arguments[0] = bytes(id);
            arguments[1] = channels;
            arguments[2] = poll;
            arguments[3] = patience;
            for (int i = 0; i < others.length; i++) {
                arguments[4 + i] = bytes(others[i]);
            }
            return runner.run(script, keyOf(name), arguments);
        } catch (Throwable failure) { // the command may have been sent all the same
            return CompletableFuture.failedFuture(failure);
        }
    }

    private static byte[] bytes(Object textOrNumber) {
        return textOrNumber.toString().getBytes(StandardCharsets.UTF_8);
    }
}
