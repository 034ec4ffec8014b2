package io.github.lockboot.engine;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.lockboot.internal.Failures;
import org.jspecify.annotations.Nullable;

/** The acquisitions of a registry that are under way, by id, ids that the store may still have to forget, and what they share. */
final class Acquisitions {

    /** Beyond this many ids at once, the rest is left to expire. */
    private static final int MOST_REPEATED = 1_000;

    private final EngineContext context;
    private final Supplier<String> session;
    private final Supplier<String> nonce;
    private final AtomicLong sequence = new AtomicLong();
    private final LockStore store;
    private final GrantChannel channel;
    private final Renewer renewer;
    private final Map<String, Acquisition> byId = new ConcurrentHashMap<>();
    private final AtomicLong newestToken = new AtomicLong();
    private final AtomicInteger repeated = new AtomicInteger();

    Acquisitions(
            EngineContext context,
            Supplier<String> session,
            Supplier<String> nonce,
            LockStore store,
            GrantChannel channel) {
        this.context = context;
        this.session = session;
        this.nonce = nonce;
        this.store = store;
        this.channel = channel;
        this.renewer = new Renewer(context, store);
    }

    EngineContext context() {
        return context;
    }

    LockStore store() {
        return store;
    }

    Renewer renewer() {
        return renewer;
    }

    // --- under way --------------------------------------------------------------------------------------------

    /**
     * {@return a new id, {@code <session>-<sequence>.<nonce>}} A user who can list channels knows the session; the nonce keeps that user
     * from guessing the id of a waiter and forging its grant.
     */
    String nextId() {
        return session.get() + "-" + sequence.incrementAndGet() + nonce.get();
    }

    boolean isOurs(String id) {
        return id.startsWith(session.get() + "-");
    }

    void register(Acquisition acquisition) {
        byId.put(acquisition.id, acquisition);
    }

    void deregister(Acquisition acquisition) {
        byId.remove(acquisition.id, acquisition);
    }

    @Nullable
    Acquisition of(String id) {
        return byId.get(id);
    }

    Collection<Acquisition> all() {
        return byId.values();
    }

    List<Acquisition> of(LocalQueue queue) {
        return byId.values().stream().filter(each -> each.isOf(queue)).toList();
    }

    /** Remembers the largest token used by this registry. */
    void noteToken(long token) {
        if (token > newestToken.get()) {
            newestToken.accumulateAndGet(token, Math::max);
        }
    }

    // --- ids to be forgotten ----------------------------------------------------------------------------------

    /** Whether there is no id left that the store may have to forget. */
    boolean areAllAnswered() {
        return repeated.get() == 0;
    }

    /** As {@link #repeatUnlock(String, String, long)}, for an id of which nothing is known here. */
    void repeatUnlock(String name, String id) {
        repeatUnlock(name, id, newestToken.get());
    }

    /**
     * Unlocks an id whose fate in the store is unknown, again and again until the store answers. Where very many are, it is left to expire.
     *
     * @return completes when the store has answered, or is not asked any more
     */
    CompletableFuture<Void> repeatUnlock(String name, String id, long lastToken) {
        return repeatEnd(() -> store.unlock(name, id, lastToken));
    }

    /** As {@link #repeatUnlock(String, String, long)}, by another command that ends an id. */
    CompletableFuture<Void> repeatEnd(Supplier<CompletableFuture<Reply>> end) {
        return repeated.get() < MOST_REPEATED ? untilAnswered(end) : CompletableFuture.completedFuture(null);
    }

    /**
     * Sends a command again and again until the store answers.
     *
     * @return completes when the store has answered, or is not asked any more
     */
    CompletableFuture<Void> untilAnswered(Supplier<CompletableFuture<Reply>> command) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        repeated.incrementAndGet();
        answered.whenComplete((none, failure) -> repeated.decrementAndGet());
        sendUntilAnswered(command, answered, context.minRetryInterval());
        return answered;
    }

    private void sendUntilAnswered(
            Supplier<CompletableFuture<Reply>> command, CompletableFuture<Void> answered, long pause) {
        send(command).whenComplete((reply, failure) -> {
            if (failure == null || context.isClosed()) {
                answered.complete(null);
            } else {
                long longer = Math.min(2 * pause, context.retryInterval());
                context.schedule(context.jittered(pause), () -> sendUntilAnswered(command, answered, longer));
            }
        });
    }

    private static CompletableFuture<Reply> send(Supplier<CompletableFuture<Reply>> command) {
        try {
            return command.get();
        } catch (Throwable notSent) {
            return CompletableFuture.failedFuture(notSent);
        }
    }

    // --- the channel: without it only time is lost ------------------------------------------------------------

    /** Whether a grant would be pushed. */
    boolean isNotified() {
        return channel.isLive();
    }

    void openChannel() {
        Failures.runAndLog("when the channel was opened", channel::open);
    }

    /** Called when there is reason to doubt that messages arrive. */
    void verifyChannel() {
        Failures.runAndLog("when the channel was verified", channel::verify);
    }
}
