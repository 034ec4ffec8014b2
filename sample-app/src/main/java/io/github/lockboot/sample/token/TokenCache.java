package io.github.lockboot.sample.token;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/** The token that all instances share, in Redis, and counters of what happened to it. */
@Component
class TokenCache {

    private static final String TOKEN = "token";
    private static final String STATS = "token:stats";
    private static final Duration VALID = Duration.ofHours(2);

    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;

    TokenCache(StringRedisTemplate redis) {
        this.redis = redis;
        this.hashes = redis.opsForHash();
    }

    @Nullable
    String get() {
        return redis.opsForValue().get(TOKEN);
    }

    void put(String token) {
        redis.opsForValue().set(TOKEN, token, VALID);
    }

    /** @return whether there was one */
    boolean remove() {
        return redis.delete(TOKEN);
    }

    void count(String what) {
        hashes.increment(STATS, what, 1);
        redis.expire(STATS, Duration.ofDays(1));
    }

    long counted(String what) {
        String count = hashes.get(STATS, what);
        return count == null ? 0 : Long.parseLong(count);
    }

    void resetCounts() {
        redis.delete(STATS);
    }
}
