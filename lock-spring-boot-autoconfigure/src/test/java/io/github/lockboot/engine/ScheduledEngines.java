package io.github.lockboot.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.ScriptedEngine.Call;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.ScriptStore;

/**
 * Two engines, as in two JVMs, that share a Redis, and the schedule of the threads that use them. A script runs, and is
 * answered, at once or later, as chance will have it; messages come later. All that comes into the engines from outside
 * is a step of the schedule.
 */
final class ScheduledEngines {

    private static final EngineContext.Settings SETTINGS =
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64);

    static final Duration TTL = Duration.ofSeconds(30);
    static final LockOptions EXCLUSIVE = LockOptions.defaults()
            .withTtl(TTL)
            .withWaitTime(Duration.ofSeconds(10))
            .withRelease(DistributedLock.Release.AWAIT)
            .withRenewal();

    private static final String NAME = "name";
    private static final String KEY = "lock:" + NAME;

    /** How much of a lock there is: an exclusive holder has all of it, and a reader one part. */
    private static final int WHOLE = 12;

    final Schedule schedule;
    final ScheduledTime time;
    final LockEngine here;
    final LockEngine there;
    private final SimulatedTime redisTime = new SimulatedTime(true);
    private final SimulatedRedis redis;
    private Duration settling = Duration.ZERO;
    private final AtomicInteger used = new AtomicInteger();

    ScheduledEngines(long seed) {
        this.schedule = new Schedule(seed);
        this.time = new ScheduledTime(schedule);
        this.redis = new SimulatedRedis(redisTime, null, new Messages());
        this.here = engine("here");
        this.there = engine("there");
        for (int i = 0; i < 2; i++) { // one may wait for what the other does
            schedule.addServant(time::runOne, time::isAnyDue);
        }
    }

    private LockEngine engine(String session) {
        ScriptStore store = PatientStore.on(new Connection(), SETTINGS.poll(), SETTINGS.patience());
        EngineContext context = new EngineContext(SETTINGS, time, time, () -> 0);
        LockEngine made = new LockEngine(context, () -> session, this::nonce, store, subscriber -> new Channel());
        made.addListener(new RecordingLockRegistry(), listener());
        return made;
    }

    private String nonce() {
        schedule.step();
        return "";
    }

    private LockListener listener() {
        Class<?>[] types = {LockListener.class};
        return (LockListener) Proxy.newProxyInstance(getClass().getClassLoader(), types, (proxy, method, arguments) -> {
            schedule.step();
            return null;
        });
    }

    static NamedLock lock(LockEngine engine, LockOptions options) {
        return EngineLocks.of(engine, NAME, options);
    }

    static LockRequest request() {
        return LockRequest.of(NAME, EXCLUSIVE);
    }

    /** Lets this time pass before nothing may be in use any more. */
    void settlesIn(Duration time) {
        settling = time;
    }

    Thread add(Schedule.Action action) {
        return schedule.add(action);
    }

    /** Uses a lock that the thread has, and releases it. */
    void use(NamedLock lock) {
        Integer permits = lock.options().permits();
        int part = lock.options().mode() == DistributedLock.Mode.SHARED ? 1 : WHOLE / (permits == null ? 1 : permits);
        use(part);
        lock.unlock();
    }

    /** Uses an exclusive lock. */
    void use() {
        use(WHOLE);
    }

    private void use(int part) {
        if (used.addAndGet(part) > WHOLE) {
            throw new AssertionError("others use the lock");
        }
        schedule.step();
        used.addAndGet(-part);
    }

    /**
     * Runs the threads, and then all that is due. In the end nothing is in use, in an engine or in Redis.
     *
     * @return the number of steps
     */
    int play() {
        int steps = schedule.play();
        while (time.runOne()) {}
        time.advance(settling);
        while (time.runOne()) {}
        redisTime.runUntil(time.now(), () -> {});
        if (here.inUse() + there.inUse() > 0 || redis.isInUse(KEY)) {
            throw new AssertionError("in use: " + here.inUse() + ", " + there.inUse() + ", in Redis: " + redis.keys());
        }
        return steps;
    }

    /** What Redis was asked, and answered. */
    List<String> trace() {
        return redisTime.trace();
    }

    private Reply run(Call call) {
        synchronized (redis) {
            redisTime.runUntil(time.now(), () -> {});
            return redis.run(call);
        }
    }

    private void soonOrNow(Runnable task) {
        if (schedule.chance(0.5)) {
            time.soon(task);
        } else {
            task.run();
        }
    }

    private final class Connection implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
            schedule.step();
            CompletableFuture<Reply> answer = new CompletableFuture<>();
            soonOrNow(() -> {
                Reply reply = ScheduledEngines.this.run(new Call(script, key, arguments));
                soonOrNow(() -> answer.complete(reply));
            });
            schedule.step();
            return answer;
        }

        @Override
        public long epoch() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private final class Channel implements GrantChannel {

        @Override
        public boolean isLive() {
            schedule.step();
            return true;
        }
    }

    private final class Messages implements SimulatedRedis.Publisher {

        @Override
        public void toSession(String session, String message) {
            Push push = Push.parse(message);
            time.soon(() -> (session.equals("here") ? here : there).onPush(push));
        }

        @Override
        public void changed(String session, String key) {}
    }
}
