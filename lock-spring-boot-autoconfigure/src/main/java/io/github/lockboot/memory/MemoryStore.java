package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockboot.engine.EngineContext;
import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.LockKind;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.internal.Announcements;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The locks that several registries share, and the engines of these registries. It follows the rules of the scripts,
 * except that a waiter is never taken for dead, since a registry that closes removes its ids; that the queue has no
 * limit; and that every engine receives all messages.
 */
final class MemoryStore implements LockStore {

    private static final EngineContext.Settings SETTINGS =
            new EngineContext.Settings(Duration.ofSeconds(2), Duration.ofMillis(20), Duration.ofSeconds(2), 64);

    /** Nothing is sent, so nothing is sent twice. */
    private static final Client CLIENT = new Client() {};

    /** Begins ids that no engine uses. */
    private static final String KEPT = "kept-";

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
        if (maxHolders < 1) {
            throw new IllegalArgumentException("maxHolders must be positive, but is " + maxHolders);
        }
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

    // --- commands ---------------------------------------------------------------------------------------------

    @Override
    public CompletableFuture<Reply> acquire(String name, String id, Terms terms, boolean enqueue, @Nullable Held held) {
        return run(name, state -> {
            if (held != null) {
                return state.take(id, terms, held);
            }
            Holder holder = state.holderOf(id);
            if (holder != null) {
                holder.extend(terms.ttlMillis());
            } else if (state.queue.isEmpty() && state.admits(terms)) {
                state.grant(id, terms, terms.ttlMillis());
            } else if (enqueue) {
                state.queue.putIfAbsent(id, terms);
            } else {
                Holder first = state.first();
                return first == null ? new Reply.Busy(0) : new Reply.Busy(first.left(), first.id);
            }
            return state.answerTo(id);
        });
    }

    @Override
    public CompletableFuture<Reply> release(String name, String id, long lastToken, @Nullable Next next) {
        return run(name, state -> {
            Holder holder = state.holderOf(id);
            if (state.queue.remove(id) != null) {
                state.admit();
            }
            if (holder == null || next instanceof Next.Kept kept && holder.grantNumber != kept.grantNumber()) {
                return Reply.Plain.NOT_HOLDER;
            } else if (next instanceof Next.Kept kept) {
                return state.keep(holder, kept.millis());
            } else if (next instanceof Next.Queued queued) {
                return state.release(holder, lastToken, queued);
            }
            return state.release(holder, lastToken) > 0 ? Reply.Plain.GRANTED_NEXT : Reply.Plain.RELEASED;
        });
    }

    @Override
    public CompletableFuture<Reply> renew(String name, List<Grant> grants, Consumer<Reply> late) {
        return run(name, state -> {
            List<Reply> replies = grants.stream().map(state::renew).toList();
            return replies.size() > 1 ? new Reply.All(replies) : replies.get(0);
        });
    }

    @Override
    public CompletableFuture<Reply> show(String name) {
        return run(
                name,
                state -> new Reply.Shown(
                        Optional.ofNullable(state.first()).map(Holder::left).orElse(Reply.Shown.NO_KEY),
                        newestToken,
                        state.queue.size(),
                        state.holders.stream().map(this::shown).toList(),
                        ""));
    }

    private Reply.Holder shown(Holder holder) {
        Terms terms = holder.terms;
        return new Reply.Holder(
                holder.id,
                holder.grantNumber,
                terms.ttlMillis(),
                timer.wallMillis() + holder.left(),
                terms.kind(),
                terms.permits());
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
        return CLIENT;
    }

    private CompletableFuture<Reply> run(String name, Function<State, Reply> command) {
        return CompletableFuture.completedFuture(apply(name, command));
    }

    /** Brings the lock up to date first. */
    private <T> T apply(String name, Function<State, T> command) {
        synchronized (states) {
            State state = states.computeIfAbsent(name, State::new);
            state.update();
            T result = command.apply(state);
            if (state.holders.isEmpty()) {
                states.remove(name);
            } else {
                sweeps.start();
            }
            return result;
        }
    }

    // --- what only locks in memory offer ----------------------------------------------------------------------

    /**
     * Ends the present holds, except those of the spared session.
     *
     * @return whether it ended any
     */
    boolean revoke(String name, String reason, @Nullable String spared) {
        List<Reply.Holder> held = apply(
                name,
                state -> state.holders.stream()
                        .filter(holder -> !isOf(spared, holder.id))
                        .map(this::shown)
                        .toList());
        held.forEach(holder -> {
            engines.forEach(engine -> engine.revoke(holder.id(), reason));
            release(name, holder.id(), holder.lastToken(), null);
        });
        return !held.isEmpty();
    }

    /** Moves the waiters of a session before all others. */
    void putFirst(String name, String session) {
        apply(name, state -> {
            Map<String, Terms> all = new LinkedHashMap<>(state.queue);
            state.queue.keySet().removeIf(id -> !isOf(session, id));
            state.queue.putAll(all);
            return state;
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

    private long now() {
        return TimeUnit.NANOSECONDS.toMillis(timer.nanoTime());
    }

    private final class Holder {

        final long grantNumber;
        String id;
        Terms terms;

        private long expiry;

        Holder(String id, Terms terms, long grantNumber) {
            this.id = id;
            this.terms = terms;
            this.grantNumber = grantNumber;
        }

        void extend(long lease) {
            expiry = Math.max(expiry, now() + lease);
        }

        long left() {
            return expiry - now();
        }
    }

    /** One lock. Without a holder its queue is empty. */
    private final class State {

        final String name;

        /** In order of their grants. */
        final List<Holder> holders = new ArrayList<>(1);

        /** Each id that waits, in order. */
        final Map<String, Terms> queue = new LinkedHashMap<>(0);

        /** The fencing token of shared holders: the last that others have used before them. 0 if that is not known. */
        private long token;

        State(String name) {
            this.name = name;
        }

        /** Gives a hold to the id, or makes it a shared one. */
        Reply take(String id, Terms terms, Held held) {
            Holder known = holderOf(id);
            Holder holder = known != null ? known : holderOf(held.id());
            boolean shares = terms.kind() == LockKind.SHARED;
            if (holder == null
                    || holder.grantNumber != held.grantNumber()
                    || shares && holder.terms.kind() == LockKind.LIMITED) {
                return Reply.Plain.NOT_HOLDER;
            }
            if (shares && holder.terms.kind() == LockKind.EXCLUSIVE) {
                holder.terms = terms;
                used(held.lastToken());
                admit();
            }
            if (known == null) {
                holder.id = id;
                holder.expiry = 0; // nobody counts on the former lease any more
            }
            if (!held.id().equals(id)) {
                holder.extend(terms.ttlMillis());
            }
            return answerTo(id);
        }

        /** Ends the leases that have run out, and grants what is free. */
        void update() {
            holders.stream().filter(holder -> holder.left() <= 0).toList().forEach(this::expire);
            admit();
        }

        /** Ends a hold of which it is not known what tokens it has used. */
        void expire(Holder holder) {
            end(holder, holder.grantNumber + TOKENS_PER_GRANT);
        }

        /** Ends a hold. Returns how many waiters are granted the lock. */
        int release(Holder holder, long lastToken) {
            end(holder, lastToken);
            return admit();
        }

        /** Ends a hold once the next id is queued. */
        Reply release(Holder holder, long lastToken, Next.Queued queued) {
            if (holderOf(queued.id()) == null) {
                queue.putIfAbsent(queued.id(), queued.terms());
            }
            release(holder, lastToken);
            Holder next = holderOf(queued.id());
            if (next != null) {
                next.extend(queued.terms().ttlMillis());
            }
            return answerTo(queued.id());
        }

        private void end(Holder holder, long lastToken) {
            holders.remove(holder);
            if (holder.terms.kind() == LockKind.EXCLUSIVE) {
                used(lastToken);
            }
        }

        /** A holder that was not shared has used tokens up to this one. */
        void used(long lastToken) {
            newestToken = Math.max(newestToken, lastToken);
            token = Math.max(token, lastToken);
        }

        /** Whether fewer hold the lock than the request and each holder allow. */
        boolean admits(Terms terms) {
            return holders.size() < Math.min(terms.permits(), maxHolders)
                    && holders.stream()
                            .allMatch(holder ->
                                    holder.terms.kind() == terms.kind() && holders.size() < holder.terms.permits());
        }

        /** Grants the lock to the first waiters, as many as the holders admit. Returns how many. */
        int admit() {
            List<Holder> granted = new ArrayList<>(0);
            while (!queue.isEmpty()) {
                Map.Entry<String, Terms> first = queue.entrySet().iterator().next();
                Terms terms = first.getValue();
                if (!admits(terms)) {
                    break;
                }
                queue.remove(first.getKey());
                granted.add(grant(first.getKey(), terms, Math.min(terms.ttlMillis(), CLAIM_LEASE_MILLIS)));
            }
            granted.forEach(holder -> push(holder.id, holder.grantNumber, holder.left(), tokenOf(holder)));
            return granted.size();
        }

        Holder grant(String id, Terms terms, long lease) {
            Holder holder = new Holder(id, terms, ++newestToken);
            holder.extend(lease);
            holders.add(holder);
            if (terms.kind() == LockKind.LIMITED) {
                used(holder.grantNumber + TOKENS_PER_PERMIT - 1);
            } else if (terms.kind() == LockKind.SHARED && token == 0) {
                token = holder.grantNumber;
            }
            return holder;
        }

        /** On the timer's thread, because an engine may ask while it holds a lock of its own. */
        private void push(String id, long grantNumber, long lease, long token) {
            int others = queue.size() - (queue.containsKey(id) ? 1 : 0);
            Push push = new Push(id, grantNumber, lease, others, token, name);
            timer.schedule(0, () -> engines.forEach(engine -> engine.onPush(push)));
        }

        private void hint(String id) {
            push(id, 0, 0, 0);
        }

        @Nullable
        Holder holderOf(String id) {
            return holders.stream()
                    .filter(holder -> holder.id.equals(id))
                    .findFirst()
                    .orElse(null);
        }

        Reply answerTo(String id) {
            Holder holder = holderOf(id);
            if (holder != null) {
                return new Reply.Granted(holder.grantNumber, holder.left(), queue.size(), tokenOf(holder));
            }
            int position = List.copyOf(queue.keySet()).indexOf(id) + 1;
            if (position == 1) {
                holders.forEach(each -> hint(each.id));
            }
            Holder first = Objects.requireNonNull(first());
            return new Reply.Queued(position, newestToken, first.left(), first.id);
        }

        Reply keep(Holder holder, long millis) {
            boolean sooner = millis < holder.left();
            Holder kept = holder.terms.kind() == LockKind.SHARED ? keptByReaders() : null;
            if (kept != null) {
                kept.extend(millis);
                release(holder, 0);
            } else {
                holder.id = KEPT + holder.id;
                holder.expiry = now() + millis;
            }
            if (sooner) {
                queue.keySet().stream().limit(1).forEach(this::hint);
            }
            return Reply.Plain.KEPT;
        }

        private @Nullable Holder keptByReaders() {
            return holders.stream()
                    .filter(holder -> holder.id.startsWith(KEPT))
                    .findFirst()
                    .orElse(null);
        }

        Reply renew(Grant grant) {
            Holder holder = holderOf(grant.id());
            if (holder == null || holder.grantNumber != grant.grantNumber()) {
                return Reply.Plain.NOT_HOLDER;
            }
            holder.extend(grant.ttlMillis());
            return new Reply.Renewed(holder.left(), queue.size());
        }

        private long tokenOf(Holder holder) {
            return holder.terms.kind() == LockKind.SHARED ? token : holder.grantNumber;
        }

        /** {@return the holder whose lease ends first} */
        @Nullable
        Holder first() {
            return holders.stream().min(Comparator.comparingLong(Holder::left)).orElse(null);
        }
    }
}
