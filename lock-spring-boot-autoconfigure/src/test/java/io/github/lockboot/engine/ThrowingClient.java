package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockUse;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.LockModel;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.jspecify.annotations.Nullable;

/** A JVM of a simulated fleet in which everything outside of the engine may throw, once, when the test says so. */
public final class ThrowingClient {

    public static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

    private static final long MILLI = 1_000_000;

    /** What lies outside of the engine. */
    public enum Seam {
        /** A command is to be sent, or the store is asked whether it announces changes. */
        STORE,
        /** The client decodes an answer; it is lost. */
        ANSWER,
        /** What a grant or renewal has to be acknowledged by is asked. */
        ACKNOWLEDGE,
        /** A task is given to the timer. */
        SCHEDULE,
        /** A thread is asked for. */
        THREAD,
        /** The channel is to be opened. */
        CHANNEL,
        /** A listener is told. */
        LISTENER,
        /** A pause is to be jittered. */
        RANDOM,
        /** A new id is asked for. */
        ID
    }

    /** What throws, at which of its uses. */
    public static final class Plan {

        private final @Nullable Seam seam;
        private final int nth;
        private final Throwable thrown;
        private int uses;
        private boolean over;

        public Plan(@Nullable Seam seam, int nth, Throwable thrown) {
            this.seam = seam;
            this.nth = nth;
            this.thrown = thrown;
        }

        public static Plan nothing() {
            return new Plan(null, 0, new Error());
        }

        /** Nothing throws from now on. */
        public void end() {
            over = true;
        }

        public boolean hasThrown() {
            return uses >= nth;
        }

        private void passes(Seam which) {
            if (which == seam && !over && ++uses == nth) {
                ThrowingClient.<RuntimeException>sneakyThrow(thrown);
            }
        }
    }

    public final LockEngine engine;
    private final Plan plan;
    private final SimulatedTime time;
    private final SimulatedRedis redis;
    private final boolean atOnce;
    private final boolean acknowledging;
    private boolean subscribed;

    /**
     * @param atOnce whether Redis answers within the call, so that who asks for a free lock does not wait
     * @param acknowledging whether grants have to be acknowledged
     */
    public ThrowingClient(
            String session,
            Plan plan,
            SimulatedTime time,
            SimulatedRedis redis,
            boolean atOnce,
            boolean acknowledging) {
        this.plan = plan;
        this.time = time;
        this.redis = redis;
        this.atOnce = atOnce;
        this.acknowledging = acknowledging;
        EngineContext.Settings settings = new EngineContext.Settings(
                Duration.ofMillis(LockModel.POLL), Duration.ofMillis(20), COMMAND_TIMEOUT, 64);
        ScriptStore store = PatientStore.on(new Runner(), settings.retryInterval(), settings.patience());
        EngineContext context = new EngineContext(settings, new ThrowingTimer(), new Workers(), () -> {
            plan.passes(Seam.RANDOM);
            return 0.3;
        });
        Supplier<String> nonce = () -> {
            plan.passes(Seam.ID);
            return "";
        };
        engine = new LockEngine(context, () -> session, nonce, store, subscriber -> new Channel());
        engine.addListener(new RecordingLockRegistry(), new Listener());
    }

    public void published(String message) {
        if (subscribed) {
            after(MILLI, () -> engine.onPush(Push.parse(message)));
        }
    }

    /** Another changed the key. */
    public void changed(String key) {
        after(MILLI, () -> engine.onChanged(key));
    }

    /** On a thread of its own, so to say: what it throws goes no further. */
    private void after(long nanos, Runnable task) {
        time.after(nanos, () -> contained(task));
    }

    private static void contained(Runnable task) {
        try {
            task.run();
        } catch (Throwable thrown) {
            // as a thread's last words
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneakyThrow(Throwable thrown) throws T {
        throw (T) thrown;
    }

    private final class Runner implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
            plan.passes(Seam.STORE);
            ScriptedEngine.Call call = new ScriptedEngine.Call(script, key, arguments);
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            if (atOnce) {
                answer(reply, redis.run(call));
            } else {
                after(MILLI, () -> {
                    Reply answer = redis.run(call);
                    after(MILLI, () -> answer(reply, answer));
                });
            }
            if (acknowledging && (script == LuaScript.ACQUIRE || script == LuaScript.RENEW)) {
                plan.passes(Seam.ACKNOWLEDGE);
            }
            if (!reply.isDone()) {
                after(
                        COMMAND_TIMEOUT.toNanos(),
                        () -> reply.completeExceptionally(new TimeoutException("Redis did not answer in time")));
            }
            return reply;
        }

        private void answer(CompletableFuture<Reply> reply, Reply answer) {
            contained(() -> {
                plan.passes(Seam.ANSWER);
                reply.complete(answer);
            });
        }

        @Override
        public boolean acknowledges() {
            return acknowledging;
        }

        @Override
        public boolean announcesChanges() {
            plan.passes(Seam.STORE);
            return true;
        }

        @Override
        public long epoch() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private final class Channel implements GrantChannel {

        private boolean opened;

        @Override
        public void open() {
            if (!opened) {
                plan.passes(Seam.CHANNEL);
                opened = true;
                after(MILLI, () -> {
                    subscribed = true;
                    engine.onSubscribed();
                });
            }
        }

        @Override
        public boolean isOpened() {
            return opened;
        }

        @Override
        public boolean isLive() {
            return subscribed;
        }

        @Override
        public void verify() {
            plan.passes(Seam.CHANNEL);
        }

        @Override
        public void close() {}
    }

    private final class ThrowingTimer implements Timer {

        @Override
        public long nanoTime() {
            return time.now();
        }

        @Override
        public long wallMillis() {
            return time.now() / MILLI;
        }

        @Override
        public Task schedule(long delayNanos, Runnable task) {
            plan.passes(Seam.SCHEDULE);
            boolean[] cancelled = {false};
            after(Math.max(1, delayNanos), () -> {
                if (!cancelled[0]) {
                    task.run();
                }
            });
            return () -> cancelled[0] = true;
        }

        @Override
        public Task repeat(long delayNanos, long pauseNanos, Runnable task) {
            plan.passes(Seam.SCHEDULE);
            boolean[] cancelled = {false};
            repeatAfter(delayNanos, pauseNanos, task, cancelled);
            return () -> cancelled[0] = true;
        }

        private void repeatAfter(long delayNanos, long pauseNanos, Runnable task, boolean[] cancelled) {
            time.after(Math.max(1, delayNanos), () -> {
                if (!cancelled[0]) {
                    contained(() -> {
                        task.run();
                    });
                    repeatAfter(pauseNanos, pauseNanos, task, cancelled);
                }
            });
        }

        @Override
        public void close() {}
    }

    private final class Workers extends ManualWorkers {

        @Override
        public void execute(Runnable task) {
            plan.passes(Seam.THREAD);
            after(0, task);
        }
    }

    private final class Listener implements LockListener {

        @Override
        public void requested(LockUse use) {
            plan.passes(Seam.LISTENER);
        }

        @Override
        public void acquired(LockUse use, Origin origin, Duration waited) {
            plan.passes(Seam.LISTENER);
        }

        @Override
        public void notAcquired(LockUse use, Duration waited) {
            plan.passes(Seam.LISTENER);
        }

        @Override
        public void abandoned(LockUse use, Duration waited) {
            plan.passes(Seam.LISTENER);
        }

        @Override
        public void unavailable(LockUse use, Duration waited) {
            plan.passes(Seam.LISTENER);
        }

        @Override
        public void released(LockUse use, Duration held, boolean known) {
            plan.passes(Seam.LISTENER);
        }

        @Override
        public void renewed(LockUse use) {
            plan.passes(Seam.LISTENER);
        }
    }
}
