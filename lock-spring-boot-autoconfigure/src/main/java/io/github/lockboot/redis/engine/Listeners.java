package io.github.lockboot.redis.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

import io.github.lockboot.LockListener;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/** Those who listen to a registry. A use of a lock is told to those who listened when it began. */
public final class Listeners {

    private final Timer clock;
    private final Executor workers;
    private volatile List<Told> listeners = List.of();

    public Listeners(Timer clock, Executor workers) {
        this.clock = clock;
        this.workers = workers;
    }

    public synchronized void add(LockListener listener) {
        List<Told> more = new ArrayList<>(listeners);
        more.add(new Told(listener, workers));
        listeners = List.copyOf(more);
    }

    public boolean isEmpty() {
        return listeners.isEmpty();
    }

    /** Somebody asks for a lock. @param thread null if the hold will be nobody's own */
    public Watch requested(LockRequest request, @Nullable Thread thread) {
        List<Told> present = listeners;
        if (present.isEmpty()) {
            return Watch.NONE;
        }
        ListenedWatch watch = new ListenedWatch(this, present, request.name(), request.group(), thread);
        watch.requested();
        return watch;
    }

    public long nanoTime() {
        return clock.nanoTime();
    }
}
