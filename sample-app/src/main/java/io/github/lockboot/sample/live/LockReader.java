package io.github.lockboot.sample.live;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.RedisServerCommands;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import static java.util.Comparator.comparingLong;

/** Reads locks from Redis, by the fields that docs/design.md describes. For display only: no decision may depend on it. */
@Component
class LockReader {

    private static final Pattern WAITER = Pattern.compile("\\[\"([^\"]+)-[^\"-]+\",");
    private static final Pattern HOLDER = Pattern.compile(WAITER + "(\\d+),(\\d+),(-?\\d+),");

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
            return new LockView(scenario, lock, List.of(), 0, "", 0, 0, List.of());
        }
        Map<String, String> field = hashes.entries(keyPrefix + lock);
        long now = now();
        List<Holder> holders =
                holders(field).filter(holder -> holder.until > now).toList();
        Holder first = holders.stream().min(comparingLong(Holder::until)).orElse(Holder.NONE);
        return new LockView(
                scenario,
                lock,
                holders.stream().map(holder -> instanceOf.apply(holder.session)).toList(),
                first.kind,
                field.getOrDefault("token", field.getOrDefault("fence", "")),
                Math.max(first.until - now, 0),
                first.ttl,
                WAITER.matcher(field.getOrDefault("queue", ""))
                        .results()
                        .map(waiter -> instanceOf.apply(waiter.group(1)))
                        .toList());
    }

    private static Stream<Holder> holders(Map<String, String> field) {
        String owner = field.get("owner");
        return owner == null
                ? HOLDER.matcher(field.getOrDefault("holders", "")).results().map(Holder::of)
                : Stream.of(new Holder(session(owner), number(field.get("ttl")), number(field.get("until")), 0));
    }

    private static long number(@Nullable String text) {
        return text == null ? 0 : Long.parseLong(text);
    }

    private record Holder(String session, long ttl, long until, int kind) {

        static final Holder NONE = new Holder("", 0, 0, 0);

        static Holder of(MatchResult found) {
            return new Holder(
                    found.group(1), number(found.group(2)), number(found.group(3)), Integer.parseInt(found.group(4)));
        }
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
