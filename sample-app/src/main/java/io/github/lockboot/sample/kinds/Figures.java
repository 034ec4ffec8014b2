package io.github.lockboot.sample.kinds;

import java.time.Duration;
import java.util.Map;

import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/** Counts what callers of all instances do, in one hash per scenario. It relies on no lock. */
@Component
class Figures {

    private static final String AT_ONCE = "at once:";

    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;

    Figures(StringRedisTemplate redis) {
        this.redis = redis;
        this.hashes = redis.opsForHash();
    }

    void reset(String scenario) {
        redis.delete(key(scenario));
    }

    long count(String scenario, String what) {
        return hashes.increment(key(scenario), what, 1);
    }

    long counted(String scenario, String what) {
        String count = hashes.get(key(scenario), what);
        return count == null ? 0 : Long.parseLong(count);
    }

    /** Runs an action that several callers may run at once, and counts how many do. */
    void during(String scenario, Action action) throws InterruptedException {
        long inside = count(scenario, "inside");
        try {
            count(scenario, AT_ONCE + inside);
            redis.expire(key(scenario), Duration.ofDays(1));
            action.run();
        } finally {
            hashes.increment(key(scenario), "inside", -1);
        }
    }

    /** How many callers there were inside at the same time. */
    long mostAtOnce(String scenario) {
        Map<String, String> fields = hashes.entries(key(scenario));
        return fields.keySet().stream()
                .filter(field -> field.startsWith(AT_ONCE))
                .mapToLong(field -> Long.parseLong(field.substring(AT_ONCE.length())))
                .max()
                .orElse(0);
    }

    private static String key(String scenario) {
        return "sample:" + scenario;
    }

    @FunctionalInterface
    interface Action {

        void run() throws InterruptedException;
    }
}
