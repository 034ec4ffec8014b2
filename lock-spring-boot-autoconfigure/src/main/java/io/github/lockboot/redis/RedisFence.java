package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.github.lockboot.StaleTokenException;
import io.github.lockboot.redis.connection.BlockingScripts;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.LuaScript.ForeignReplyException;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Writes values to Redis with fencing tokens. Once a later holder of the lock has written a value, earlier holders
 * cannot change it.
 *
 * <pre>{@code
 * lock.lock();
 * try {
 *     fence.set("price:" + sku, price, lock.fencingToken(), Duration.ofHours(1));
 * } finally {
 *     lock.unlock();
 * }
 * }</pre>
 *
 * <p>One key holds value and token, as a hash with the fields {@code value} and {@code token}, and one script compares
 * and sets them. So this works on a Cluster, and a write is never applied in part. A failover may lose the latest write
 * together with its token.
 *
 * <p>The token expires with the key. The time to live must therefore be longer than the longest pause of a process
 * whose late write must be rejected.
 *
 * <p>Thread-safe. Blocks until Redis answers, for as long as the connection factory allows.
 */
public final class RedisFence {

    private static final String STALE = "STALE ";

    /** A replica refuses to delete even a field that no key has. */
    private static final String NO_FIELD = "";

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final StringRedisTemplate redis;

    /** @param connectionFactory the connections to use; the fence does not close it */
    public RedisFence(RedisConnectionFactory connectionFactory) {
        this.redis = new StringRedisTemplate(connectionFactory);
    }

    /**
     * Sets the value unless the key has seen a larger token.
     *
     * @param key the key in Redis, without any prefix added
     * @param value the value to set
     * @param token {@link io.github.lockboot.NamedLock#fencingToken()} or
     *     {@link io.github.lockboot.Lease#fencingToken()}
     * @param timeToLive the time to live of the key, from 1 ms to 100 years
     * @throws StaleTokenException if a larger token has been seen; the key is unchanged
     * @throws IllegalArgumentException if the token is not positive, or the time to live is out of range
     * @throws IllegalStateException inside a transaction or pipeline of the connection, which delays the reply
     * @throws org.springframework.dao.DataAccessException if Redis fails or the key has another type; after a timeout,
     *     or after the reply to another command, the value may have been set
     */
    public void set(String key, String value, long token, Duration timeToLive) {
        if (token <= 0) {
            throw new IllegalArgumentException(
                    "token is " + token + "; pass the fencing token of the lock, which is positive");
        }
        if (timeToLive.compareTo(SHORTEST) < 0 || timeToLive.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("timeToLive is " + timeToLive + "; it must be from 1 ms to 100 years");
        }
        String reply;
        try {
            reply = BlockingScripts.answer(
                    redis,
                    () -> true,
                    LuaScript.FENCE,
                    key,
                    bytes(token),
                    value.getBytes(StandardCharsets.UTF_8),
                    bytes(timeToLive.toMillis()));
        } catch (ForeignReplyException foreign) {
            throw new RedisSystemException(
                    "the reply of Redis was lost, so it is unknown whether the value was set: set it again", foreign);
        }
        if (reply == null) {
            throw new IllegalStateException(
                    "a fence cannot be used inside a transaction or pipeline of Redis: call it outside");
        }
        if (reply.startsWith(STALE)) {
            throw new StaleTokenException(key, token, Long.parseLong(reply.substring(STALE.length())));
        }
    }

    private static byte[] bytes(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * {@return the value; null if there is none or it has expired}
     *
     * @param key the key in Redis
     * @throws org.springframework.dao.DataAccessException if Redis fails, or is a replica without the key, which its
     *     master may have
     */
    public @Nullable String get(String key) {
        HashOperations<String, String, String> hashes = redis.opsForHash();
        String value = hashes.get(key, "value");
        if (value == null) {
            hashes.delete(key, NO_FIELD);
        }
        return value;
    }
}
