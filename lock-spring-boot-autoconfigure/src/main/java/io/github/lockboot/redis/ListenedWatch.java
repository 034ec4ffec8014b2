package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockScope.Body;
import io.github.lockboot.LockUse;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** A use of a lock that listeners are told of, with the times between its steps. */
final class ListenedWatch implements Watch, LockUse {

    private final Listeners registry;
    private final List<Told> listeners;
    private final String name;
    private final @Nullable String group;
    private final @Nullable Thread thread;
    private final long requestedAt;
    private final AtomicBoolean decided = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicBoolean stuck = new AtomicBoolean();
    private volatile @Nullable Hold hold;
    private volatile long acquiredAt;

    ListenedWatch(
            Listeners registry, List<Told> listeners, String name, @Nullable String group, @Nullable Thread thread) {
        this.registry = registry;
        this.listeners = listeners;
        this.name = name;
        this.group = group;
        this.thread = thread;
        this.requestedAt = registry.nanoTime();
    }

    void requested() {
        listeners.forEach(each -> each.tell(listener -> listener.requested(this)));
    }

    // --- the wait ---------------------------------------------------------------------------------------------

    @Override
    public void acquired(Hold granted) {
        if (decided.compareAndSet(false, true)) {
            acquiredAt = registry.nanoTime();
            hold = granted;
            Duration waited = Duration.ofNanos(acquiredAt - requestedAt);
            listeners.forEach(each -> each.tell(listener -> listener.acquired(this, granted.origin(), waited)));
        }
    }

    @Override
    public void notAcquired() {
        decided((listener, waited) -> listener.notAcquired(this, waited));
    }

    @Override
    public void abandoned() {
        decided((listener, waited) -> listener.abandoned(this, waited));
    }

    @Override
    public void followed() {
        decided((listener, waited) -> LockRuntime.Listener.followed(listener, this, waited));
    }

    @Override
    public void unavailable() {
        decided((listener, waited) -> listener.unavailable(this, waited));
    }

    private void decided(BiConsumer<LockListener, Duration> how) {
        if (decided.compareAndSet(false, true)) {
            Duration waited = since(requestedAt);
            listeners.forEach(each -> each.tell(listener -> how.accept(listener, waited)));
        }
    }

    // --- the hold ---------------------------------------------------------------------------------------------

    @Override
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        Deque<Runnable> exits = new ArrayDeque<>(listeners.size());
        listeners.forEach(each -> each.tell(listener -> {
            Runnable exit = listener.entering(this);
            if (exit != null) {
                exits.push(exit);
            }
        }));
        try {
            return action.run();
        } finally {
            exits.forEach(Told::run);
        }
    }

    @Override
    public void released(boolean known) {
        if (ended.compareAndSet(false, true)) {
            Duration held = held();
            listeners.forEach(each -> each.tell(listener -> listener.released(this, held, known)));
        }
    }

    @Override
    public void lost(String reason) {
        if (ended.compareAndSet(false, true)) {
            Duration held = held();
            listeners.forEach(each -> each.tellLater(listener -> listener.lost(this, held, reason)));
        }
    }

    @Override
    public void stuck() {
        if (stuck.compareAndSet(false, true)) {
            Duration held = held();
            listeners.forEach(each -> each.tellLater(listener -> listener.stuck(this, held)));
        }
    }

    @Override
    public void renewed() {
        listeners.forEach(each -> each.tellLater(listener -> listener.renewed(this)));
    }

    @Override
    public void renewalFailed() {
        listeners.forEach(each -> each.tellLater(listener -> listener.renewalFailed(this)));
    }

    /** Zero if it ends before its thread has come to say that it began. */
    private Duration held() {
        return hold == null ? Duration.ZERO : since(acquiredAt);
    }

    private Duration since(long time) {
        return Duration.ofNanos(registry.nanoTime() - time);
    }

    // --- what it is -------------------------------------------------------------------------------------------

    @Override
    public String name() {
        return name;
    }

    @Override
    public @Nullable String group() {
        return group;
    }

    @Override
    public @Nullable Thread thread() {
        return thread;
    }

    @Override
    public @Nullable String ownerId() {
        Hold held = hold;
        return held == null ? null : held.acquisition().id;
    }

    @Override
    public long fencingToken() {
        Hold held = hold;
        return held == null ? 0 : held.fencingToken();
    }

    @Override
    public Duration remainingLease() {
        Hold held = hold;
        return held == null ? Duration.ZERO : held.remainingLease();
    }

    @Override
    public String toString() {
        return "LockUse[" + LockNames.digest(name) + "]";
    }
}
