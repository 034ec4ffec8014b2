package io.github.lockboot.redis;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Reply;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Shows the state of a registry and of its locks to operators. Thread-safe. */
public final class RedisLockInspector {

    /** The text of a lock: its format and fence, and the id, ttl and end of the lease of its first holder. */
    private static final Pattern LOCK =
            Pattern.compile("\\[\\d+,\"(\\d+)\"(?:,\\[(?:\\[\"([^\"\\\\]+)\",(\\d+),(\\d+),.*)?)?]", Pattern.DOTALL);

    private static final List<String> FIELDS = List.of("fence", "owner", "ttl", "until");
    private static final long NO_KEY = -2;

    private final Supplier<? extends RedisConnectionFactory> factory;
    private final ScriptStore store;
    private final LockEngine engine;

    RedisLockInspector(Supplier<? extends RedisConnectionFactory> factory, ScriptStore store, LockEngine engine) {
        this.factory = factory;
        this.store = store;
        this.engine = engine;
    }

    /** Whether Redis notifies waiters of this registry. */
    public enum Notification {

        /** There was no waiter yet, and {@link RedisLockRegistry#connect} was not called, so the channel is not subscribed. */
        UNUSED,

        /** The channel is subscribed. */
        LIVE,

        /** The channel is interrupted. Waiters only poll. */
        CUT
    }

    /**
     * Asks Redis over the connection of locks, without changing anything.
     *
     * @return whether Redis notifies waiters
     * @throws LockUnavailableException if Redis did not answer
     */
    public Notification check() {
        answer("health", store.inspect("health"));
        if (engine.channel().isLive()) {
            return Notification.LIVE;
        }
        return engine.channel().isOpened() ? Notification.CUT : Notification.UNUSED;
    }

    /**
     * Counts the names that are held or waited for, the acquisition ids under way, and the leases that are renewed, in this registry.
     * Does not ask Redis.
     *
     * @return the sum: 0 once all locks are released and Redis has answered
     */
    public int inUse() {
        return engine.inUse();
    }

    /**
     * Reads the key of a lock in Redis for display: {@code key-type}, which is {@code lock} or {@code foreign}, and its time to
     * live. Of a lock also the text that is stored, and its parts {@code fence}, {@code owner}, {@code ttl} and {@code until};
     * the last three are those of the first holder.
     *
     * @param name the name of the lock
     * @return the state; empty if there is no such key
     * @throws IllegalArgumentException if the name is not valid
     * @throws LockUnavailableException if Redis did not answer
     */
    public Map<String, String> stateOf(String name) {
        String key = store.keyOf(LockNames.valid(name));
        boolean foreign = answer(name, store.inspect(name)) == Reply.Plain.FOREIGN;
        try {
            StringRedisTemplate template = new StringRedisTemplate(factory.get());
            Long left = template.getExpire(key, TimeUnit.MILLISECONDS);
            if (left == null || left == NO_KEY) {
                return Map.of();
            }
            Map<String, String> state = new LinkedHashMap<>();
            state.put("key-type", foreign ? "foreign" : "lock");
            state.put("key-expires-in-ms", left.toString());
            String text = foreign ? null : template.opsForValue().get(key); // a foreign value may be a secret
            Matcher lock = LOCK.matcher(text != null ? text : "");
            if (lock.matches()) {
                state.put("state", lock.group());
                for (int i = 0; i < FIELDS.size(); i++) {
                    String field = lock.group(i + 1);
                    if (field != null) {
                        state.put(FIELDS.get(i), field);
                    }
                }
            }
            return state;
        } catch (DataAccessException failure) {
            throw new LockUnavailableException(name, LockEngine.NO_ANSWER, failure);
        }
    }

    /**
     * Releases a lock that any instance holds. The first waiter gets it. The holder notices the loss at its next renewal, or by its
     * fencing token.
     *
     * @param name the name of the lock
     * @param ownerId the owner that {@link #stateOf} shows
     * @return false if this owner does not hold the lock
     * @throws IllegalArgumentException if the name is not valid
     * @throws LockUnavailableException if Redis did not answer
     */
    public boolean forceRelease(String name, String ownerId) {
        Reply held = answer(name, store.inspect(LockNames.valid(name)));
        if (!(held instanceof Reply.Held mine) || !mine.owner().equals(ownerId)) {
            return false;
        }
        Reply reply = answer(name, store.unlock(name, ownerId, mine.fence() + LockStore.TOKENS_PER_GRANT - 1));
        return reply != Reply.Plain.NOT_OWNER;
    }

    private static Reply answer(String name, CompletableFuture<Reply> asked) {
        try {
            return asked.join();
        } catch (CompletionException failure) {
            throw new LockUnavailableException(name, LockEngine.NO_ANSWER, Futures.unwrap(failure));
        }
    }
}
