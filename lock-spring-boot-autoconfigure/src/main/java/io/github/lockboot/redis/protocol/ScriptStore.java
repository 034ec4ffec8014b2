package io.github.lockboot.redis.protocol;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/** Locks in Redis: each question runs a script. */
public final class ScriptStore implements LockStore {

    private static final String CLIENT = "client:";
    private static final byte[] YES = bytes(1);
    private static final byte[] NO = bytes(0);
    private static final byte[] NONE = {};

    private final ScriptRunner runner;
    private final String keyPrefix;
    private final String channelPrefix;
    private final String completionChannel;
    private final byte[] channels;
    private final byte[] poll;
    private final byte[] patience;
    private final byte[] maxWaiters;

    public ScriptStore(ScriptRunner runner, String keyPrefix, Duration poll, Duration patience, int maxWaiters) {
        this.runner = runner;
        this.keyPrefix = keyPrefix;
        this.channelPrefix = keyPrefix + CLIENT;
        this.completionChannel = keyPrefix + "flights";
        this.channels = bytes(channelPrefix);
        this.poll = bytes(poll.toMillis());
        this.patience = bytes(patience.toMillis());
        this.maxWaiters = bytes(maxWaiters);
    }

    /** The channel on which Redis publishes the grants of a session. */
    public String channelOf(String session) {
        return channelPrefix + session;
    }

    /** The channel on which Redis publishes that a holder has completed. */
    public String completionChannel() {
        return completionChannel;
    }

    /** The key of a lock. */
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
        return run(LuaScript.ACQUIRE, name, bytes(id), bytes(ttlMillis), enqueue ? YES : NO, maxWaiters);
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken) {
        return run(LuaScript.UNLOCK, name, bytes(id), bytes(lastToken), NONE, NO);
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken, String nextId, long nextTtlMillis) {
        return run(LuaScript.UNLOCK, name, bytes(id), bytes(lastToken), bytes(nextId), bytes(nextTtlMillis));
    }

    @Override
    public CompletableFuture<Reply> renew(String name, String id, long token, long ttlMillis) {
        return run(LuaScript.RENEW, name, bytes(id), bytes(token), bytes(ttlMillis));
    }

    @Override
    public CompletableFuture<Reply> cancel(String name, String id) {
        return run(LuaScript.CANCEL, name, bytes(id));
    }

    @Override
    public CompletableFuture<Reply> complete(String name, String id, long lastToken) {
        return run(LuaScript.COMPLETE, name, bytes(id), bytes(lastToken), bytes(completionChannel));
    }

    @Override
    public CompletableFuture<Reply> inspect(String name) {
        return run(LuaScript.INSPECT, name, NONE);
    }

    /** Publishes an empty message on the channel of the session. */
    public CompletableFuture<Reply> echo(String session) {
        return run(LuaScript.ECHO, CLIENT + session, bytes(channelOf(session)));
    }

    @Override
    public long epoch() {
        return runner.epoch();
    }

    private CompletableFuture<Reply> run(LuaScript script, String name, byte[] id, byte[]... more) {
        try {
            StackReserve.checkForClient();
            byte[][] arguments = new byte[4 + more.length][];
            arguments[0] = id;
            arguments[1] = channels;
            arguments[2] = poll;
            arguments[3] = patience;
            System.arraycopy(more, 0, arguments, 4, more.length);
            return runner.run(new ScriptRunner.Call(script, bytes(keyOf(name)), arguments));
        } catch (Throwable failure) { // even then the command may have been sent
            return CompletableFuture.failedFuture(failure);
        }
    }

    private static byte[] bytes(long number) {
        return bytes(Long.toString(number));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
