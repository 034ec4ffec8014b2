package io.github.lockboot.memory;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.engine.EngineContext;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.GrantChannel.Push;
import io.github.lockboot.redis.protocol.Kind;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The locks that several registries share, and the engines of these registries. It follows the rules of the scripts, with two
 * differences: a waiter does not leave the queue because it has not polled, since a registry that closes removes its ids; and
 * every engine receives all messages.
 */
final class MemoryStore implements LockStore {

    private static final EngineContext.Settings SETTINGS =
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64);
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final MemoryTimer timer;
    private final ExecutorService workers;
    private final Timer.Check sweeps;
    private final List<LockEngine> engines = new CopyOnWriteArrayList<>();
    private final AtomicInteger sessions = new AtomicInteger();

    /** Also the monitor that guards all states. */
    private final Map<String, State> states = new HashMap<>();

    /** Starts at the wall clock, so that tokens also grow over restarts. */
    private long newestToken;

    MemoryStore(MemoryTimer timer) {
        this.timer = timer;
        this.workers = Threads.workers(Threads.daemons("lock-memory"), timer);
        this.sweeps = timer.check(SWEEP_NANOS, () -> inUse() > 0);
        this.newestToken = TimeUnit.MILLISECONDS.toMicros(timer.wallMillis());
    }

    // --- engines ----------------------------------------------------------------------------------------------

    /** {@return the beginning of the ids of a new engine} */
    String newSession() {
        return "memory" + sessions.incrementAndGet();
    }

    LockEngine newEngine(String session) {
        EngineContext context = new EngineContext(SETTINGS, timer, workers, () -> 0);
        LockEngine engine = new LockEngine(context, () -> session, () -> "", this, subscriber -> new GrantChannel() {});
        engines.removeIf(LockEngine::isOver);
        engines.add(engine);
        return engine;
    }

    /** On the timer's thread, because an engine may ask while it holds a lock of its own. */
    private void publish(Consumer<LockEngine> message) {
        timer.schedule(0, () -> engines.forEach(message));
    }

    void advance(long nanos) {
        timer.advance(nanos, this::awaitGranted);
    }

    /** Waits, up to a second, until threads that have been granted a lock have noticed it. */
    private void awaitGranted() {
        for (int i = 0; i < 10_000 && engines.stream().anyMatch(LockEngine::isAnyGrantUnseen); i++) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
    }

    // --- questions --------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<Reply> acquire(String name, String id, Kind kind, long ttlMillis, boolean enqueue) {
        return ask(name, state -> {
            state.settle();
            String owner = state.owner;
            if (owner == null || owner.equals(id)) {
                state.grantOrProlong(id, ttlMillis);
            } else if (!enqueue) {
                return new Reply.Busy(state.left());
            } else {
                state.queue.putIfAbsent(id, ttlMillis);
                if (state.positionOf(id) == 1) {
                    state.push(owner, 0, 0); // a hint
                }
            }
            return state.replyTo(id);
        });
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken) {
        return ask(name, state -> {
            if (!state.queue.isEmpty()) { // else the owner is still the same, even if its lease has run out
                state.settle();
            }
            if (!state.isOwner(id)) {
                return Reply.Plain.NOT_OWNER;
            }
            state.giveAway(lastToken);
            return state.owner == null ? Reply.Plain.RELEASED : Reply.Plain.HANDED_OVER;
        });
    }

    @Override
    public CompletableFuture<Reply> downgrade(String name, String id, long lastToken) {
        return askAsOwner(name, id, state -> Reply.Plain.NOT_OWNER);
    }

    @Override
    public CompletableFuture<Reply> unlock(
            String name, String id, long lastToken, String nextId, Kind nextKind, long nextTtlMillis) {
        return askAsOwner(name, id, state -> {
            state.queue.putIfAbsent(nextId, nextTtlMillis);
            state.giveAway(lastToken);
            if (state.isOwner(nextId)) {
                state.grantOrProlong(nextId, nextTtlMillis);
            }
            return state.replyTo(nextId);
        });
    }

    @Override
    public CompletableFuture<Reply> renew(String name, String id, long token, long ttlMillis) {
        return askAsOwner(name, id, state -> {
            if (token != state.token) {
                return Reply.Plain.NOT_OWNER;
            }
            state.grantOrProlong(id, ttlMillis);
            return new Reply.Renewed(state.left(), state.queue.size());
        });
    }

    @Override
    public CompletableFuture<Reply> cancel(String name, String id) {
        return ask(name, state -> {
            state.settle();
            if (state.isOwner(id)) {
                state.giveAway(state.token + TOKENS_PER_GRANT);
                return Reply.Plain.GIVEN_AWAY;
            }
            return state.queue.remove(id) == null ? Reply.Plain.UNKNOWN : Reply.Plain.LEFT;
        });
    }

    @Override
    public CompletableFuture<Reply> complete(String name, String id, long lastToken) {
        return askAsOwner(name, id, state -> {
            if (!state.queue.isEmpty()) {
                Push completion = new Push(id, lastToken, 0, 0, name);
                publish(engine -> engine.onCompletion(completion));
                state.queue.clear();
            }
            state.giveAway(lastToken);
            return Reply.Plain.COMPLETED;
        });
    }

    @Override
    public CompletableFuture<Reply> inspect(String name) {
        return ask(name, state -> {
            String owner = state.owner;
            return owner == null || state.left() <= 0
                    ? Reply.Plain.FREE
                    : new Reply.Held(state.token, state.left(), owner);
        });
    }

    @Override
    public String nameOf(String key) {
        return key;
    }

    @Override
    public long epoch() {
        return 0;
    }

    private CompletableFuture<Reply> askAsOwner(String name, String id, Function<State, Reply> question) {
        return ask(name, state -> {
            state.settle();
            return state.isOwner(id) ? question.apply(state) : Reply.Plain.NOT_OWNER;
        });
    }

    private CompletableFuture<Reply> ask(String name, Function<State, Reply> question) {
        synchronized (states) {
            State state = states.computeIfAbsent(name, State::new);
            Reply reply = question.apply(state);
            if (state.owner == null) {
                states.remove(name);
            } else {
                sweeps.start();
            }
            return CompletableFuture.completedFuture(reply);
        }
    }

    // --- what only locks in memory offer ----------------------------------------------------------------------

    /**
     * Ends the present hold, unless it is of the spared session.
     *
     * @return whether it ended one
     */
    boolean revoke(String name, String reason, @Nullable String spared) {
        if (!(inspect(name).join() instanceof Reply.Held held) || isOf(spared, held.owner())) {
            return false;
        }
        engines.forEach(engine -> engine.revoke(held.owner(), reason));
        cancel(name, held.owner());
        return true;
    }

    /** Moves the waiters of a session before all others. */
    void putFirst(String name, String session) {
        ask(name, state -> {
            Map<String, Long> all = new LinkedHashMap<>(state.queue);
            state.queue.keySet().removeIf(id -> !isOf(session, id));
            state.queue.putAll(all);
            return Reply.Plain.PUBLISHED;
        });
    }

    private static boolean isOf(@Nullable String session, String id) {
        return session != null && id.startsWith(session + "-");
    }

    /** Counts the names that are held, after it has ended leases that have run out. */
    int inUse() {
        synchronized (states) {
            states.values().forEach(State::settle);
            states.values().removeIf(state -> state.owner == null);
            return states.size();
        }
    }

    /** One lock. Without an owner its queue is empty. */
    private final class State {

        final String name;

        /** The ttl in milliseconds of each id that waits, in order. */
        final Map<String, Long> queue = new LinkedHashMap<>(0);

        @Nullable
        String owner;

        long token;
        private long until;

        State(String name) {
            this.name = name;
        }

        /** Ends a lease that has run out. */
        void settle() {
            if (owner != null && left() <= 0) {
                giveAway(token + TOKENS_PER_GRANT);
            }
        }

        /** Grants the lock to the first in the queue, or frees it. */
        void giveAway(long lastToken) {
            newestToken = Math.max(newestToken, lastToken);
            owner = null;
            if (!queue.isEmpty()) {
                Map.Entry<String, Long> first = queue.entrySet().iterator().next();
                queue.remove(first.getKey());
                grantOrProlong(first.getKey(), Math.min(first.getValue(), CLAIM_LEASE_MILLIS));
                push(first.getKey(), token, left());
            }
        }

        void grantOrProlong(String id, long lease) {
            if (!isOwner(id)) {
                owner = id;
                token = ++newestToken;
                until = 0;
            }
            until = Math.max(until, now() + lease);
        }

        void push(String id, long token, long lease) {
            Push push = new Push(id, token, lease, queue.size(), name);
            publish(engine -> engine.onPush(push));
        }

        boolean isOwner(String id) {
            return id.equals(owner);
        }

        /** From 1; 0 if it is not in the queue. */
        int positionOf(String id) {
            return List.copyOf(queue.keySet()).indexOf(id) + 1;
        }

        Reply replyTo(String id) {
            return isOwner(id)
                    ? new Reply.Owner(token, left(), queue.size())
                    : new Reply.Queued(positionOf(id), token, left());
        }

        long left() {
            return until - now();
        }

        private long now() {
            return TimeUnit.NANOSECONDS.toMillis(timer.nanoTime());
        }
    }
}
