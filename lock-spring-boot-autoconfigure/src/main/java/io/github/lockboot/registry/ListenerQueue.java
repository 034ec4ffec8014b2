package io.github.lockboot.registry;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.github.lockboot.LockListener;
import io.github.lockboot.internal.SerialExecutor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Notifies one listener: on the calling thread or, in order, on another thread. A listener that does not return misses later
 * notifications and delays no other listener.
 */
final class ListenerQueue {

    /** Further notifications are dropped, because a listener that hangs must not use up the memory. */
    static final int CAPACITY = 10_000;

    private static final Log log = LogFactory.getLog(LockListener.class);

    private final LockListener listener;
    private final SerialExecutor later;
    private final AtomicBoolean dropping = new AtomicBoolean();

    /** @param workers for {@link #notifyLater} */
    ListenerQueue(LockListener listener, Executor workers) {
        this.listener = listener;
        this.later = new SerialExecutor(workers);
    }

    void notify(Consumer<LockListener> event) {
        run(() -> event.accept(listener));
    }

    /** Notifies after all earlier calls of this method; does not block. */
    void notifyLater(Consumer<LockListener> event) {
        if (later.waiting() < CAPACITY) {
            dropping.set(false);
            later.execute(() -> notify(event));
        } else if (dropping.compareAndSet(false, true)) {
            log.warn("A lock listener is " + CAPACITY
                    + " notifications behind; further ones are dropped until it has caught up: "
                    + listener.getClass().getName());
        }
    }

    /** Runs code of a listener; what it throws is logged. */
    static void run(Runnable code) {
        try {
            code.run();
        } catch (Throwable failure) {
            try {
                log.warn("A lock listener failed", failure);
            } catch (Throwable notLogged) {
                // There may be no memory left to log with.
            }
        }
    }
}
