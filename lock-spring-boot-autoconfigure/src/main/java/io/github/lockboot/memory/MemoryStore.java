package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockboot.engine.EngineContext;
import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.LockStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure;
import io.github.lockboot.internal.Announcements;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The locks that several registries share, and the engines of these registries. It follows the rules of the scripts, with two
 * differences: a waiter does not leave the queue because it has not polled, since a registry that closes removes its ids; and
 * every engine receives all messages.
 */
final class MemoryStore implements LockStore {

    private static final EngineContext.Settings SETTINGS =
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64);

    /** Nothing is sent twice. */
    private static final Client ONCE_AND_AT_ONCE = new Client() {

        @Override
        public StoreFailure failureOf(@Nullable Throwable failure) {
            return StoreFailure.UNKNOWN;
        }

        @Override
        public long epoch() {
            return 0;
        }
    };

    private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Timer timer;
    private final int maxHolders;
    private final ExecutorService workers;
    private final Timer.Check sweeps;
    private final List<LockEngine> engines = new CopyOnWriteArrayList<>();
    private final AtomicInteger sessions = new AtomicInteger();
    final Announcements announcements = new Announcements();

    /** Also the monitor that guards all states. */
    private final Map<String, State> states = new HashMap<>();

    /** Starts at the wall clock, so that tokens also grow over restarts. */
    private long newestToken;

    MemoryStore(Timer timer, int maxHolders) {
        this.timer = timer;
        this.maxHolders = maxHolders;
        this.workers = Threads.workers(Threads.daemons("lock-memory"));
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

    // --- questions --------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<Reply> acquire(String name, String id, int permits, long ttlMillis, boolean enqueue) {
        return ask(name, state -> {
            state.update();
            Holder holder = state.holder(id);
            if (holder != null) {
                holder.prolong(ttlMillis);
            } else if (state.queue.isEmpty() && state.admits(permits)) {
                state.grant(id, permits, ttlMillis);
            } else if (!enqueue) {
                return new Reply.Busy(state.left());
            } else {
                state.queue.putIfAbsent(id, new Waiter(permits, ttlMillis));
            }
            return state.replyTo(id);
        });
    }

    @Override
    public CompletableFuture<Reply> unlock(String name, String id, long lastToken) {
        return ask(name, state -> {
            boolean same = state.queue.isEmpty() && state.isExclusive(); // even if its lease has run out
            if (!same) {
                state.update();
            }
            Holder holder = state.holder(id);
            if (holder == null) {
                return Reply.Plain.NOT_OWNER;
            }
            state.end(holder, lastToken);
            return state.admit() > 0 ? Reply.Plain.HANDED_OVER : Reply.Plain.RELEASED;
        });
    }

    @Override
    public CompletableFuture<Reply> unlock(
            String name, String id, long lastToken, String nextId, int nextPermits, long nextTtlMillis) {
        return askAsHolder(name, id, (state, holder) -> {
            if (state.holder(nextId) == null) {
                state.queue.putIfAbsent(nextId, new Waiter(nextPermits, nextTtlMillis));
            }
            state.end(holder, lastToken);
            state.admit();
            Holder next = state.holder(nextId);
            if (next != null) {
                next.prolong(nextTtlMillis);
            }
            return state.replyTo(nextId);
        });
    }

    @Override
    public CompletableFuture<Reply> keep(String name, String id, long grantNumber, long millis) {
        return askAsHolder(
                name,
                id,
                (state, holder) -> holder.fence == grantNumber ? state.keep(holder, millis) : Reply.Plain.NOT_OWNER);
    }

    @Override
    public CompletableFuture<Reply> downgrade(String name, String id, long fence, long lastToken) {
        return askAsHolder(name, id, (state, holder) -> {
            if (fence != holder.fence || holder.permits > 0) {
                return Reply.Plain.NOT_OWNER;
            }
            if (holder.permits == EXCLUSIVE) {
                holder.permits = SHARED;
                state.used(lastToken);
                state.admit();
            }
            return state.renewed(holder);
        });
    }

    @Override
    public CompletableFuture<Reply> renew(String name, String id, long fence, long ttlMillis, Consumer<Reply> late) {
        return ask(name, state -> {
            state.update();
            return state.renew(new Permit(id, fence, ttlMillis));
        });
    }

    @Override
    public CompletableFuture<Reply> renewPermits(String name, List<Permit> permits, Consumer<Reply> late) {
        return ask(name, state -> {
            state.update();
            return new Reply.All(permits.stream().map(state::renew).toList());
        });
    }

    @Override
    public CompletableFuture<Reply> cancel(String name, String id) {
        return ask(name, state -> {
            state.update();
            Holder holder = state.holder(id);
            if (holder != null) {
                state.expire(holder);
            }
            boolean left = state.queue.remove(id) != null;
            state.admit();
            return holder != null ? Reply.Plain.GIVEN_AWAY : left ? Reply.Plain.LEFT : Reply.Plain.UNKNOWN;
        });
    }

    @Override
    public CompletableFuture<Reply> inspect(String name) {
        return ask(
                name,
                state -> state.holders.stream()
                        .filter(holder -> holder.left() > 0)
                        .findFirst()
                        .<Reply>map(holder -> new Reply.Held(holder.fence, holder.left(), holder.id))
                        .orElse(Reply.Plain.FREE));
    }

    @Override
    public String nameOf(String key) {
        return key;
    }

    @Override
    public String displayName() {
        return "memory";
    }

    @Override
    public Client client() {
        return ONCE_AND_AT_ONCE;
    }

    private CompletableFuture<Reply> askAsHolder(String name, String id, BiFunction<State, Holder, Reply> question) {
        return ask(name, state -> {
            state.update();
            Holder holder = state.holder(id);
            return holder == null ? Reply.Plain.NOT_OWNER : question.apply(state, holder);
        });
    }

    private CompletableFuture<Reply> ask(String name, Function<State, Reply> question) {
        synchronized (states) {
            State state = states.computeIfAbsent(name, State::new);
            Reply reply = question.apply(state);
            if (state.holders.isEmpty()) {
                states.remove(name);
            } else {
                sweeps.start();
            }
            return CompletableFuture.completedFuture(reply);
        }
    }

    // --- what only locks in memory offer ----------------------------------------------------------------------

    /**
     * Ends the present holds, except those of the spared session.
     *
     * @return whether it ended any
     */
    boolean revoke(String name, String reason, @Nullable String spared) {
        List<String> held = new ArrayList<>();
        ask(name, state -> {
            state.holders.stream()
                    .filter(holder -> holder.left() > 0 && !isOf(spared, holder.id))
                    .forEach(holder -> held.add(holder.id));
            return Reply.Plain.PUBLISHED;
        });
        held.forEach(id -> {
            engines.forEach(engine -> engine.revoke(id, reason));
            cancel(name, id);
        });
        return !held.isEmpty();
    }

    /** Moves the waiters of a session before all others. */
    void putFirst(String name, String session) {
        ask(name, state -> {
            Map<String, Waiter> all = new LinkedHashMap<>(state.queue);
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
            states.values().forEach(State::update);
            states.values().removeIf(state -> state.holders.isEmpty());
            return states.size();
        }
    }

    private record Waiter(int permits, long ttlMillis) {}

    private final class Holder {

        final long fence;
        String id;
        int permits;
        private long until;

        Holder(String id, int permits, long fence) {
            this.id = id;
            this.permits = permits;
            this.fence = fence;
        }

        void prolong(long lease) {
            until = Math.max(until, now() + lease);
        }

        /** Under an id that nobody uses. */
        void keep(long millis) {
            id = "kept-" + id;
            until = now() + millis;
        }

        long left() {
            return until - now();
        }

        private long now() {
            return TimeUnit.NANOSECONDS.toMillis(timer.nanoTime());
        }
    }

    /** One lock. Without a holder its queue is empty. */
    private final class State {

        final String name;

        /** In order of their grants. */
        final List<Holder> holders = new ArrayList<>(1);

        /** Each id that waits, in order. */
        final Map<String, Waiter> queue = new LinkedHashMap<>(0);

        /** The newest token that an exclusive or limited holder may have used, which readers have as theirs; 0 if not known. */
        private long token;

        State(String name) {
            this.name = name;
        }

        /** Ends the leases that have run out. */
        void update() {
            List.copyOf(holders).stream().filter(holder -> holder.left() <= 0).forEach(this::expire);
            admit();
        }

        /** Ends a hold of which it is not known what tokens it has used. */
        void expire(Holder holder) {
            end(holder, holder.permits == EXCLUSIVE ? holder.fence + TOKENS_PER_GRANT : 0);
        }

        void end(Holder holder, long lastToken) {
            holders.remove(holder);
            if (holder.permits != SHARED) {
                used(lastToken);
            }
        }

        /** A holder that was not shared has used tokens up to this one. */
        void used(long lastToken) {
            newestToken = Math.max(newestToken, lastToken);
            token = Math.max(token, lastToken);
        }

        /** Whether fewer hold the lock than the request and each holder allow. */
        boolean admits(int permits) {
            return holders.size() < mostWith(permits)
                    && holders.stream()
                            .allMatch(holder ->
                                    (holder.permits > 0) == (permits > 0) && holders.size() < mostWith(holder.permits));
        }

        private int mostWith(int permits) {
            return permits == EXCLUSIVE ? 1 : permits == SHARED ? maxHolders : Math.min(permits, maxHolders);
        }

        /** Grants the lock to the first waiters, as many as the holders admit. Returns how many. */
        int admit() {
            List<Holder> granted = new ArrayList<>(0);
            while (!queue.isEmpty()) {
                Map.Entry<String, Waiter> first = queue.entrySet().iterator().next();
                Waiter waiter = first.getValue();
                if (!admits(waiter.permits)) {
                    break;
                }
                queue.remove(first.getKey());
                granted.add(grant(first.getKey(), waiter.permits, Math.min(waiter.ttlMillis, CLAIM_LEASE_MILLIS)));
            }
            granted.forEach(holder -> push(holder.id, holder.fence, holder.left(), tokenOf(holder)));
            return granted.size();
        }

        Holder grant(String id, int permits, long lease) {
            Holder holder = new Holder(id, permits, ++newestToken);
            holder.prolong(lease);
            holders.add(holder);
            if (permits != SHARED) {
                used(permits > 0 ? holder.fence + TOKENS_PER_PERMIT - 1 : holder.fence);
            } else if (token == 0) {
                token = holder.fence;
            }
            return holder;
        }

        private void push(String id, long fence, long lease, long token) {
            Push push = new Push(id, fence, lease, queue.size(), token, name);
            publish(engine -> engine.onPush(push));
        }

        @Nullable
        Holder holder(String id) {
            return holders.stream()
                    .filter(holder -> holder.id.equals(id))
                    .findFirst()
                    .orElse(null);
        }

        boolean isExclusive() {
            return !holders.isEmpty() && holders.get(0).permits == EXCLUSIVE;
        }

        Reply replyTo(String id) {
            Holder holder = holder(id);
            if (holder != null) {
                return new Reply.Owner(holder.fence, holder.left(), queue.size(), tokenOf(holder));
            }
            int position = List.copyOf(queue.keySet()).indexOf(id) + 1;
            if (position == 1) {
                holders.forEach(each -> push(each.id, 0, 0, 0)); // hints
            }
            return new Reply.Queued(position, newestToken, left());
        }

        Reply keep(Holder holder, long millis) {
            if (millis < holder.left()) {
                queue.keySet().stream().limit(1).forEach(first -> push(first, 0, 0, 0)); // a hint
            }
            holder.keep(millis);
            return Reply.Plain.KEPT;
        }

        Reply renew(Permit permit) {
            Holder holder = holder(permit.id());
            if (holder == null || holder.fence != permit.fence()) {
                return Reply.Plain.NOT_OWNER;
            }
            holder.prolong(permit.ttlMillis());
            return renewed(holder);
        }

        Reply renewed(Holder holder) {
            return new Reply.Renewed(holder.left(), queue.size());
        }

        private long tokenOf(Holder holder) {
            return holder.permits == SHARED ? token : holder.fence;
        }

        /** How long until the first lease ends. */
        long left() {
            return holders.stream().mapToLong(Holder::left).min().orElse(0);
        }
    }
}
