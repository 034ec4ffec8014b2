package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

import static java.util.Objects.requireNonNull;

/**
 * Counts what callers of all instances do, in hashes in Redis. It takes no part in what it counts, and relies on no
 * lock.
 */
@Component
public class Figures {

    private static final String AT_ONCE = "at once:";
    private static final String LAST = "last at";
    private static final String LONGEST = "longest standstill";
    private static final String END = "ended at";
    private static final Duration LONGEST_STAY = Duration.ofSeconds(30);

    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;

    Figures(StringRedisTemplate redis) {
        this.redis = redis;
        this.hashes = redis.opsForHash();
    }

    public void reset(String key) {
        redis.delete(List.of(key, insideKey(key)));
    }

    public void count(String key, String what) {
        add(key, what, 1);
    }

    public void add(String key, String what, long by) {
        hashes.increment(key, what, by);
        redis.expire(key, Duration.ofDays(1));
    }

    public long counted(String key, String what) {
        String count = hashes.get(key, what);
        return count == null ? 0 : Long.parseLong(count);
    }

    /**
     * Runs work and counts how many callers do so at once. A caller sees all that entered before it, so no overlap is
     * missed.
     */
    public <T, E extends Throwable> T during(String key, Work<T, E> work) throws E {
        String me = UUID.randomUUID().toString();
        long now = System.currentTimeMillis();
        redis.opsForZSet().add(insideKey(key), me, (double) now);
        try {
            redis.opsForZSet().removeRangeByScore(insideKey(key), 0, (double) (now - LONGEST_STAY.toMillis()));
            redis.expire(insideKey(key), LONGEST_STAY);
            long inside = requireNonNull(redis.opsForZSet().zCard(insideKey(key)));
            count(key, AT_ONCE + inside);
            if (inside > 1) {
                count(key, "overlaps");
            }
            return work.run();
        } finally {
            redis.opsForZSet().remove(insideKey(key), me);
        }
    }

    /** Something can happen from now on, for {@link #standstill}. */
    public void begun(String key) {
        hashes.delete(key, END);
        happened(key);
    }

    /** Something happened now. */
    public void happened(String key) {
        String longest = String.valueOf(standstill(key).longestMillis());
        hashes.putAll(key, Map.of(LONGEST, longest, LAST, String.valueOf(System.currentTimeMillis())));
        redis.expire(key, Duration.ofDays(1));
    }

    /** Nothing more will happen. */
    public void ended(String key) {
        hashes.put(key, END, String.valueOf(System.currentTimeMillis()));
        redis.expire(key, Duration.ofDays(1));
    }

    /** How long nothing happened, until now or until the end. */
    public Standstill standstill(String key) {
        List<Long> times = hashes.multiGet(key, List.of(LAST, END, LONGEST)).stream()
                .map(time -> time == null ? 0 : Long.parseLong(time))
                .toList();
        long until = times.get(1) > 0 ? times.get(1) : System.currentTimeMillis();
        long current = times.get(0) > 0 ? Math.max(0, until - times.get(0)) : 0;
        return new Standstill(current, Math.max(current, times.get(2)));
    }

    /**
     * @param currentMillis since the last time that something happened
     * @param longestMillis between two such times, or since the last one
     */
    public record Standstill(long currentMillis, long longestMillis) {}

    /** How many callers there were inside at the same time. */
    public long mostAtOnce(String key) {
        return hashes.keys(key).stream()
                .filter(field -> field.startsWith(AT_ONCE))
                .mapToLong(field -> Long.parseLong(field.substring(AT_ONCE.length())))
                .max()
                .orElse(0);
    }

    private static String insideKey(String key) {
        return key + ":inside";
    }
}
