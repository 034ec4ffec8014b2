package io.github.lockboot.registry;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** A use of a lock that has listeners, with the times between its steps. */
final class ListenedUse implements UseNotifier, LockUse {

    private record Acquired(@Nullable String ownerId, long token, Supplier<Duration> remaining, long time) {}

    private final LongSupplier nanoTime;
    private final List<ListenerQueue> listeners;
    private final String name;
    private final @Nullable String group;
    private final @Nullable Thread thread;
    private final long requestedAt;
    private final AtomicBoolean decided = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicBoolean stuck = new AtomicBoolean();
    private volatile @Nullable Acquired acquired;

    ListenedUse(
            LongSupplier nanoTime,
            List<ListenerQueue> listeners,
            String name,
            @Nullable String group,
            @Nullable Thread thread) {
        this.nanoTime = nanoTime;
        this.listeners = listeners;
        this.name = name;
        this.group = group;
        this.thread = thread;
        this.requestedAt = nanoTime.getAsLong();
    }

    private void tell(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notify(event));
    }

    private void tellLater(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notifyLater(event));
    }

    void requested() {
        tell(listener -> listener.requested(this));
    }

    // --- the wait ---------------------------------------------------------------------------------------------

    @Override
    public void acquired(@Nullable String ownerId, long token, Origin origin, Supplier<Duration> remaining) {
        if (decided.compareAndSet(false, true)) {
            long now = nanoTime.getAsLong();
            acquired = new Acquired(ownerId, token, remaining, now);
            Duration waited = Duration.ofNanos(now - requestedAt);
            tell(listener -> listener.acquired(this, origin, waited));
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
        decided((listener, waited) -> {
            if (listener instanceof LockRuntime.Listener following) {
                following.followed(this, waited);
            } else {
                listener.abandoned(this, waited);
            }
        });
    }

    @Override
    public void unavailable() {
        decided((listener, waited) -> listener.unavailable(this, waited));
    }

    private void decided(BiConsumer<LockListener, Duration> outcome) {
        if (decided.compareAndSet(false, true)) {
            Duration waited = since(requestedAt);
            tell(listener -> outcome.accept(listener, waited));
        }
    }

    // --- the hold ---------------------------------------------------------------------------------------------

    @Override
    public Runnable enter() {
        Deque<Runnable> exits = new ArrayDeque<>(listeners.size());
        tell(listener -> {
            Runnable exit = listener.entering(this);
            if (exit != null) {
                exits.push(exit);
            }
        });
        return () -> exits.forEach(ListenerQueue::run);
    }

    @Override
    public void released(boolean known) {
        if (ended.compareAndSet(false, true)) {
            Duration held = held();
            tell(listener -> listener.released(this, held, known));
        }
    }

    @Override
    public void lost(String reason) {
        if (ended.compareAndSet(false, true)) {
            Duration held = held();
            tellLater(listener -> listener.lost(this, held, reason));
        }
    }

    @Override
    public void stuck() {
        if (stuck.compareAndSet(false, true)) {
            Duration held = held();
            tellLater(listener -> listener.stuck(this, held));
        }
    }

    @Override
    public void renewed() {
        tellLater(listener -> listener.renewed(this));
    }

    @Override
    public void renewalFailed() {
        tellLater(listener -> listener.renewalFailed(this));
    }

    /** Zero if the hold ends before its thread has reported it. */
    private Duration held() {
        Acquired mine = acquired;
        return mine == null ? Duration.ZERO : since(mine.time);
    }

    private Duration since(long time) {
        return Duration.ofNanos(nanoTime.getAsLong() - time);
    }

    // --- what listeners see -----------------------------------------------------------------------------------

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
        Acquired mine = acquired;
        return mine == null ? null : mine.ownerId;
    }

    @Override
    public long fencingToken() {
        Acquired mine = acquired;
        return mine == null ? 0 : mine.token;
    }

    @Override
    public Duration remainingLease() {
        Acquired mine = acquired;
        return mine == null ? Duration.ZERO : mine.remaining.get();
    }

    @Override
    public String toString() {
        return "LockUse[" + LockNames.digest(name) + "]";
    }
}
