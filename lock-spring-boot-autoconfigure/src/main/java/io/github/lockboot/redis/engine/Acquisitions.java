package io.github.lockboot.redis.engine;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.redis.protocol.AcquisitionIds;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.LockStore;
import org.jspecify.annotations.Nullable;

/** The acquisitions of a registry that are under way, by id, and what they share. */
final class Acquisitions {

    private final EngineContext context;
    private final AcquisitionIds ids;
    private final LockStore store;
    private final GrantChannel channel;
    private final Settler settler;
    private final Renewer renewer;
    private final Map<String, Acquisition> byId = new ConcurrentHashMap<>();
    private final AtomicLong newestToken = new AtomicLong();

    Acquisitions(EngineContext context, AcquisitionIds ids, LockStore store, GrantChannel channel) {
        this.context = context;
        this.ids = ids;
        this.store = store;
        this.channel = channel;
        this.settler = new Settler(context, store);
        this.renewer = new Renewer(context);
    }

    // --- under way --------------------------------------------------------------------------------------------

    String nextId() {
        return ids.next();
    }

    boolean isOurs(String id) {
        return ids.isOurs(id);
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

    /** Remembers the largest token used by this registry. */
    void noteToken(long token) {
        if (token > newestToken.get()) {
            newestToken.accumulateAndGet(token, Math::max);
        }
    }

    long newestToken() {
        return newestToken.get();
    }

    // --- shared -----------------------------------------------------------------------------------------------

    EngineContext context() {
        return context;
    }

    LockStore store() {
        return store;
    }

    Settler settler() {
        return settler;
    }

    Renewer renewer() {
        return renewer;
    }

    /** Whether a grant would be told. */
    boolean isNotified() {
        return channel.isLive();
    }

    /** Has grants be told from now on. Without that only time is lost. */
    void openChannel() {
        EngineContext.attempt("when the channel was opened", channel::open);
    }

    /** As {@link #openChannel}, when there is reason to doubt that messages come. */
    void verifyChannel() {
        EngineContext.attempt("when the channel was verified", channel::verify);
    }

    /** As {@link #openChannel}, for those who follow. */
    void followChannel() {
        EngineContext.attempt("when the channel of completions was subscribed to", channel::follow);
    }
}
