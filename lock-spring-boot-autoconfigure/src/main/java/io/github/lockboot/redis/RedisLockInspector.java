package io.github.lockboot.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.LockKind;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.Reply.Holder;
import io.github.lockboot.engine.Reply.Shown;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.connection.Connections;
import io.github.lockboot.redis.protocol.ScriptStore;

/** Shows the state of a registry and of its locks to operators. Thread-safe. */
public final class RedisLockInspector {

    private static final String FORCED = "it was released by force";

    private final Supplier<ScriptStore> store;
    private final Supplier<LockEngine> engine;
    private final IntSupplier inUse;
    private final Supplier<String> session;

    /** @param inUse as {@link #inUse}; it does not make the engine */
    RedisLockInspector(
            Supplier<ScriptStore> store, Supplier<LockEngine> engine, IntSupplier inUse, Supplier<String> session) {
        this.store = store;
        this.engine = engine;
        this.inUse = inUse;
        this.session = session;
    }

    /** Whether Redis notifies waiters of this registry. */
    public enum Notification {

        /**
         * There was no waiter yet, and {@link RedisLockRegistry#connect} was not called, so the channel is not
         * subscribed.
         */
        UNUSED,

        /** The channel is subscribed. */
        LIVE,

        /** The channel is interrupted. Waiters only poll. */
        CUT
    }

    /**
     * Identifies this registry. The ids of its holders and waiters in Redis begin with these characters, the line that
     * it logs at the start has them, and the names of its own connections end with them, as {@code CLIENT LIST} shows.
     *
     * @return the first characters of the session, which begins with the first use of the registry
     */
    public String session() {
        return Connections.shown(session.get());
    }

    /**
     * Sends a command to Redis on the connection of locks, without changing anything.
     *
     * @return whether Redis notifies waiters
     * @throws LockUnavailableException if Redis did not answer
     */
    public Notification check() {
        engine.get().show("health");
        GrantChannel channel = engine.get().channel();
        if (channel.isLive()) {
            return Notification.LIVE;
        }
        return channel.isOpened() ? Notification.CUT : Notification.UNUSED;
    }

    /**
     * Counts the names that are held or waited for, the acquisition ids under way, and the leases that are renewed, in
     * this registry. Sends no command.
     *
     * @return the sum: 0 once all locks are released and Redis has answered
     */
    public int inUse() {
        return inUse.getAsInt();
    }

    /**
     * Reads the key of a lock in Redis for display: {@code keyType}, which is {@code lock} or {@code foreign}, and
     * {@code keyExpiresInMs}. Of a lock also {@code state}, the text that is stored, {@code grantNumber}, the number of
     * the newest grant, {@code waiters}, how many registries wait, and {@code holders}, the list of the holders whose
     * leases have not expired, in the order of their grants. Each is a map with {@code holderId}, {@code mode},
     * {@code permits} if it has one of several, {@code grantNumber}, {@code ttl} and {@code until}.
     *
     * @param name the name of the lock
     * @return the state; empty if there is no such key
     * @throws IllegalArgumentException if the name is not valid
     * @throws LockUnavailableException if Redis did not answer
     */
    public Map<String, Object> stateOf(String name) {
        Shown shown = shown(name);
        if (shown.leftMillis() == Shown.NO_KEY) {
            return Map.of();
        }
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("keyType", shown.isForeign() ? "foreign" : "lock");
        state.put("keyExpiresInMs", shown.leftMillis());
        if (!shown.isForeign()) {
            state.put("state", shown.text());
            state.put("grantNumber", shown.grantNumber());
            state.put("waiters", shown.waiters());
            state.put(
                    "holders",
                    shown.holders().stream().map(RedisLockInspector::stateOf).toList());
        }
        return state;
    }

    private static Map<String, Object> stateOf(Holder holder) {
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("holderId", holder.id());
        state.put("mode", holder.kind() == LockKind.SHARED ? Mode.SHARED : Mode.EXCLUSIVE);
        if (holder.kind() == LockKind.LIMITED) {
            state.put("permits", holder.permits());
        }
        state.put("grantNumber", holder.grantNumber());
        state.put("ttl", Duration.ofMillis(holder.ttlMillis()));
        state.put("until", Instant.ofEpochMilli(holder.untilMillis()));
        return state;
    }

    /**
     * Ends the hold of any holder, in any instance. The first waiters that may hold the lock then get it. A holder in
     * this process has lost the lock before this method returns, whichever registry it uses. A holder in another
     * process notices the loss at its next renewal, which comes at once where Redis announces changes, or by its
     * fencing token. Of an instance that holds the lock shared, all readers lose it.
     *
     * @param name the name of the lock
     * @param holderId the id of one of the holders that {@link #stateOf(String)} shows
     * @return false if no holder has this id
     * @throws IllegalArgumentException if the name is not valid
     * @throws LockUnavailableException if Redis did not answer; the hold may have ended, and if not, ends with its
     *     lease if the holder is in this process
     */
    public boolean forceRelease(String name, String holderId) {
        for (Holder holder : shown(name).holders()) {
            if (holder.id().equals(holderId)) {
                // First: another may have the lock before Redis has answered. It may then be the holder's registry that
                // ends it.
                boolean here = LockEngine.revokeInProcess(holderId, FORCED);
                CompletableFuture<Reply> released = store.get().release(name, holderId, holder.lastToken(), null);
                Reply reply = engine.get().answer(name, released);
                return here || reply != Reply.Plain.NOT_HOLDER;
            }
        }
        return false;
    }

    private Shown shown(String name) {
        return engine.get().show(LockNames.valid(name));
    }
}
