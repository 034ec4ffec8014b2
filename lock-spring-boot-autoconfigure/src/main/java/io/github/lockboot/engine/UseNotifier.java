package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUse;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.SerialExecutor;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * Notifies listeners of one use of a lock, from its request on. Of several outcomes of the wait, or ends of the hold, only the
 * first is reported. {@link #releasedLater} and what follows it never block; the other methods run the listeners on the calling thread.
 */
final class UseNotifier implements LockUse {

    private static final Log log = LogFactory.getLog(LockListener.class);
    private static final LockRequest NO_REQUEST =
            new LockRequest("", null, new LockRequest.Terms(LockStore.EXCLUSIVE, 0, false), 0, 0);

    private static final Consumer<LockListener> NOTHING = listener -> {};

    /** How a wait ends without the lock, as a listener is notified of it. */
    interface End {

        void tell(LockListener listener, LockUse use, Duration waited);
    }

    /** The listeners of a registry. A use of a lock notifies those that were present when it began. Thread-safe. */
    static final class Listeners {

        private final EngineContext context;
        private final UseNotifier none;
        private final UseNotifier noAttempt;
        private volatile List<ListenerQueue> queues = List.of();
        private volatile @Nullable LockRegistry registry;

        Listeners(EngineContext context) {
            this.context = context;
            this.none = new UseNotifier(context, this, queues, NO_REQUEST, null, false);
            this.noAttempt = new UseNotifier(context, this, queues, NO_REQUEST, null, true);
        }

        /** Sets whose locks they are told of. */
        void of(LockRegistry registry) {
            this.registry = registry;
        }

        synchronized void add(LockListener listener) {
            List<ListenerQueue> more = new ArrayList<>(queues);
            more.add(new ListenerQueue(listener, context));
            queues = List.copyOf(more);
        }

        boolean isEmpty() {
            return queues.isEmpty();
        }

        /** {@return what notifies nobody} */
        UseNotifier silent() {
            return none;
        }

        /** @param thread the thread that will own the hold; null for a lease */
        UseNotifier requested(LockRequest request, @Nullable Thread thread) {
            List<ListenerQueue> present = queues;
            UseNotifier use =
                    present.isEmpty() ? none : new UseNotifier(context, this, present, request, thread, false);
            use.notify(listener -> listener.requested(use));
            return use;
        }

        /** As {@link #requested}, but reports the request with its outcome, and neither if the lock is refused: the caller asks again. */
        UseNotifier attempted(LockRequest request, @Nullable Thread thread) {
            List<ListenerQueue> present = queues;
            return present.isEmpty() ? noAttempt : new UseNotifier(context, this, present, request, thread, true);
        }
    }

    private final EngineContext context;
    private final Listeners all;
    private final List<ListenerQueue> listeners;
    private final LockRequest request;
    private final @Nullable Thread thread;
    private final boolean attempt;
    private final long requestedAt;
    private final AtomicBoolean decided = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicBoolean stuck = new AtomicBoolean();

    /** The end of an attempt, if it comes before listeners know that it began; {@link #NOTHING} once they may be told. */
    private final AtomicReference<@Nullable Consumer<LockListener>> end;

    private long acquiredAt;
    private volatile @Nullable Hold acquired;

    private UseNotifier(
            EngineContext context,
            Listeners all,
            List<ListenerQueue> listeners,
            LockRequest request,
            @Nullable Thread thread,
            boolean attempt) {
        this.context = context;
        this.all = all;
        this.listeners = listeners;
        this.request = request;
        this.thread = thread;
        this.attempt = attempt;
        this.end = new AtomicReference<>(attempt ? null : NOTHING);
        this.requestedAt = listeners.isEmpty() ? 0 : context.nanoTime();
    }

    private boolean isFirst(AtomicBoolean step) {
        return !listeners.isEmpty() && step.compareAndSet(false, true);
    }

    private void notify(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notify(event));
    }

    private void notifyLater(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notifyLater(event, ListenerQueue.CAPACITY));
    }

    private void notifyOfEnd(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notifyLater(event, 2 * ListenerQueue.CAPACITY));
    }

    /** Whether its caller asks again if it is refused. */
    boolean isAttempt() {
        return attempt;
    }

    /** Whether this is the first outcome of the wait. */
    private boolean decides() {
        boolean first = isFirst(decided);
        if (first && attempt) {
            notify(listener -> listener.requested(this));
        }
        return first;
    }

    // --- the wait ---------------------------------------------------------------------------------------------

    /** The wait ended with the lock. */
    void acquired(Hold hold) {
        if (decides()) {
            acquiredAt = context.nanoTime();
            acquired = hold;
            Duration waited = Duration.ofNanos(acquiredAt - requestedAt);
            notify(listener -> listener.acquired(this, hold.origin(), waited));
            Consumer<LockListener> early = end.getAndSet(NOTHING);
            if (early != null && early != NOTHING) {
                notifyOfEnd(early);
            }
        }
    }

    /** The wait ended without the lock. */
    void ended(End how) {
        if (decides()) {
            Duration waited = since(requestedAt);
            notify(listener -> how.tell(listener, this, waited));
        }
    }

    // --- the hold ---------------------------------------------------------------------------------------------

    /**
     * Code begins to run under the hold.
     *
     * @return what to run afterwards; null for nothing
     */
    @Nullable
    Runnable enter() {
        if (listeners.isEmpty()) {
            return null;
        }
        Deque<Runnable> exits = new ArrayDeque<>(listeners.size());
        notify(listener -> {
            Runnable exit = listener.entering(this);
            if (exit != null) {
                exits.push(exit);
            }
        });
        return () -> exits.forEach(UseNotifier::run);
    }

    /** @param known false if the outcome is not certain yet */
    void released(boolean known) {
        if (isFirst(ended)) {
            Duration held = held();
            notify(listener -> listener.released(this, held, known));
        }
    }

    /** As {@link #released}, for a caller that has not waited for the answer, or not even learned that it has the lock. */
    void releasedLater(boolean known) {
        if (acquired != null && isFirst(ended)) {
            Duration held = held();
            endLater(listener -> listener.released(this, held, known));
        }
    }

    void lost(String reason) {
        if (isFirst(ended)) {
            Duration held = held();
            endLater(listener -> listener.lost(this, held, reason));
        }
    }

    private void endLater(Consumer<LockListener> event) {
        if (!end.compareAndSet(null, event)) {
            notifyOfEnd(event);
        }
    }

    /** The hold exceeded its maximum time. */
    void stuck() {
        if (isFirst(stuck)) {
            Duration held = held();
            notifyLater(listener -> listener.stuck(this, held));
        }
    }

    void renewed() {
        notifyLater(listener -> listener.renewed(this));
    }

    /** A renewal was not answered. */
    void renewalFailed() {
        notifyLater(listener -> listener.renewalFailed(this));
    }

    /** Zero if the hold ends before its thread has reported it. */
    private Duration held() {
        return acquired == null ? Duration.ZERO : since(acquiredAt);
    }

    private Duration since(long time) {
        return Duration.ofNanos(context.nanoTime() - time);
    }

    // --- what listeners see -----------------------------------------------------------------------------------

    @Override
    public LockRegistry registry() {
        return Objects.requireNonNull(all.registry);
    }

    @Override
    public String name() {
        return request.name();
    }

    @Override
    public @Nullable String group() {
        return request.group();
    }

    @Override
    public DistributedLock.Mode mode() {
        return request.terms().isShared() ? DistributedLock.Mode.SHARED : DistributedLock.Mode.EXCLUSIVE;
    }

    @Override
    public @Nullable Integer permits() {
        int permits = request.terms().permits();
        return permits > 0 ? permits : null;
    }

    @Override
    public @Nullable Thread thread() {
        return thread;
    }

    @Override
    public @Nullable String ownerId() {
        Hold hold = acquired;
        return hold == null ? null : hold.ownerId();
    }

    @Override
    public long fencingToken() {
        Hold hold = acquired;
        return hold == null ? 0 : hold.fencingToken();
    }

    @Override
    public Duration remainingLease() {
        Hold hold = acquired;
        return hold == null ? Duration.ZERO : hold.remainingLease();
    }

    @Override
    public String toString() {
        return "LockUse[" + LockNames.digest(name()) + "]";
    }

    // --- one listener -----------------------------------------------------------------------------------------

    /** Runs code of a listener; what it throws is logged. */
    private static void run(Runnable code) {
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

    /** A listener that does not return misses later notifications and delays no other listener. */
    static final class ListenerQueue {

        /**
         * Further notifications are dropped, because a listener that hangs must not use up the memory. There is room for as many ends
         * beyond it: what a listener keeps of a use, it keeps until it is told of the end.
         */
        static final int CAPACITY = 10_000;

        private final LockListener listener;
        private final EngineContext context;
        private final SerialExecutor later;
        private final AtomicBoolean dropping = new AtomicBoolean();

        ListenerQueue(LockListener listener, EngineContext context) {
            this.listener = listener;
            this.context = context;
            this.later = new SerialExecutor(context::runLater);
        }

        void notify(Consumer<LockListener> event) {
            run(() -> event.accept(listener));
        }

        /** Notifies on a worker, after all earlier calls of this method. */
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
