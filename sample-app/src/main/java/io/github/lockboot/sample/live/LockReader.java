package io.github.lockboot.sample.live;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import static java.util.Comparator.comparingLong;
import static java.util.Objects.requireNonNull;

/** Reads locks from Redis, as docs/design.md describes their text. For display only: no decision may depend on it. */
@Component
class LockReader {

    private static final Pattern LOCK =
            Pattern.compile("\\[\\d+,\"(\\d+)\"(?:,(\\[.*?])(?:,\"(\\d*)\"(?:,\\d+,\\d+,(\\[.*]))?)?)?]");
    private static final Pattern WAITER = Pattern.compile("\\[\"([^\"]+)-[^\"-]+\",");
    private static final Pattern HOLDER = Pattern.compile(WAITER + "(\\d+),(\\d+),(-?\\d+)");

    /** Begins the session of a transferred lease, until an instance takes it over. */
    private static final String ON_ITS_WAY = "transfer-";

    private final StringRedisTemplate redis;
    private final String keyPrefix;

    LockReader(StringRedisTemplate redis, @Value("${lock.key-prefix:lock:}") String keyPrefix) {
        this.redis = redis;
        this.keyPrefix = keyPrefix;
    }

    /** The session under which the lock is held exclusively; empty if it is not. */
    String sessionOf(String lock) {
        return holders(lock(lock))
                .filter(holder -> holder.kind == 0)
                .map(Holder::session)
                .findFirst()
                .orElse("");
    }

    /** @param instanceOf the name of the instance that has a session */
    LockView read(String scenario, String lock, UnaryOperator<String> instanceOf) {
        Matcher parts = lock(lock);
        long now = now();
        List<Holder> holders =
                holders(parts).filter(holder -> holder.until > now).toList();
        Holder first = holders.stream().min(comparingLong(Holder::until)).orElse(Holder.NONE);
        String token = part(parts, 3);
        return new LockView(
                scenario,
                lock,
                holders.stream()
                        .map(holder -> holder.session.startsWith(ON_ITS_WAY) ? "" : instanceOf.apply(holder.session))
                        .toList(),
                first.kind,
                token.isEmpty() ? part(parts, 1) : token,
                Math.max(first.until - now, 0),
                first.ttl,
                WAITER.matcher(part(parts, 4))
                        .results()
                        .map(waiter -> instanceOf.apply(waiter.group(1)))
                        .toList());
    }

    private Matcher lock(String lock) {
        String key = keyPrefix + lock;
        String text = redis.type(key) == DataType.STRING ? redis.opsForValue().get(key) : null;
        return LOCK.matcher(text == null ? "" : text);
    }

    private static String part(Matcher parts, int group) {
        String part = parts.matches() ? parts.group(group) : null;
        return part == null ? "" : part;
    }

    private static Stream<Holder> holders(Matcher parts) {
        return HOLDER.matcher(part(parts, 2)).results().map(Holder::of);
    }

    private record Holder(String session, long ttl, long until, int kind) {

        static final Holder NONE = new Holder("", 0, 0, 0);

        static Holder of(MatchResult found) {
            return new Holder(
                    found.group(1),
                    Long.parseLong(found.group(2)),
                    Long.parseLong(found.group(3)),
                    Integer.parseInt(found.group(4)));
        }
    }

    private long now() {
        return requireNonNull(redis.execute(
                (RedisCallback<Long>) connection -> connection.serverCommands().time()));
    }

    /**
     * A lock as the page shows it.
     *
     * @param holders the instance of each hold, "" for one in transfer; empty if it is free. The readers of an instance
     *     share a hold, and each permit is one
     * @param kind how they hold it: 0 alone, -1 as readers, above zero with so many permits
     * @param token the newest fencing token that Redis gave, as text because JavaScript rounds integers of this size
     * @param leftMs how long the first lease to end still lasts
     * @param ttlMs how long that lease lasts in all
     * @param queue the instances that wait in Redis, in order
     */
    record LockView(
            String scenario,
            String name,
            List<String> holders,
            int kind,
            String token,
            long leftMs,
            long ttlMs,
            List<String> queue) {}
}
