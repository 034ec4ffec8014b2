package io.github.lockboot.sample.fleet;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.lockboot.ScheduledLock;
import io.github.lockboot.ScheduledLock.Outcome;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A job that is due every five seconds in every instance, and runs in one. */
@Component
@NeedsLocks
class Draw implements ScheduledLock.Listener {

    static final String JOB = "draw";

    private static final String COUNT = "sample:draws";
    private static final String RUNS = "sample:draw-runs";

    private final StringRedisTemplate redis;
    private final EventLog events;

    Draw(StringRedisTemplate redis, EventLog events) {
        this.redis = redis;
        this.events = events;
    }

    /** It is quick, so only {@code atLeastFor} keeps an instance from drawing again whose clock is a little late. */
    @Scheduled(cron = "*/5 * * * * *")
    @ScheduledLock(name = "draw", atLeastFor = "3s", ttl = "5s")
    void draw() {
        redis.opsForValue().increment(COUNT);
    }

    @Override
    public void jobEnded(ScheduledLock.Run run) {
        if (run.outcome() != Outcome.UNAVAILABLE) { // else Redis could not store it
            String millis = String.valueOf(run.took().toMillis());
            events.add(RUNS, "run", Map.of("outcome", run.outcome().name(), "millis", millis));
        }
    }

    String count() {
        return Objects.requireNonNullElse(redis.opsForValue().get(COUNT), "0");
    }

    List<Map<String, String>> runs() {
        return events.newest(RUNS, 5);
    }
}
