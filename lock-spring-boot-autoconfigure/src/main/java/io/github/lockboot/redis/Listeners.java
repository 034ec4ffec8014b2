package io.github.lockboot.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.lockboot.LockListener;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Those who listen to a registry, told on the calling thread or, in order, on one of the registry's. A use of a lock is told to
 * those who listened when it began.
 */
final class Listeners {

    private static final Log log = LogFactory.getLog(LockListener.class);

    private final Timer clock;
    private final Executor workers;
    private final Queue<Runnable> news = new ConcurrentLinkedQueue<>();
    private final AtomicInteger untold = new AtomicInteger();
    private volatile List<LockListener> listeners = List.of();

    Listeners(Timer clock, Executor workers) {
        this.clock = clock;
        this.workers = workers;
    }

    synchronized void add(LockListener listener) {
        List<LockListener> more = new ArrayList<>(listeners);
        more.add(listener);
        listeners = List.copyOf(more);
    }

    boolean isEmpty() {
        return listeners.isEmpty();
    }

    /** Somebody asks for a lock. @param thread null if the hold will be nobody's own */
    Watch requested(String name, @Nullable String group, @Nullable Thread thread) {
        List<LockListener> present = listeners;
        if (present.isEmpty()) {
            return Watch.NONE;
        }
        ListenedWatch watch = new ListenedWatch(this, present, name, group, thread);
        watch.requested();
        return watch;
    }

    long nanoTime() {
        return clock.nanoTime();
    }

    static void tell(List<LockListener> listeners, Consumer<LockListener> what) {
        for (LockListener listener : listeners) {
            run(() -> what.accept(listener));
        }
    }

    static void run(Runnable ofListener) {
        try {
            ofListener.run();
        } catch (RuntimeException | Error failure) {
            log.warn("A lock listener failed", failure);
        }
    }

    /** After all that was to be told later before; does not block. */
    void tellLater(List<LockListener> listeners, Consumer<LockListener> what) {
        news.add(() -> tell(listeners, what));
        if (untold.getAndIncrement() == 0) {
            workers.execute(this::tellNews);
        }
    }

    private void tellNews() {
        do {
            Runnable next = news.poll();
            if (next != null) {
                next.run();
            }
        } while (untold.decrementAndGet() > 0);
    }
}
