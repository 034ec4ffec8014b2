package io.github.lockboot.sample.token;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.LockTemplate;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.Figures;
import io.github.lockboot.sample.live.Waits;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Service;
import org.springframework.web.server.ResponseStatusException;

/** The token that all instances share, in Redis, and counters of what happened to it. */
@Service
@NeedsLocks
class TokenService {

    /** Of the scenario, the lock and the key. */
    static final String NAME = "token";

    static final List<String> MODES = List.of("blocking", "single-flight");

    private static final String STATS = "token:stats";
    private static final Duration VALID = Duration.ofHours(2);
    private static final Duration UPSTREAM_TAKES = Duration.ofMillis(300);

    private final LockTemplate locks;
    private final StringRedisTemplate redis;
    private final Figures figures;
    private final Waits waits;

    TokenService(LockTemplate locks, StringRedisTemplate redis, Figures figures, Waits waits) {
        this.locks = locks;
        this.redis = redis;
        this.figures = figures;
        this.waits = waits;
    }

    String get(String mode) throws InterruptedException {
        if (!MODES.contains(mode)) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "'mode' must be one of " + MODES);
        }
        String cached = cached();
        if (cached != null) {
            return cached;
        }
        AtomicBoolean fetched = new AtomicBoolean();
        String token = waits.during(NAME, () -> mode.equals("blocking") ? doubleCheck(fetched) : singleFlight(fetched));
        if (!fetched.get()) {
            figures.count(STATS, "waitersServed");
        }
        return token;
    }

    /**
     * The holder looks into the cache again before it fetches. The callers that waited get the lock one after the
     * other.
     */
    private String doubleCheck(AtomicBoolean fetched) throws InterruptedException {
        return locks.execute(NAME, () -> {
            String fetchedMeanwhile = cached();
            return fetchedMeanwhile != null ? fetchedMeanwhile : fetch(fetched);
        });
    }

    /**
     * One caller has the lock and fetches. All others are notified at the same time, and find the token without the
     * lock.
     */
    @SuppressWarnings("NullAway") // the cache may return null
    private String singleFlight(AtomicBoolean fetched) throws InterruptedException {
        return locks.singleFlight(NAME, this::cached, () -> fetch(fetched));
    }

    private @Nullable String cached() {
        return redis.opsForValue().get(NAME);
    }

    /** The upstream is slow, and asking it again makes the older token invalid. */
    private String fetch(AtomicBoolean fetched) throws InterruptedException {
        fetched.set(true);
        figures.count(STATS, "upstreamCalls");
        Thread.sleep(UPSTREAM_TAKES.toMillis());
        String token = UUID.randomUUID().toString();
        redis.opsForValue().set(NAME, token, VALID);
        return token;
    }

    /** Begins with a token, so that from now on every call of the upstream has an expiry before it. */
    void reset() {
        redis.opsForValue().set(NAME, "to be expired", VALID);
        figures.reset(STATS);
    }

    /** @return whether there was one */
    boolean expire() {
        boolean removed = redis.delete(NAME);
        if (removed) {
            figures.count(STATS, "expiries");
        }
        return removed;
    }

    long expiries() {
        return figures.counted(STATS, "expiries");
    }

    Stats stats() {
        return new Stats(figures.counted(STATS, "upstreamCalls"), figures.counted(STATS, "waitersServed"));
    }

    /**
     * @param upstreamCalls how often a token was fetched
     * @param waitersServed calls that waited for another's fetch and got its token
     */
    record Stats(long upstreamCalls, long waitersServed) {}
}
