package io.github.lockboot.sample.fencing;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.redis.RedisFence;
import io.github.lockboot.sample.NeedsLocks;
import io.github.lockboot.sample.live.EventLog;
import io.github.lockboot.sample.live.Load;
import io.github.lockboot.sample.live.Scenario;
import io.github.lockboot.sample.live.Waits;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.stereotype.Component;

/**
 * A holder that is paused for longer than its lease, and writes when it wakes up.
 *
 * <p>A paused process renews nothing. This is simulated by a hold without renewal whose lease is three quarters of the
 * pause, which is the same to Redis. But here the loss is reported at once, while a process that is really paused would
 * notice it when it wakes up. Meanwhile every other instance waits for the lock. If there is no other, this one does.
 */
@Component
@NeedsLocks
class FencingScenario extends Scenario {

    private static final String NAME = "fencing";
    private static final String LOCK = "price";
    private static final String PRICE = "sample:price";
    private static final Duration KEPT = Duration.ofDays(1);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final LockRegistry locks;
    private final RedisFence fence;
    private final EventLog events;
    private final Waits waits;

    FencingScenario(LockRegistry locks, RedisConnectionFactory redis, EventLog events, Waits waits) {
        super(NAME, 2, LOCK);
        this.locks = locks;
        this.fence = new RedisFence(redis);
        this.events = events;
        this.waits = waits;
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        if (load.ledHere() && worker == 0) {
            writeAfterAPause(load);
        } else if (worker == 1 && (!load.ledHere() || load.instances() == 1)) {
            writeAtOnce(load);
        }
        return false;
    }

    private void writeAfterAPause(Load load) throws InterruptedException {
        Duration lease = load.duration().multipliedBy(3).dividedBy(4);
        LockOptions options = LockOptions.defaults().withoutRenewal().withTtl(lease);
        NamedLock lock = locks.get(LOCK, options);
        lock.lockInterruptibly();
        try {
            // Read before the pause, because a paused process does not notice another holder.
            long token = lock.fencingToken();
            events.add("held", Map.of("token", String.valueOf(token), "seconds", String.valueOf(lease.toSeconds())));
            lock.onLost(() -> events.add("lost", Map.of("token", String.valueOf(token))));
            load.sleep(load.duration());
            write("late", token);
        } finally {
            try {
                lock.unlock();
            } catch (LockLostException lost) {
                events.add("unlock-refused", Map.of());
            }
        }
    }

    private void writeAtOnce(Load load) throws InterruptedException {
        NamedLock lock = locks.get(LOCK);
        while (!lock.isLocked() && !load.isOver()) {
            load.sleep(BETWEEN_LOOKS);
        }
        boolean ours = waits.during(NAME, () -> lock.tryLock(load.duration().toMillis(), TimeUnit.MILLISECONDS));
        if (!ours) {
            return;
        }
        try {
            events.add("granted", Map.of("token", String.valueOf(lock.fencingToken())));
            write("in time", lock.fencingToken());
        } finally {
            lock.unlock();
        }
    }

    private void write(String price, long token) {
        try {
            fence.set(PRICE, price, token, KEPT);
            events.add("written", Map.of("price", price, "token", String.valueOf(token)));
        } catch (StaleTokenException refused) {
            events.add(
                    "refused",
                    Map.of(
                            "price", price,
                            "token", String.valueOf(refused.getFencingToken()),
                            "newest", String.valueOf(refused.getNewestToken())));
        }
    }

    @Override
    public Object state() {
        return Map.of("price", Objects.requireNonNullElse(fence.get(PRICE), ""));
    }
}
