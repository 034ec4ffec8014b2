package io.github.lockboot.memory;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockScope.Body;
import io.github.lockboot.LockUse;
import io.github.lockboot.internal.LockNames;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/** A use of a lock that listeners are told of, with the times between its steps. Never called under the mutex. */
final class MemoryUse implements LockUse {

    private static final Log log = LogFactory.getLog(LockListener.class);

    private final MemoryLocks locks;
    private final List<LockListener> listeners;
    private final String name;
    private final @Nullable String group;
    private final @Nullable Thread thread;
    private final long requestedAt;
    private volatile boolean waits;
    private volatile @Nullable MemoryHold hold;
    private volatile long acquiredAt;

    MemoryUse(
            MemoryLocks locks,
            List<LockListener> listeners,
            String name,
            @Nullable String group,
            @Nullable Thread thread) {
        this.locks = locks;
        this.listeners = listeners;
        this.name = name;
        this.group = group;
        this.thread = thread;
        this.requestedAt = locks.now();
    }

    void requested() {
        tell(listener -> listener.requested(this));
    }

    /** Another holds it. */
    void waits() {
        waits = true;
    }

    void acquired(MemoryHold granted) {
        acquiredAt = locks.now();
        hold = granted;
        Origin origin = waits ? Origin.GRANTED : Origin.ASKED;
        tell(listener -> listener.acquired(this, origin, since(requestedAt)));
    }

    void notAcquired() {
        tell(listener -> listener.notAcquired(this, since(requestedAt)));
    }

    void abandoned() {
        tell(listener -> listener.abandoned(this, since(requestedAt)));
    }

    void followed() {
        tell(listener -> LockRuntime.Listener.followed(listener, this, since(requestedAt)));
    }

    void unavailable() {
        tell(listener -> listener.unavailable(this, since(requestedAt)));
    }

    <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        Deque<Runnable> exits = new ArrayDeque<>(listeners.size());
        tell(listener -> {
            Runnable exit = listener.entering(this);
            if (exit != null) {
                exits.push(exit);
            }
        });
        try {
            return action.run();
        } finally {
            exits.forEach(MemoryUse::run);
        }
    }

    void released() {
        tell(listener -> listener.released(this, held(), true));
    }

    void lost(String reason) {
        tell(listener -> listener.lost(this, held(), reason));
    }

    private Duration held() {
        return hold == null ? Duration.ZERO : since(acquiredAt);
    }

    private Duration since(long time) {
        return Duration.ofNanos(locks.now() - time);
    }

    private void tell(Consumer<LockListener> what) {
        for (LockListener listener : listeners) {
            run(() -> what.accept(listener));
        }
    }

    private static void run(Runnable ofListener) {
        try {
            ofListener.run();
        } catch (RuntimeException | Error failure) {
            log.warn("A lock listener failed", failure);
        }
    }

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
        return null;
    }

    @Override
    public long fencingToken() {
        MemoryHold held = hold;
        return held == null ? 0 : held.fencingToken();
    }

    @Override
    public Duration remainingLease() {
        MemoryHold held = hold;
        return held == null ? Duration.ZERO : held.remainingLease();
    }

    @Override
    public String toString() {
        return "LockUse[" + LockNames.digest(name) + "]";
    }
}
