package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.github.lockboot.StaleTokenException;
import io.github.lockboot.redis.connection.BlockingScripts;
import io.github.lockboot.redis.protocol.CommandNumbers.ForeignReplyException;
import io.github.lockboot.redis.protocol.LuaScript;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Values in Redis that the holder of a lock can no longer change after it has lost the lock.
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
 * <p>Value and token lie together in one key, a hash with the fields {@code value} and {@code token}, and are compared and set
 * by one script; so this works on a Cluster, and cannot be undone half. It holds as far as Redis keeps what it was
 * told: a failover may lose the newest write with its token.
 *
 * <p>With the key the token is forgotten. The time to live must therefore be longer than a holder may be late: than the longest
 * pause of a process that is to be refused afterwards.
 *
 * <p>Thread-safe. Blocks as long as the connection factory lets a command take.
 */
public final class RedisFence {

    private static final String VALUE = "value";
    private static final String STALE = "STALE ";

    private final StringRedisTemplate redis;
    private final BlockingScripts scripts;

    /** @param connectionFactory where the values are, used as it is; it stays the caller's */
    public RedisFence(RedisConnectionFactory connectionFactory) {
        this.redis = new StringRedisTemplate(connectionFactory);
        this.scripts = new BlockingScripts(connectionFactory);
    }

    /**
     * Sets the value if the token is the largest that the key has seen, or that one again.
     *
     * @param key as it is in Redis, nothing is put before it
     * @param value to be set
     * @param token {@link io.github.lockboot.NamedLock#fencingToken()} or {@link io.github.lockboot.Lease#fencingToken()}
     * @param timeToLive how long from now the key lasts, value and token, at least 1 ms, at most 100 years
     * @throws StaleTokenException if a larger token has been seen; the key is unchanged
     * @throws IllegalArgumentException if the token is not positive, or the time to live is out of its bounds
     * @throws IllegalStateException inside a transaction or pipeline of the connection, where Redis does not answer yet
     * @throws org.springframework.dao.DataAccessException if Redis fails or the key has another type; after a timeout, or if the
     *     reply to another command came, the value may have been set
     */
    public void set(String key, String value, long token, Duration timeToLive) {
        if (token <= 0) {
            throw new IllegalArgumentException("token is " + token + "; those of locks are positive");
        }
        if (timeToLive.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("timeToLive is " + timeToLive + "; it must be at least 1 ms");
        }
        if (timeToLive.compareTo(Duration.ofDays(36_500)) > 0) {
            throw new IllegalArgumentException("timeToLive is " + timeToLive + "; it must be at most 100 years");
        }
        String reply = answer(key, bytes(token), value.getBytes(StandardCharsets.UTF_8), bytes(timeToLive.toMillis()));
        if (reply == null) {
            throw new IllegalStateException("a fence cannot answer inside a transaction or pipeline of Redis");
        }
        if (reply.startsWith(STALE)) {
            throw new StaleTokenException(key, token, Long.parseLong(reply.substring(STALE.length())));
        }
    }

    private @Nullable String answer(String key, byte[]... arguments) {
        try {
            return scripts.run(LuaScript.FENCE, key, arguments);
        } catch (ForeignReplyException foreign) {
            throw new RedisSystemException("nobody knows whether the value was set", foreign);
        }
    }

    private static byte[] bytes(long number) {
        return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * {@return the value last set; null if there is none, or its time has passed}
     *
     * @param key as it is in Redis
     */
    public @Nullable String get(String key) {
        return redis.<String, String>opsForHash().get(key, VALUE);
    }
}
