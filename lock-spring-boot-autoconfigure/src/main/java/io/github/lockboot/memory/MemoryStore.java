package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.engine.EngineContext;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.GrantChannel.Push;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The locks that several registries share, and the engines of these registries. It follows the rules of the scripts, except that
 * no waiter needs to be seen: a registry that closes removes its ids. An engine may ask with a mutex held, so the timer delivers
 * the messages.
 */
final class MemoryStore implements LockStore {

    private static final EngineContext.Settings SETTINGS =
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64);
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final MemoryTimer timer;
    private final ExecutorService workers;
    private final Timer.Check sweeps;
    private final Map<String, LockEngine> engines = new ConcurrentHashMap<>();
    private final AtomicInteger sessions = new AtomicInteger();
    private final ReentrantLock mutex = new ReentrantLock();
    private final Map<String, State> states = new HashMap<>();

    /** Starts at the wall clock, so that tokens grow over restarts, too. */
    private long newestToken;

    MemoryStore(MemoryTimer timer) {
        this.timer = timer;
        this.workers = Threads.workers(Threads.daemons("lock-memory"), timer);
        this.sweeps = timer.check(SWEEP_NANOS, () -> inUse() > 0);
        this.newestToken = TimeUnit.MILLISECONDS.toMicros(timer.wallMillis());
    }

    // --- engines ----------------------------------------------------------------------------------------------

    LockEngine newEngine() {
        engines.values().removeIf(LockEngine::isOver);
        String session = "memory" + sessions.incrementAndGet();
        EngineContext context = new EngineContext(SETTINGS, timer, workers, () -> 0);
        LockEngine engine = new LockEngine(context, () -> session, () -> "", this, subscriber -> new GrantChannel() {});
        engines.put(session, engine);
        return engine;
    }

    private @Nullable LockEngine engineOf(String id) {
        return engines.get(id.substring(0, id.lastIndexOf('-')));
    }

    private void push(String id, long token, long lease, State state) {
        LockEngine engine = engineOf(id);
        if (engine != null) {
            Push message = new Push(id, token, lease, state.queue.size(), state.name);
            timer.schedule(0, () -> engine.onPush(message));
        }
    }

    void advance(long nanos) {
        timer.advance(nanos, this::awaitGranted);
    }

    /** Time stands still until threads that have been granted a lock have run, but not longer than a second. */
    private void awaitGranted() {
        for (int i = 0; i < 10_000 && engines.values().stream().anyMatch(LockEngine::isAnyGrantUnseen); i++) {
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
    }

    // --- questions --------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<Reply> acquire(String name, String id, long ttlMillis, boolean enqueue) {
        return ask(name, state -> {
            state.settle(id);
            String owner = state.owner;
            if (owner == null || owner.equals(id)) {
                state.grantOrProlong(id, ttlMillis);
            } else if (!enqueue) {
                return new Reply.Busy(state.left());
            } else {
                state.enqueue(id, ttlMillis);
                if (state.positionOf(id) == 1) {
                    push(owner, 0, 0, state); // a hint
                }
            }
            return state.replyTo(id);
        });
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken) {
        return ask(name, state -> {
            if (!state.queue.isEmpty()) { // else no other id has had it, even if its lease has run out
                state.settle(null);
            }
            if (!state.isOwner(id)) {
                return Reply.Plain.NOT_OWNER;
            }
            state.giveAway(lastToken, null);
            return state.owner == null ? Reply.Plain.RELEASED : Reply.Plain.HANDED_OVER;
        });
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken, String nextId, long nextTtlMillis) {
        return askAsOwner(name, id, state -> {
            state.enqueue(nextId, nextTtlMillis);
            state.giveAway(lastToken, nextId);
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
            state.settle(null);
            if (state.isOwner(id)) {
                state.giveAway(state.token + TOKENS_PER_GRANT, null);
                return Reply.Plain.GIVEN_AWAY;
            }
            return state.queue.removeIf(waiting -> waiting.id.equals(id)) ? Reply.Plain.LEFT : Reply.Plain.UNKNOWN;
        });
    }

    @Override
    public CompletableFuture<Reply> complete(String name, String id, long lastToken) {
        return askAsOwner(name, id, state -> {
            if (!state.queue.isEmpty()) {
                Push message = new Push(id, lastToken, 0, 0, name);
                engines.values().forEach(engine -> timer.schedule(0, () -> engine.onCompletion(message)));
                state.queue.clear();
            }
            state.giveAway(lastToken, null);
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
            state.settle(null);
            return state.isOwner(id) ? question.apply(state) : Reply.Plain.NOT_OWNER;
        });
    }

    private CompletableFuture<Reply> ask(String name, Function<State, Reply> question) {
        return CompletableFuture.completedFuture(locked(() -> {
            State state = states.computeIfAbsent(name, State::new);
            Reply reply = question.apply(state);
            if (state.owner == null) {
                states.remove(name);
            } else {
                sweeps.start();
            }
            return reply;
        }));
    }

    private <T> T locked(Supplier<T> action) {
        mutex.lock();
        try {
            return action.get();
        } finally {
            mutex.unlock();
        }
    }

    // --- what only locks in memory offer ----------------------------------------------------------------------

    /**
     * Ends the present hold, unless it is one of an engine.
     *
     * @return whether there was one
     */
    boolean revoke(String name, String reason, @Nullable LockEngine spared) {
        if (!(inspect(name).join() instanceof Reply.Held held)) {
            return false;
        }
        LockEngine engine = engineOf(held.owner());
        if (engine != null && engine == spared) {
            return false;
        }
        if (engine != null) {
            engine.revoke(name, held.owner(), reason);
        }
        cancel(name, held.owner());
        return true;
    }

    /** Puts those who wait in an engine before all others. */
    void putFirst(String name, LockEngine engine) {
        ask(name, state -> {
            state.queue.sort(Comparator.comparing(waiting -> engineOf(waiting.id) != engine));
            return Reply.Plain.PUBLISHED;
        });
    }

    /** Counts the names that are held, and forgets leases that have run out. */
    int inUse() {
        return locked(() -> {
            states.values().forEach(state -> state.settle(null));
            states.values().removeIf(state -> state.owner == null);
            return states.size();
        });
    }

    private record Waiting(String id, long ttl) {}

    /** One lock: its owner, and the queue, which is empty without an owner. Guarded by the mutex. */
    private final class State {

        final String name;
        final List<Waiting> queue = new ArrayList<>(0);

        @Nullable
        String owner;

        long token;
        private long until;

        State(String name) {
            this.name = name;
        }

        /** @param asking the id that asks, which learns from the reply if it is granted the lock */
        void settle(@Nullable String asking) {
            if (owner != null && left() <= 0) {
                giveAway(token + TOKENS_PER_GRANT, asking);
            }
        }

        /** Grants the lock to the first in the queue, or frees it. */
        void giveAway(long lastToken, @Nullable String asking) {
            newestToken = Math.max(newestToken, lastToken);
            owner = null;
            if (!queue.isEmpty()) {
                Waiting first = queue.remove(0);
                if (first.id.equals(asking)) {
                    grantOrProlong(first.id, first.ttl);
                } else {
                    grantOrProlong(first.id, Math.min(first.ttl, CLAIM_LEASE_MILLIS));
                    push(first.id, token, left(), this);
                }
            }
        }

        void grantOrProlong(String id, long lease) {
            long end = now() + lease;
            until = isOwner(id) ? Math.max(until, end) : end;
            token = isOwner(id) ? token : ++newestToken;
            owner = id;
        }

        void enqueue(String id, long ttl) {
            if (positionOf(id) == 0) {
                queue.add(new Waiting(id, ttl));
            }
        }

        boolean isOwner(String id) {
            return id.equals(owner);
        }

        /** From 1; 0 if it is not in the queue. */
        int positionOf(String id) {
            return queue.stream().map(Waiting::id).toList().indexOf(id) + 1;
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
