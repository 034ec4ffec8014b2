package io.github.lockboot.redis.protocol;

import java.util.concurrent.CompletableFuture;

/**
 * Runs scripts without blocking the caller. A returned future completes within the command timeout, on a thread that must not
 * be blocked. If it fails, the script may have run, may run later, or may never run. A reply always belongs to its own call.
 */
public interface ScriptRunner extends AutoCloseable {

    /** A script to run on one key. */
    record Call(LuaScript script, byte[] key, byte[]... arguments) {}

    CompletableFuture<Reply> run(Call call);

    /**
     * Changes whenever commands in flight may have been sent twice. If it has not changed since a command was sent, the reply is
     * that to the first copy.
     */
    long epoch();

    @Override
    void close();
}
