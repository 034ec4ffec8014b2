package io.github.lockboot.redis;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** What operators want to know of the locks of a registry, or to do to them. Thread-safe. */
public final class RedisLockInspector {

    /** All there are; asked for with the commands that locks may use anyway. */
    private static final List<String> FIELDS = List.of("owner", "ttl", "until", "fence", "queue", "looked", "excused");

    private final Supplier<? extends RedisConnectionFactory> factory;
    private final LockStore store;
    private final LockEngine engine;

    RedisLockInspector(Supplier<? extends RedisConnectionFactory> factory, LockEngine engine) {
        this.factory = factory;
        this.store = engine.store();
        this.engine = engine;
    }

    /** Whether Redis notifies waiters. */
    public enum Notification {

        /** Nobody has waited yet, so the channel has not been asked for. */
        UNUSED,

        /** The channel is subscribed to. */
        LIVE,

        /** The channel is cut: waiters only poll. */
        CUT
    }

    /**
     * Asks Redis the way locks do, changing nothing.
     *
     * @return whether waiters are notified
     * @throws LockUnavailableException if Redis could not be asked
     */
    public Notification check() {
        answer("health", store.inspect("health"));
        if (engine.channel().isLive()) {
            return Notification.LIVE;
        }
        return engine.channel().isOpened() ? Notification.CUT : Notification.UNUSED;
    }

    /**
     * How much of the registry is in use, without asking Redis: each name that is held or waited for, each acquisition id under way
     * and each lease that is renewed counts as one.
     *
     * @return 0 once all locks are released and Redis has answered
     */
    public int inUse() {
        return engine.inUse();
    }

    /**
     * The key of a lock as it lies in Redis: its type, how long it stays, and the fields of its hash, for display.
     *
     * @param name of the lock
     * @return empty if there is none
     * @throws IllegalArgumentException if no lock may have the name
     * @throws LockUnavailableException if Redis could not be asked
     */
    public Map<String, String> stateOf(String name) {
        String key = store.keyOf(LockNames.valid(name));
        try {
            StringRedisTemplate template = new StringRedisTemplate(factory.get());
            DataType type = template.type(key);
            if (type == null || type == DataType.NONE) {
                return Map.of();
            }
            Map<String, String> state = new LinkedHashMap<>();
            state.put("key-type", type.code());
            state.put("key-expires-in-ms", String.valueOf(template.getExpire(key, TimeUnit.MILLISECONDS)));
            if (type == DataType.HASH) {
                List<@Nullable String> values =
                        template.<String, String>opsForHash().multiGet(key, FIELDS);
                for (int i = 0; i < FIELDS.size(); i++) {
                    String value = values.get(i);
                    if (value != null) {
                        state.put(FIELDS.get(i), value);
                    }
                }
            }
            return state;
        } catch (DataAccessException failure) {
            throw new LockUnavailableException(name, LockEngine.NO_ANSWER, failure);
        }
    }

    /**
     * Releases a lock over its holder's head: the first in the queue gets it, and the holder learns of the loss at its next
     * renewal, or from the fencing token.
     *
     * @param name of the lock
     * @param ownerId the id of the holder, as {@link #stateOf} tells it
     * @return false if another holds the lock, or nobody
     * @throws IllegalArgumentException if no lock may have the name
     * @throws LockUnavailableException if Redis could not be asked
     */
    public boolean forceRelease(String name, String ownerId) {
        Reply held = answer(name, store.inspect(LockNames.valid(name)));
        if (!(held instanceof Reply.Held mine) || !mine.owner().equals(ownerId)) {
            return false;
        }
        Reply reply = answer(name, store.unlock(name, ownerId, mine.fence() + LuaScript.TOKENS_PER_GRANT - 1));
        return !(reply instanceof Reply.NotOwner);
    }

    private static Reply answer(String name, CompletableFuture<Reply> asked) {
        try {
            return asked.join();
        } catch (CompletionException failure) {
            throw new LockUnavailableException(name, LockEngine.NO_ANSWER, Futures.unwrap(failure));
        }
    }
}
