package io.github.lockboot.sample.fleet;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.lockboot.ScheduledLock;
import io.github.lockboot.ScheduledLock.Outcome;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A job that is due every five seconds in every instance, and runs in one. */
@Component
@NeedsLocks
class Draw implements ScheduledLock.Listener {

    private static final Logger log = LoggerFactory.getLogger(Draw.class);

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

    /** If Redis is away, it cannot store the run either. */
    @Override
    public void jobEnded(ScheduledLock.Run run) {
        if (run.outcome() == Outcome.UNAVAILABLE) {
            return;
        }
        String millis = String.valueOf(run.took().toMillis());
        try {
            events.add(RUNS, "run", Map.of("outcome", run.outcome().name(), "millis", millis));
        } catch (DataAccessException away) {
            log.info("The page does not show a run of the job: {}", away.getMessage());
        }
    }

    String count() {
        return Objects.requireNonNullElse(redis.opsForValue().get(COUNT), "0");
    }

    List<Map<String, String>> runs() {
        return events.newest(RUNS, 5);
    }
}
