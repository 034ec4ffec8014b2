package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.LockModel;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.jspecify.annotations.Nullable;

/**
 * A JVM of the fleet: the real engine, with a clock, a connection, a channel and threads that a random number generator
 * plays. While it is paused nothing of it happens but the passing of time; once it has crashed nothing at all.
 */
final class SimulatedClient {

    /** Whose replies count also if they come late. */
    private static final Set<LuaScript> RENEWALS = Set.of(LuaScript.RENEW);

    static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

    private static final long MILLI = 1_000_000;

    final String session;
    final LockEngine engine;
    private final SimulatedTime time;
    private final Random random;
    private final Faults faults;
    private final SimulatedRedis redis;
    private final SimulatedRedis.@Nullable Flaw flaw;
    private final @Nullable SimulationTrace trace;
    private final boolean announcing;
    private final boolean acknowledging;
    private final double clockRate;
    private final long clockOffset;

    private final Set<Sent> inFlight = new LinkedHashSet<>();
    private int connection = 1;
    private boolean connected = true;
    private boolean channelOpened;
    private boolean channelLive;
    private int subscription;
    private boolean subscribed;
    private boolean stopping;
    private boolean crashed;
    private long pausedUntil;
    private long lastPause = Long.MIN_VALUE;
    private long asleepAt = Long.MAX_VALUE;
    private long slept;
    private long wallAhead;
    private boolean hasSlept;
    private boolean isSetBack;

    /** How likely what goes wrong is; it can be ended. */
    static final class Faults {

        double lost;
        double late;
        double refused;
        double unacknowledged;
        long slowestNanos = MILLI;
        boolean redisIsAway;

        /** The next delays, in nanoseconds, in place of random ones. */
        final Queue<Long> planned = new ArrayDeque<>();

        void end() {
            lost = 0;
            late = 0;
            refused = 0;
            unacknowledged = 0;
            slowestNanos = MILLI;
            redisIsAway = false;
        }
    }

    private static final class Sent {

        final ScriptedEngine.Call call;
        final Consumer<Reply> late;
        final CompletableFuture<Reply> reply = new CompletableFuture<>();

        Sent(ScriptedEngine.Call call, Consumer<Reply> late) {
            this.call = call;
            this.late = late;
        }
    }

    /** @param acknowledging whether its grants have to be acknowledged */
    SimulatedClient(
            String session,
            int handoffLimit,
            boolean acknowledging,
            SimulatedTime time,
            Random random,
            Faults faults,
            SimulatedRedis redis,
            SimulatedRedis.@Nullable Flaw flaw,
            @Nullable SimulationTrace trace) {
        this.trace = trace;
        this.session = session;
        this.time = time;
        this.random = random;
        this.faults = faults;
        this.redis = redis;
        this.flaw = flaw;
        this.acknowledging = acknowledging;
        double rate = 1 + (random.nextDouble() - 0.5) * 0.016; // 0.8 % of the 1 % that a lease allows for
        this.clockRate = flaw == SimulatedRedis.Flaw.CLOCKS_RUN_SLOW ? rate / 2 : rate;
        this.clockOffset = random.nextLong() >> 8;
        this.announcing = random.nextInt(4) > 0;
        EngineContext.Settings settings = new EngineContext.Settings(
                Duration.ofMillis(LockModel.POLL), Duration.ofMillis(20), COMMAND_TIMEOUT, handoffLimit);
        ScriptStore store = PatientStore.on(new Runner(), settings.poll(), settings.patience());
        EngineContext context = new EngineContext(settings, new ClientTimer(), new Workers(), random::nextDouble);
        this.engine = new LockEngine(context, () -> session, () -> "", store, subscriber -> new Channel());
    }

    // --- what happens to it -----------------------------------------------------------------------------------

    /** Does it then, or when the pause it falls into is over. */
    void after(long nanos, Runnable task) {
        time.after(nanos, () -> whenRunning(task));
    }

    private void whenRunning(Runnable task) {
        if (crashed) {
            return;
        }
        if (time.now() < pausedUntil) {
            time.after(pausedUntil - time.now(), () -> whenRunning(task));
        } else {
            task.run();
            if (trace != null) {
                trace.looked(this);
            }
        }
    }

    void crash() {
        if (trace != null) {
            trace.crashed(session);
        }
        time.trace(() -> session + " crashes");
        crashed = true;
        redis.listens(session, false);
    }

    /** It begins to shut down: who waits is told so, and so is who asks; holds go on. */
    void stop() {
        time.trace(() -> session + " stops granting");
        stopping = true;
        engine.stopGranting();
    }

    boolean isAcknowledging() {
        return acknowledging;
    }

    boolean isStopping() {
        return stopping;
    }

    boolean isCrashed() {
        return crashed;
    }

    void pause(long nanos) {
        time.trace(() -> session + " pauses for " + nanos / MILLI + " ms");
        pausedUntil = Math.max(pausedUntil, time.now() + nanos);
        lastPause = pausedUntil;
    }

    /** As a pause, but its monotonic clock stands still meanwhile. */
    void sleep(long nanos) {
        if (asleepAt == Long.MAX_VALUE && !isSetBack) {
            hasSlept = true;
            time.trace(() -> session + " sleeps for " + nanos / MILLI + " ms");
            asleepAt = time.now();
            long awakeAt = asleepAt + nanos;
            pausedUntil = Math.max(pausedUntil, awakeAt);
            lastPause = pausedUntil;
            time.after(nanos, () -> {
                slept += awakeAt - asleepAt;
                asleepAt = Long.MAX_VALUE;
            });
        }
    }

    /**
     * Somebody sets its time of day; not back where it sleeps too, for then nothing is left to tell how long it slept.
     */
    void setTimeOfDay(long forwardBy) {
        long step = hasSlept ? Math.abs(forwardBy) : forwardBy;
        isSetBack |= step < 0;
        time.trace(() -> session + " has its time of day set forward by " + step / MILLI + " ms");
        wallAhead += step;
    }

    boolean hasPausedSince(long when) {
        return lastPause >= when;
    }

    /** The command connection breaks: what was in flight may have run, and is sent again once there is a new one. */
    void cutConnection(long awayNanos) {
        time.trace(() -> session + " is cut off");
        connection++;
        connected = false;
        int reconnects = connection;
        redis.forget(session);
        after(0, () -> engine.onChanged(null));
        time.after(awayNanos, () -> {
            if (connection == reconnects) {
                connected = true;
                time.trace(() -> session + " reconnects");
                List.copyOf(inFlight).forEach(this::send);
            }
        });
    }

    /** The channel breaks, which is noticed late. */
    void cutChannel(long noticedAfter, long awayNanos) {
        if (subscribed) {
            time.trace(() -> session + " loses its channel");
            subscribed = false;
            if (chance(0.5)) {
                redis.listens(session, false);
            }
            after(noticedAfter, () -> {
                channelLive = false;
                redis.listens(session, false);
            });
            after(noticedAfter + awayNanos, this::subscribe);
        }
    }

    private void subscribe() {
        if (faults.redisIsAway) {
            after(200 * MILLI, this::subscribe);
        } else {
            subscribed = true;
            subscription++;
            channelLive = true;
            redis.listens(session, true);
            engine.onSubscribed();
        }
    }

    /** A message for its session was published. */
    void published(String message) {
        published(message, engine::onPush);
    }

    /** Another changed the key; that is announced late, twice, never, for another key, or without a change. */
    void changed(@Nullable String key) {
        int sentOn = connection;
        if (!chance(faults.lost)) {
            announce(key, delay(), sentOn);
        }
        if (chance(faults.late)) {
            announce(chance(0.5) ? key : "lock:m", lateDelay(), sentOn);
        }
    }

    private void announce(@Nullable String key, long delay, int sentOn) {
        after(delay, () -> {
            if (connection == sentOn || chance(0.5)) {
                time.trace(() -> session + " learns of a change of " + key);
                engine.onChanged(key);
            }
        });
    }

    private void published(String message, Consumer<Push> receiver) {
        if (subscribed && !chance(faults.lost)) {
            deliver(message, receiver, delay());
            if (chance(faults.late)) {
                deliver(message, receiver, lateDelay());
            }
        }
    }

    private void deliver(String message, Consumer<Push> receiver, long delay) {
        int subscribedAs = subscription;
        after(delay, () -> {
            if (subscription == subscribedAs || chance(0.5)) {
                time.trace(() -> session + " is told " + message);
                if (trace != null) {
                    trace.told(session, message);
                }
                receiver.accept(Push.parse(message));
            }
        });
    }

    // --- the network ------------------------------------------------------------------------------------------

    private void send(Sent sent) {
        if (sent.reply.isDone() || !connected) {
            return;
        }
        int sentOn = connection;
        if (chance(faults.refused)) {
            after(
                    delay(),
                    () -> fail(sent, new IllegalStateException("LOADING Redis is loading the dataset in memory")));
            return;
        }
        boolean answered = !chance(faults.lost);
        long delay = delay();
        if (!chance(faults.lost)) {
            time.after(delay, () -> run(sent, sentOn, answered));
        }
        if (chance(faults.late)) { // never before the first: copies are made by reconnecting, which changes the epoch
            time.after(delay + lateDelay(), () -> run(sent, sentOn, false));
        }
    }

    private void run(Sent sent, int sentOn, boolean answered) {
        if (faults.redisIsAway) {
            return;
        }
        Reply reply = redis.run(sent.call);
        int run = redis.lastRun();
        if (answered) {
            boolean waits = acknowledging
                    && (reply instanceof Reply.Granted || reply instanceof Reply.Renewed || reply instanceof Reply.All);
            after(waits && chance(faults.late) ? lateDelay() : delay(), () -> {
                if (waits && chance(faults.unacknowledged)) {
                    fail(sent, new StoreFailure.NotAcknowledgedException("0 of 1", null));
                } else if (connection == sentOn && inFlight.remove(sent)) {
                    traceAnswer(run);
                    sent.reply.complete(reply);
                } else if (connection == sentOn && !waits && RENEWALS.contains(sent.call.script())) {
                    traceAnswer(run);
                    sent.late.accept(reply);
                }
            });
        }
    }

    private void traceAnswer(int run) {
        if (trace != null) {
            trace.answered(session, run);
        }
    }

    private void fail(Sent sent, Exception failure) {
        if (inFlight.remove(sent)) {
            time.trace(() -> session + " has no answer to " + SimulatedRedis.describe(sent.call) + ": " + failure);
            sent.reply.completeExceptionally(failure);
        }
    }

    private long delay() {
        Long planned = faults.planned.poll();
        if (planned != null) {
            return planned;
        }
        double share = random.nextDouble();
        return 50_000 + (long) (faults.slowestNanos * share * share);
    }

    private long lateDelay() {
        Long planned = faults.planned.poll();
        return planned != null ? planned : (long) (random.nextDouble() * random.nextDouble() * 40_000 * MILLI);
    }

    private boolean chance(double probability) {
        return probability > 0 && random.nextDouble() < probability;
    }

    // --- what the engine sees ---------------------------------------------------------------------------------

    private final class Runner implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
            ScriptedEngine.Call call = new ScriptedEngine.Call(script, key, arguments);
            if (trace != null) {
                trace.sent(session, call);
            }
            if (!connected && chance(0.5)) {
                return CompletableFuture.failedFuture(new StoreFailure.NotConnectedException("no connection", null));
            }
            Sent sent = new Sent(call, late);
            inFlight.add(sent);
            if (flaw != SimulatedRedis.Flaw.COMMANDS_NEVER_TIME_OUT) {
                long timeout = (long) (COMMAND_TIMEOUT.toNanos() * (1 + 0.1 * random.nextDouble()));
                after(timeout, () -> fail(sent, new TimeoutException("Redis did not answer in time")));
            }
            send(sent);
            return sent.reply;
        }

        @Override
        public boolean acknowledges() {
            return acknowledging;
        }

        @Override
        public boolean announcesChanges() {
            return announcing;
        }

        @Override
        public long epoch() {
            return connection;
        }

        @Override
        public void close() {}
    }

    private final class Channel implements GrantChannel {

        @Override
        public void open() {
            if (!channelOpened) {
                channelOpened = true;
                after(delay(), SimulatedClient.this::subscribe);
            }
        }

        @Override
        public boolean isOpened() {
            return channelOpened;
        }

        @Override
        public boolean isLive() {
            return channelLive;
        }

        /** It hears for as long as it is live. */
        @Override
        public void verify() {}

        @Override
        public void close() {}
    }

    private final class ClientTimer implements Timer {

        @Override
        public long nanoTime() {
            return clockOffset + (long) ((Math.min(time.now(), asleepAt) - slept) * clockRate);
        }

        @Override
        public long wallMillis() {
            boolean stands = flaw == SimulatedRedis.Flaw.SLEEP_IS_NOT_NOTICED;
            long passed = stands ? Math.min(time.now(), asleepAt) - slept : time.now();
            return ((flaw == SimulatedRedis.Flaw.CLOCKS_RUN_SLOW ? passed / 2 : passed) + wallAhead) / MILLI;
        }

        @Override
        public Task schedule(long delayNanos, Runnable task) {
            boolean[] cancelled = {false};
            runAt(nanoTime() + Math.max(0, delayNanos), task, cancelled);
            return () -> cancelled[0] = true;
        }

        @Override
        public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
            boolean[] cancelled = {false};
            Runnable again = new Runnable() {

                @Override
                public void run() {
                    task.run();
                    runAt(nanoTime() + pauseNanos, this, cancelled);
                }
            };
            runAt(nanoTime() + Math.max(0, delayNanos), again, cancelled);
            return () -> cancelled[0] = true;
        }

        /** By its own clock, which may stand still meanwhile. */
        private void runAt(long nanoTime, Runnable task, boolean[] cancelled) {
            after((long) ((nanoTime - nanoTime()) / clockRate) + 1, () -> {
                if (cancelled[0]) {
                    return;
                }
                if (nanoTime() - nanoTime < 0) {
                    runAt(nanoTime, task, cancelled);
                } else {
                    task.run();
                }
            });
        }

        @Override
        public void close() {}
    }

    /** Threads that come to it soon, not in order. */
    private final class Workers extends ManualWorkers {

        @Override
        public void execute(Runnable task) {
            after((long) (random.nextDouble() * MILLI), task);
        }
    }
}
