package io.github.lockboot.sample.handover;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * A long job that begins in the instance that received the request, and ends in another. If there is no other, it ends
 * in this one. The lock is taken all the time, with one fencing token.
 */
@Component
@NeedsLocks
class HandOverScenario extends Scenario {

    private static final String LOCK = "long-job";
    private static final String DONE = "sample:job-parts";
    private static final String TEXT = "sample:job-handed-over";
    private static final int PARTS = 6;
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final LockRegistry locks;
    private final StringRedisTemplate redis;
    private final EventLog events;

    HandOverScenario(LockRegistry locks, StringRedisTemplate redis, EventLog events) {
        super("handover", 2, LOCK);
        this.locks = locks;
        this.redis = redis;
        this.events = events;
    }

    @Override
    public void prepare(Load load) {
        redis.delete(List.of(DONE, TEXT));
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        if (load.ledHere() && worker == 0) {
            begin(load);
        } else if (worker == 1 && (!load.ledHere() || load.instances() == 1)) {
            end(load);
        }
        return false;
    }

    private void begin(Load load) throws InterruptedException {
        String text;
        try (Lease lease = locks.acquire(LOCK)) {
            events.add("job-begun", token(lease));
            work(load, lease, PARTS / 2);
            text = lease.handOver(); // closing it does nothing from here on
        }
        redis.opsForValue().set(TEXT, text, Duration.ofDays(1));
        events.add("handed-over", Map.of());
        while (parts().size() < PARTS && !load.isOver()) {
            load.sleep(BETWEEN_LOOKS);
        }
        takeOver(load, text); // too late: another has it
    }

    private void end(Load load) throws InterruptedException {
        String text = text();
        while (text.isEmpty() && !load.isOver()) {
            load.sleep(BETWEEN_LOOKS);
            text = text();
        }
        if (!text.isEmpty()) {
            load.sleep(partOf(load)); // so that the page shows the lock on its way
            takeOver(load, text);
        }
    }

    private void takeOver(Load load, String text) throws InterruptedException {
        try (Lease lease = locks.takeOver(text)) {
            events.add("taken-over", token(lease));
            work(load, lease, PARTS - parts().size());
            events.add("job-ended", token(lease));
        } catch (LockLostException gone) {
            events.add("take-over-refused", Map.of("message", String.valueOf(gone.getMessage())));
        }
    }

    private void work(Load load, Lease lease, int parts) throws InterruptedException {
        for (int i = 0; i < parts; i++) {
            load.sleep(partOf(load));
            events.add(DONE, "part", token(lease));
        }
    }

    private static Map<String, String> token(Lease lease) {
        return Map.of("token", String.valueOf(lease.fencingToken()));
    }

    private static Duration partOf(Load load) {
        return load.duration().dividedBy(PARTS + 2);
    }

    private List<Map<String, String>> parts() {
        return events.newest(DONE, PARTS);
    }

    private String text() {
        return Objects.requireNonNullElse(redis.opsForValue().get(TEXT), "");
    }

    @Override
    public Object state() {
        return Map.of("parts", parts(), "text", text());
    }
}
