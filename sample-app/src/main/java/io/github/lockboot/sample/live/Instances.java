package io.github.lockboot.sample.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.sample.NeedsLocks;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.core.HashOperations;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * The instances that share this Redis. Each keeps a hash there, with the session under which it holds its locks and
 * with what its threads do. The name of an instance is its port.
 */
@Component
@NeedsLocks
class Instances {

    private static final String NAMES = "sample:instances";
    private static final Duration GONE_AFTER = Duration.ofSeconds(3);
    private static final String WORKING = "working:";
    private static final String WAITING = "waiting:";

    private final Environment environment;
    private final LockRegistry locks;
    private final LockReader reader;
    private final Waits waits;
    private final StringRedisTemplate redis;
    private final HashOperations<String, String, String> hashes;
    private final Map<String, Integer> working = new ConcurrentHashMap<>();
    private @Nullable String session;

    Instances(Environment environment, LockRegistry locks, LockReader reader, Waits waits, StringRedisTemplate redis) {
        this.environment = environment;
        this.locks = locks;
        this.reader = reader;
        this.waits = waits;
        this.redis = redis;
        this.hashes = redis.opsForHash();
    }

    /** Of this instance. */
    String name() {
        return environment.getProperty("local.server.port", "?");
    }

    void workBegins(String scenario, int threads) {
        working.merge(scenario, threads, Integer::sum);
    }

    /** @return how many of this instance still work on it */
    int workEnds(String scenario) {
        return working.merge(scenario, -1, Integer::sum);
    }

    /**
     * Shows the other instances that this one is running, and what it does. Called by one thread, a few times a second.
     */
    void publish() {
        Map<String, String> state = new HashMap<>();
        state.put("session", session());
        working.forEach((scenario, threads) -> state.put(WORKING + scenario, String.valueOf(threads)));
        waits.waiting().forEach((scenario, threads) -> state.put(WAITING + scenario, String.valueOf(threads)));
        hashes.putAll(key(name()), state);
        redis.expire(key(name()), GONE_AFTER);
        redis.opsForSet().add(NAMES, name());
        redis.expire(NAMES, Duration.ofDays(1));
    }

    /** In the order of their names. An instance that has stopped stays for three seconds. */
    List<Instance> all() {
        List<Instance> all = new ArrayList<>();
        for (String name : new TreeSet<>(redis.opsForSet().members(NAMES))) {
            Map<String, String> state = hashes.entries(key(name));
            if (!state.isEmpty()) {
                all.add(new Instance(
                        name, state.getOrDefault("session", ""), threads(state, WORKING), threads(state, WAITING)));
            }
        }
        return all;
    }

    /** The registry does not show its session, but the id of a holder contains it. */
    private String session() {
        if (session == null) {
            NamedLock lock = locks.get("instance:" + name());
            lock.lock();
            try {
                session = reader.sessionOf(lock.getName());
            } finally {
                lock.unlock();
            }
        }
        return session;
    }

    private static Map<String, Integer> threads(Map<String, String> state, String prefix) {
        Map<String, Integer> threads = new HashMap<>();
        state.forEach((field, count) -> {
            if (field.startsWith(prefix)) {
                threads.put(field.substring(prefix.length()), Integer.valueOf(count));
            }
        });
        return threads;
    }

    private static String key(String name) {
        return "sample:instance:" + name;
    }

    /**
     * @param session that of its lock registry
     * @param working its threads under load, by scenario
     * @param waiting those of them that wait for a lock
     */
    record Instance(String name, String session, Map<String, Integer> working, Map<String, Integer> waiting) {

        boolean isWorkingOn(String scenario) {
            return working.getOrDefault(scenario, 0) > 0;
        }
    }
}
