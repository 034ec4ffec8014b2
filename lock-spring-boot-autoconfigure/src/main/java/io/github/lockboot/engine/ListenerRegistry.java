package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.internal.SerialExecutor;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;

/** The listeners of a registry. A use of a lock notifies the listeners that were present when it began. Thread-safe. */
final class ListenerRegistry {

    /** Further notifications are dropped, because a listener that hangs must not use up the memory. */
    static final int CAPACITY = 10_000;

    /** There is more room for ends: what a listener keeps of a use, it keeps until it is notified of the end. */
    static final int CAPACITY_FOR_ENDS = 2 * CAPACITY;

    static final String FAILED = "in a lock listener";

    private static final Log log = Logs.of(LockListener.class);

    private final EngineContext context;
    private final LockRegistry registry;
    private volatile List<ListenerQueue> queues = List.of();

    /** @param registry whose locks the listeners are notified of */
    ListenerRegistry(EngineContext context, LockRegistry registry) {
        this.context = context;
        this.registry = registry;
    }

    synchronized void add(LockListener listener) {
        List<ListenerQueue> more = new ArrayList<>(queues);
        more.add(new ListenerQueue(listener, context));
        queues = List.copyOf(more);
    }

    /**
     * A refused attempt is not reported, and any other one only with its outcome.
     *
     * @param thread the thread that will have the hold; null for a lease
     */
    UseNotifier requested(LockRequest request, @Nullable Thread thread) {
        UseNotifier use = new UseNotifier(context, registry, queues, request, thread);
        if (!request.attempt()) {
            use.requested();
        }
        return use;
    }

    /** One listener. If it does not return, it misses later notifications and delays no other listener. */
    static final class ListenerQueue {

        private final LockListener listener;
        private final EngineContext context;
        private final SerialExecutor later;
        private final AtomicBoolean dropping = new AtomicBoolean();

        ListenerQueue(LockListener listener, EngineContext context) {
            this.listener = listener;
            this.context = context;
            this.later = new SerialExecutor(context::runLater);
        }

        /** Notifies on the calling thread. */
        void notify(Consumer<LockListener> event) {
            Failures.runAndLog(FAILED, () -> event.accept(listener));
        }

        /**
         * Notifies on a worker, after all earlier calls of this method.
         *
         * @param capacity behind so many notifications, this one is dropped
         */
        void notifyLater(Consumer<LockListener> event, int capacity) {
            int waiting = later.waiting();
            if (waiting < CAPACITY) {
                dropping.set(false);
            }
            if (waiting < capacity) {
                later.execute(() -> notify(event));
            } else if (dropping.compareAndSet(false, true)) {
                context.runLater(() -> log.warn("A lock listener is " + CAPACITY
                        + " notifications behind; further ones are dropped until it has caught up: "
                        + listener.getClass().getName()));
            }
        }
    }
}
