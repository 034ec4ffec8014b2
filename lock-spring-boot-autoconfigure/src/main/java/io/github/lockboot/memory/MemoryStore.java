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

import io.github.lockboot.internal.PeriodicCheck;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.redis.engine.EngineContext;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.protocol.AcquisitionIds;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.GrantMessage;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The locks that several registries share, and the engines of these registries. It follows the rules of the scripts, but drops no
 * waiter that does not ask: a registry that goes takes its ids with it. An engine may ask with its mutex held, so messages are
 * delivered by the timer.
 */
final class MemoryStore implements LockStore {

    private static final EngineContext.Settings SETTINGS =
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64);
    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How long time stands still for the threads that have been granted a lock and have yet to run. */
    private static final int LOOKS = 10_000;

    private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    private record Waiting(String id, long ttl) {}

    private final MemoryTimer timer;
    private final ExecutorService workers;
    private final PeriodicCheck sweeps;
    private final Map<String, LockEngine> engines = new ConcurrentHashMap<>();
    private final AtomicInteger sessions = new AtomicInteger();
    private final ReentrantLock mutex = new ReentrantLock();
    private final Map<String, State> states = new HashMap<>();

    /** Starts at the wall clock, so that tokens grow over restarts, too. */
    private long newestToken;

    MemoryStore(MemoryTimer timer) {
        this.timer = timer;
        this.workers = Threads.workers(Threads.daemons("lock-memory"), timer);
        this.sweeps = new PeriodicCheck(timer, SWEEP_NANOS, this::sweep);
        this.newestToken = TimeUnit.MILLISECONDS.toMicros(timer.wallMillis());
    }

    // --- engines ----------------------------------------------------------------------------------------------

    LockEngine newEngine() {
        engines.values().removeIf(LockEngine::isOver);
        String session = "memory" + sessions.incrementAndGet();
        EngineContext context = new EngineContext(SETTINGS, timer, workers, () -> 0);
        LockEngine engine = new LockEngine(context, new AcquisitionIds(session), this, subscriber -> new Channel());
        engines.put(session, engine);
        return engine;
    }

    private @Nullable LockEngine engineOf(String id) {
        return engines.get(id.substring(0, id.lastIndexOf('-')));
    }

    private void push(String id, long token, long lease, long waiters, String name) {
        LockEngine engine = engineOf(id);
        if (engine != null) {
            GrantMessage message = new GrantMessage(id, token, lease, waiters, name);
            timer.schedule(0, () -> engine.onPush(message));
        }
    }

    void advance(long nanos) {
        timer.advance(nanos, this::awaitGranted);
    }

    /** Threads that have been granted a lock by now take it before time goes on. */
    private void awaitGranted() {
        for (int i = 0; i < LOOKS && engines.values().stream().anyMatch(LockEngine::isAnyGrantUnseen); i++) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    // --- questions --------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<Reply> acquire(String name, String id, long ttlMillis, boolean enqueue) {
        return ask(name, state -> {
            state.settle(id);
            if (state.owner == null) {
                state.grant(id, ttlMillis);
            }
            if (state.isOwner(id)) {
                state.prolong(ttlMillis);
                return state.owned();
            }
            if (!enqueue) {
                return new Reply.Busy(state.left());
            }
            state.enqueue(id, ttlMillis);
            if (state.queue.get(0).id.equals(id) && state.owner != null) {
                push(state.owner, 0, 0, state.queue.size(), name); // a hint
            }
            return state.queued(id);
        });
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken) {
        return ask(name, state -> {
            if (!state.queue.isEmpty()) { // else no other id has had it, even if its lease has run out
                state.settle(null);
            }
            if (!state.isOwner(id)) {
                return new Reply.NotOwner();
            }
            state.giveAway(lastToken, null);
            return state.owner == null ? new Reply.Released() : new Reply.HandedOver();
        });
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken, String nextId, long nextTtlMillis) {
        return ask(name, state -> {
            state.settle(null);
            if (!state.isOwner(id)) {
                return new Reply.NotOwner();
            }
            state.enqueue(nextId, nextTtlMillis);
            state.giveAway(lastToken, nextId);
            return state.isOwner(nextId) ? state.owned() : state.queued(nextId);
        });
    }

    @Override
    public CompletableFuture<Reply> renew(String name, String id, long token, long ttlMillis) {
        return ask(name, state -> {
            state.settle(null);
            if (!state.isOwner(id) || token != state.token) {
                return new Reply.NotOwner();
            }
            state.prolong(ttlMillis);
            return new Reply.Renewed(state.left(), state.queue.size());
        });
    }

    @Override
    public CompletableFuture<Reply> cancel(String name, String id) {
        return ask(name, state -> {
            state.settle(null);
            if (state.isOwner(id)) {
                state.giveAway(state.token + TOKENS_PER_GRANT, null);
                return new Reply.GivenAway();
            }
            return state.queue.removeIf(waiting -> waiting.id.equals(id)) ? new Reply.Left() : new Reply.Unknown();
        });
    }

    @Override
    public CompletableFuture<Reply> complete(String name, String id, long lastToken) {
        return ask(name, state -> {
            state.settle(null);
            if (!state.isOwner(id)) {
                return new Reply.NotOwner();
            }
            if (!state.queue.isEmpty()) {
                GrantMessage message = new GrantMessage(id, lastToken, 0, 0, name);
                engines.values().forEach(engine -> timer.schedule(0, () -> engine.onCompletion(message)));
                state.queue.clear();
            }
            state.giveAway(lastToken, null);
            return new Reply.Completed();
        });
    }

    @Override
    public CompletableFuture<Reply> inspect(String name) {
        return ask(name, state -> {
            String owner = state.owner;
            return owner == null || state.left() <= 0
                    ? new Reply.Free()
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

    private CompletableFuture<Reply> ask(String name, Function<State, Reply> question) {
        mutex.lock();
        try {
            State state = states.computeIfAbsent(name, State::new);
            Reply reply = question.apply(state);
            if (state.owner == null) {
                states.remove(name);
            } else {
                sweeps.start();
            }
            return CompletableFuture.completedFuture(reply);
        } finally {
            mutex.unlock();
        }
    }

    // --- what only locks in memory do -------------------------------------------------------------------------

    /**
     * Ends the present hold.
     *
     * @param spared the engine whose hold stays
     * @return whether there was another
     */
    boolean revoke(String name, String reason, @Nullable LockEngine spared) {
        if (!(inspect(name).join() instanceof Reply.Held held) || engineOf(held.owner()) == spared && spared != null) {
            return false;
        }
        LockEngine engine = engineOf(held.owner());
        if (engine != null) {
            engine.revoke(name, held.owner(), reason);
        }
        cancel(name, held.owner());
        return true;
    }

    /** Puts those who wait in an engine before all others. */
    void putFirst(String name, LockEngine engine) {
        mutex.lock();
        try {
            State state = states.get(name);
            if (state != null) {
                state.queue.sort(Comparator.comparing(waiting -> engineOf(waiting.id) != engine));
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Forgets leases that have run out and that no waiter asks for. */
    private boolean sweep() {
        mutex.lock();
        try {
            states.values().forEach(state -> state.settle(null));
            states.values().removeIf(state -> state.owner == null);
            return !states.isEmpty();
        } finally {
            mutex.unlock();
        }
    }

    /** The number of locks that are held. */
    int inUse() {
        mutex.lock();
        try {
            sweep();
            return states.size();
        } finally {
            mutex.unlock();
        }
    }

    /** Messages reach the engines of this process anyway. */
    private static final class Channel implements GrantChannel {

        @Override
        public void open() {}

        @Override
        public boolean isOpened() {
            return true;
        }

        @Override
        public void follow() {}

        @Override
        public boolean isLive() {
            return true;
        }

        @Override
        public void verify() {}

        @Override
        public void close() {}
    }

    /** One lock: its owner and the queue, in which ids are only while there is an owner. Guarded by the mutex. */
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

        /** @param caller the id that asks, which learns from the reply that it has been granted the lock */
        void settle(@Nullable String caller) {
            if (owner != null && left() <= 0) {
                giveAway(token + TOKENS_PER_GRANT, caller);
            }
        }

        /** Grants the lock to the first in the queue, or frees it. */
        void giveAway(long lastToken, @Nullable String caller) {
            newestToken = Math.max(newestToken, lastToken);
            owner = null;
            if (!queue.isEmpty()) {
                Waiting first = queue.remove(0);
                boolean asks = first.id.equals(caller);
                grant(first.id, asks ? first.ttl : Math.min(first.ttl, CLAIM_LEASE_MILLIS));
                if (!asks) {
                    push(first.id, token, left(), queue.size(), name);
                }
            }
        }

        void grant(String id, long lease) {
            owner = id;
            token = ++newestToken;
            until = now() + lease;
        }

        void prolong(long ttl) {
            until = Math.max(until, now() + ttl);
        }

        void enqueue(String id, long ttl) {
            if (positionOf(id) == 0) {
                queue.add(new Waiting(id, ttl));
            }
        }

        boolean isOwner(String id) {
            return id.equals(owner);
        }

        Reply owned() {
            return new Reply.Owner(token, left(), queue.size());
        }

        Reply queued(String id) {
            return new Reply.Queued(positionOf(id), token, left());
        }

        /** From 1; 0 if it is not in the queue. */
        private int positionOf(String id) {
            return queue.stream().map(Waiting::id).toList().indexOf(id) + 1;
        }

        long left() {
            return until - now();
        }

        private long now() {
            return TimeUnit.NANOSECONDS.toMillis(timer.nanoTime());
        }
    }
}
