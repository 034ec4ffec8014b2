package io.github.lockboot.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.redis.protocol.Kind;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.ScriptStore;

import static org.assertj.core.api.Assertions.assertThat;

/** An engine whose time, Redis and channel are played by the test, one step after the other on its own thread. */
public final class ScriptedEngine {

    public static final String NAME = "name";
    public static final Duration TTL = Duration.ofSeconds(30);
    public static final String SESSION = "session";

    static final Map<LuaScript, String> SCRIPTS = Map.of(
            LuaScript.ACQUIRE, "acquire",
            LuaScript.UNLOCK, "unlock",
            LuaScript.RENEW, "renew",
            LuaScript.SHOW, "show");

    private final Deque<Sent> sent = new ArrayDeque<>();

    /** What a test does not look at is not dropped. */
    private final List<CompletableFuture<Lease>> requested = new ArrayList<>();

    private final CallerRuns workers = new CallerRuns();
    public final ManualTimer timer = new ManualTimer();
    public final ScriptStore store;
    public final LockEngine engine;
    public boolean channelLive = true;
    public boolean announcesChanges;
    public boolean connecting;
    public int channelVerified;
    public long epoch;

    /** What chance gives, in [0, 1). */
    public double chance;

    /** Whether grants have to be acknowledged. */
    public boolean acknowledging;

    public ScriptedEngine(int localHandoffLimit, LockListener... listeners) {
        this(Duration.ofSeconds(2), localHandoffLimit, listeners);
    }

    public ScriptedEngine(Duration retryInterval, int localHandoffLimit, LockListener... listeners) {
        EngineContext.Settings settings = new EngineContext.Settings(
                retryInterval, Duration.ofMillis(20), Duration.ofSeconds(2), localHandoffLimit);
        store = PatientStore.on(new Redis(), settings.poll(), settings.patience());
        EngineContext context = new EngineContext(settings, timer, workers, () -> chance);
        engine = new LockEngine(context, () -> SESSION, () -> "", store, subscriber -> new Channel());
        List.of(listeners).forEach(listener -> engine.addListener(new RecordingLockRegistry(), listener));
    }

    /** A script to run on a key. */
    public record Call(LuaScript script, String key, byte[]... arguments) {}

    /** A command that the test has not answered yet. */
    public record Sent(Call call, CompletableFuture<Reply> reply, Consumer<Reply> late) {

        /** It is called keep, transfer or downgrade if a script of another name does so. */
        public String script() {
            if (call.script() == LuaScript.UNLOCK
                    && call.arguments().length > 3
                    && argument(3).isEmpty()) {
                return "keep";
            } else if (call.script() == LuaScript.ACQUIRE && call.arguments().length > 5) {
                return argument(5).equals(id()) ? "downgrade" : "transfer";
            }
            return SCRIPTS.get(call.script());
        }

        public String id() {
            return argument(0);
        }

        public String argument(int index) {
            return index < call.arguments().length ? new String(call.arguments()[index], StandardCharsets.UTF_8) : "";
        }

        /** In time, or late if it has failed. */
        public void answer(Reply answer) {
            if (!reply.complete(answer)) {
                late.accept(answer);
            }
        }

        public void fail(String message) {
            reply.completeExceptionally(new IllegalStateException(message));
        }

        /** The command timeout has passed. */
        public void expire() {
            reply.completeExceptionally(new TimeoutException("Redis did not answer in time"));
        }
    }

    /** The oldest command not yet looked at, which must be of this script. */
    public Sent next(String script) {
        assertThat(sent).as("a command is sent").isNotEmpty();
        Sent first = sent.remove();
        assertThat(first.script()).isEqualTo(script);
        return first;
    }

    /** The oldest command not yet looked at, whatever it is. */
    public Sent next() {
        return sent.remove();
    }

    /** Commands not yet looked at. */
    public int sentCount() {
        return sent.size();
    }

    public void nothingIsSent() {
        assertThat(sent.stream().map(each -> each.script() + " " + each.id())).isEmpty();
    }

    public CompletableFuture<Lease> acquire(Duration wait) {
        return acquire(wait, TTL, true);
    }

    public CompletableFuture<Lease> acquire(Duration wait, Duration ttl, boolean renew) {
        return acquire(wait, Terms.exclusive(ttl.toMillis(), renew));
    }

    public CompletableFuture<Lease> acquire(Kind kind, Duration wait) {
        return acquire(kind, wait, TTL);
    }

    public CompletableFuture<Lease> acquire(Kind kind, Duration wait, Duration ttl) {
        return acquire(wait, kind.terms(ttl.toMillis(), true));
    }

    /** For a caller that does not wait behind so many others. */
    public CompletableFuture<Lease> acquireBehindFewerThan(int maxWaiting, Kind kind, Duration wait) {
        Terms terms = kind.terms(TTL.toMillis(), true);
        return request(new LockRequest(NAME, "group", terms, wait.toNanos(), 0, true, false, maxWaiting));
    }

    private CompletableFuture<Lease> acquire(Duration wait, Terms terms) {
        return request(new LockRequest(NAME, null, terms, wait.toNanos(), 0, true, false, LockRequest.ANY_NUMBER));
    }

    public CompletableFuture<Lease> acquireNamed(String name, Duration wait) {
        return request(new LockRequest(
                name,
                null,
                Terms.exclusive(TTL.toMillis(), true),
                wait.toNanos(),
                0,
                true,
                false,
                LockRequest.ANY_NUMBER));
    }

    private CompletableFuture<Lease> request(LockRequest request) {
        CompletableFuture<Lease> future = engine.acquireAsync(request);
        requested.add(future);
        return future;
    }

    /** A lease granted at once, Redis answering without delay. */
    public Lease granted(long token, Duration lease) {
        CompletableFuture<Lease> future = acquire(Duration.ofMinutes(1));
        next("acquire").answer(new Reply.Granted(token, lease.toMillis(), 0));
        return future.join();
    }

    public void push(String id, long grantNumber, Duration lease, long waiters) {
        push(id, grantNumber, lease, waiters, grantNumber);
    }

    public void push(String id, long grantNumber, Duration lease, long waiters, long token) {
        engine.onPush(new Push(id, grantNumber, lease.toMillis(), waiters, token, "lock:" + NAME));
    }

    private final class Redis implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
            CompletableFuture<Reply> reply = new CompletableFuture<>();
            sent.add(new Sent(new Call(script, key, arguments), reply, late));
            return reply;
        }

        @Override
        public boolean acknowledges() {
            return acknowledging;
        }

        @Override
        public boolean isConnecting() {
            return connecting;
        }

        @Override
        public long epoch() {
            return epoch;
        }

        @Override
        public boolean announcesChanges() {
            return announcesChanges;
        }

        @Override
        public void close() {}
    }

    private final class Channel implements GrantChannel {

        @Override
        public void open() {}

        @Override
        public boolean isOpened() {
            return true;
        }

        @Override
        public boolean isLive() {
            return channelLive;
        }

        @Override
        public void verify() {
            channelVerified++;
        }

        @Override
        public void close() {}
    }

    /** The next thread that is asked for cannot be made. */
    public void lackThread() {
        workers.lacking = true;
    }

    /** The next thread that is asked for cannot be made, nor can a task be planned to ask again. */
    public void lackThreadAndMemory() {
        lackThread();
        workers.whenLacking = timer::lackOnce;
    }

    /** What is given to threads from now on is not run before {@link #resumeThreads}. */
    public void holdThreads() {
        workers.holding = true;
    }

    public void resumeThreads() {
        workers.holding = false;
        while (!workers.held.isEmpty()) {
            workers.held.remove().run();
        }
    }

    private static final class CallerRuns extends ManualWorkers {

        private final Deque<Runnable> held = new ArrayDeque<>();
        private boolean lacking;
        private Runnable whenLacking = () -> {};
        private boolean holding;

        @Override
        public void execute(Runnable task) {
            if (lacking) {
                lacking = false;
                whenLacking.run();
                whenLacking = () -> {};
                throw new OutOfMemoryError("unable to create native thread");
            }
            if (holding) {
                held.add(task);
            } else {
                task.run();
            }
        }
    }
}
