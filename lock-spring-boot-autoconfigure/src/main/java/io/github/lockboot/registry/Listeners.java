package io.github.lockboot.registry;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

import io.github.lockboot.LockListener;
import org.jspecify.annotations.Nullable;

/** The listeners of a registry. A use of a lock notifies those that were present when it began. Thread-safe. */
public final class Listeners {

    private final LongSupplier nanoTime;
    private final Executor workers;
    private volatile List<ListenerQueue> queues = List.of();

    /**
     * Creates an empty list.
     *
     * @param nanoTime the time in nanoseconds, from any origin
     * @param workers for what happens on no caller's thread, such as losses
     */
    public Listeners(LongSupplier nanoTime, Executor workers) {
        this.nanoTime = nanoTime;
        this.workers = workers;
    }

    /**
     * Adds a listener.
     *
     * @param listener notified after those added before
     */
    public synchronized void add(LockListener listener) {
        List<ListenerQueue> more = new ArrayList<>(queues);
        more.add(new ListenerQueue(listener, workers));
        queues = List.copyOf(more);
    }

    /** {@return whether there are no listeners} */
    public boolean isEmpty() {
        return queues.isEmpty();
    }

    /**
     * Notifies listeners of a request.
     *
     * @param name the name of the lock
     * @param group the group of the lock; null if it has none
     * @param thread the thread that will own the hold; null for a lease
     * @return notifies the same listeners of what follows
     */
    public UseNotifier requested(String name, @Nullable String group, @Nullable Thread thread) {
        List<ListenerQueue> present = queues;
        if (present.isEmpty()) {
            return UseNotifier.NONE;
        }
        ListenedUse use = new ListenedUse(nanoTime, present, name, group, thread);
        use.requested();
        return use;
    }
}
