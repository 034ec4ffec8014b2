package io.github.lockboot.redis.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.github.lockboot.LockListener;
import io.github.lockboot.internal.SerialExecutor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A listener that is told on the calling thread or, in order, on one of the registry's. One that does not come back from what it is
 * told hears no more of what is told later, and keeps no other from hearing it.
 */
public final class Told {

    /** What is told later and finds so much before it is dropped: a listener that hangs must not use up the memory. */
    public static final int MOST_UNTOLD = 10_000;

    private static final Log log = LogFactory.getLog(LockListener.class);

    private final LockListener listener;
    private final SerialExecutor later;
    private final AtomicBoolean dropping = new AtomicBoolean();

    /** @param workers for what is told later */
    public Told(LockListener listener, Executor workers) {
        this.listener = listener;
        this.later = new SerialExecutor(workers);
    }

    public void tell(Consumer<LockListener> what) {
        run(() -> what.accept(listener));
    }

    /** After all that was to be told later before; does not block. */
    public void tellLater(Consumer<LockListener> what) {
        if (later.waiting() < MOST_UNTOLD) {
            dropping.set(false);
            later.execute(() -> tell(what));
        } else if (dropping.compareAndSet(false, true)) {
            log.warn("A lock listener is behind by " + MOST_UNTOLD
                    + " things it was to be told, and is not told more until" + " it has caught up: "
                    + listener.getClass().getName());
        }
    }

    public static void run(Runnable ofListener) {
        try {
            ofListener.run();
        } catch (Throwable failure) {
            logged(failure);
        }
    }

    private static void logged(Throwable failure) {
        try {
            log.warn("A lock listener failed", failure);
        } catch (Throwable thrownHereToo) {
            // as for the listener: it goes no further
        }
    }
}
