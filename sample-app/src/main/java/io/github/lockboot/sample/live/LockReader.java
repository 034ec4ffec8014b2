package io.github.lockboot.sample.live;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/** Reads locks from Redis, by the fields that docs/design.md describes. For display only: no decision may depend on it. */
@Component
class LockReader {

    private static final Pattern WAITER = Pattern.compile("\\[\"([^\"]+)-[^\"-]+\",");

    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;
    private final String keyPrefix;

    LockReader(StringRedisTemplate redis, @Value("${lock.key-prefix:lock:}") String keyPrefix) {
        this.redis = redis;
        this.hashes = redis.opsForHash();
        this.keyPrefix = keyPrefix;
    }

    /** The session under which the lock is held; empty if it is not. */
    String sessionOf(String lock) {
        return session(hashes.get(keyPrefix + lock, "owner"));
    }

    /** @param instanceOf the name of the instance that has a session */
    LockView read(String scenario, String lock, UnaryOperator<String> instanceOf) {
        if (redis.type(keyPrefix + lock) != DataType.HASH) {
            return new LockView(scenario, lock, "", "", 0, 0, List.of());
        }
        Map<String, String> field = hashes.entries(keyPrefix + lock);
        long left = Long.parseLong(field.getOrDefault("until", "0")) - now();
        String owner = left > 0 ? session(field.get("owner")) : "";
        List<String> queue = WAITER.matcher(field.getOrDefault("queue", ""))
                .results()
                .map(waiter -> instanceOf.apply(waiter.group(1)))
                .toList();
        return new LockView(
                scenario,
                lock,
                owner.isEmpty() ? "" : instanceOf.apply(owner),
                field.getOrDefault("fence", ""),
                Math.max(left, 0),
                Long.parseLong(field.getOrDefault("ttl", "0")),
                queue);
    }

    private long now() {
        Long millis = redis.execute((RedisCallback<Long>) connection -> time(connection.serverCommands()));
        return millis == null ? System.currentTimeMillis() : millis;
    }

    private static @Nullable Long time(RedisServerCommands server) {
        return server.time();
    }

    private static String session(@Nullable String id) {
        return id == null ? "" : id.substring(0, id.lastIndexOf('-'));
    }
}
