package io.github.lockboot.sample.fencing;

import java.time.Duration;
import java.util.List;
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
 * <p>A paused process renews nothing. This is simulated by a hold without renewal whose lease is three quarters of the pause, which
 * is the same to Redis. But here the loss is reported at once, while a process that is really paused would notice it when it wakes
 * up. Meanwhile every other instance waits for the lock. If there is no other, this one does.
 */
@Component
@NeedsLocks
class FencingScenario implements Scenario {

    private static final String NAME = "fencing";
    private static final String LOCK = "price";
    private static final String PRICE = "sample:price";
    private static final Duration KEPT = Duration.ofDays(1);
    private static final Duration HEAD_START = Duration.ofMillis(500);

    private final LockRegistry locks;
    private final RedisFence fence;
    private final EventLog events;
    private final Waits waits;

    FencingScenario(LockRegistry locks, RedisConnectionFactory redis, EventLog events, Waits waits) {
        this.locks = locks;
        this.fence = new RedisFence(redis);
        this.events = events;
        this.waits = waits;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int workers() {
        return 2;
    }

    @Override
    public boolean step(Load load, int worker) throws InterruptedException {
        if (load.isLedHere() && worker == 0) {
            writeAfterAPause(load);
        } else if (worker == 1 && (!load.isLedHere() || load.instances() == 1)) {
            writeAtOnce(load);
        }
        return false;
    }

    private void writeAfterAPause(Load load) throws InterruptedException {
        Duration lease = load.duration().multipliedBy(3).dividedBy(4);
        LockOptions options = LockOptions.defaults().withoutRenewal().withTtl(max(lease, LockOptions.MIN_TTL));
        NamedLock lock = locks.get(LOCK, options);
        lock.lockInterruptibly();
        try {
            String token = String.valueOf(lock.fencingToken());
            events.add("held", Map.of("token", token, "seconds", String.valueOf(lease.toSeconds())));
            lock.onLost(() -> events.add("lost", Map.of("token", token)));
            write("late", lock.fencingToken(), () -> load.sleep(load.duration()));
        } finally {
            release(lock);
        }
    }

    private void writeAtOnce(Load load) throws InterruptedException {
        load.sleep(HEAD_START);
        NamedLock lock = locks.get(LOCK);
        boolean ours = waits.during(NAME, () -> lock.tryLock(load.duration().toMillis(), TimeUnit.MILLISECONDS));
        if (!ours) {
            return;
        }
        try {
            events.add("granted", Map.of("token", String.valueOf(lock.fencingToken())));
            write("in time", lock.fencingToken(), () -> {});
        } finally {
            release(lock);
        }
    }

    /** The token is read before the pause, because a paused process does not notice that another holder took over. */
    private void write(String price, long token, Pause pause) throws InterruptedException {
        pause.run();
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

    private void release(NamedLock lock) {
        try {
            lock.unlock();
        } catch (LockLostException lost) {
            events.add("unlock-refused", Map.of());
        }
    }

    @Override
    public Object state() {
        return Map.of("price", Objects.requireNonNullElse(fence.get(PRICE), ""));
    }

    @Override
    public List<String> locks() {
        return List.of(LOCK);
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private interface Pause {

        void run() throws InterruptedException;
    }
}
