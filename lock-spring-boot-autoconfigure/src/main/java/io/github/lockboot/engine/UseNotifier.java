package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockUse;
import io.github.lockboot.engine.ListenerRegistry.ListenerQueue;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * Notifies listeners of one use of a lock, from its request on.
 *
 * <pre>
 *                 +-- acquired --- entering --- released
 *                 |      |                      lost
 *   requested ----+      +-- renewed, renewalFailed, stuck, any number of times but stuck once
 *                 |
 *                 +-- notAcquired, unavailable, abandoned
 * </pre>
 *
 * Of several outcomes of the wait, or ends of the hold, only the first is reported. A listener hears the end of a hold
 * after its beginning. A hold may be lost on another thread before its own thread has reported that it was acquired:
 * then the end is reported after that.
 *
 * <p>{@link #releasedLater} and the methods after it never block: they pass the event to the queue of each listener.
 * The other methods run the listeners on the calling thread. So {@code requested}, {@code acquired} and
 * {@code released} come on the thread that uses the lock, and the events that no caller waits for come on a worker, in
 * order.
 *
 * <p>An attempt is a request that is made again if it is refused. Its listeners hear of it only when it is decided, and
 * not at all if it is refused.
 */
final class UseNotifier implements LockUse {

    private static final Consumer<LockListener> NOTHING = listener -> {};

    private enum Step {
        DECIDED,
        ENDED
    }

    /** What the wait ended with, and when. */
    private record Acquired(Hold hold, long at) {}

    /** How a wait ends without the lock, as a listener is notified of it. */
    interface End {

        void tell(LockListener listener, LockUse use, Duration waited);
    }

    private final EngineContext context;
    private final LockRegistry registry;
    private final List<ListenerQueue> listeners;
    private final LockRequest request;
    private final @Nullable Thread thread;
    private final long requestedAt;

    /** What has been reported, each once. */
    private final Set<Step> reported = Collections.synchronizedSet(EnumSet.noneOf(Step.class));

    /**
     * The end of an attempt, if it comes before listeners know that it began; {@link #NOTHING} once they may be
     * notified.
     */
    private final AtomicReference<@Nullable Consumer<LockListener>> end;

    private volatile @Nullable Acquired acquired;

    UseNotifier(
            EngineContext context,
            LockRegistry registry,
            List<ListenerQueue> listeners,
            LockRequest request,
            @Nullable Thread thread) {
        this.context = context;
        this.registry = registry;
        this.listeners = listeners;
        this.request = request;
        this.thread = thread;
        this.end = new AtomicReference<>(request.attempt() ? null : NOTHING);
        this.requestedAt = context.nanoTime();
    }

    /** The caller asks for the lock. */
    void requested() {
        notify(listener -> listener.requested(this));
    }

    private void notify(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notify(event));
    }

    private void notifyLater(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notifyLater(event, ListenerRegistry.CAPACITY));
    }

    private void notifyOfEnd(Consumer<LockListener> event) {
        listeners.forEach(each -> each.notifyLater(event, ListenerRegistry.CAPACITY_FOR_ENDS));
    }

    /** Notes an outcome of the wait. {@return whether it is the first one, which is reported} */
    private boolean markDecided() {
        boolean first = reported.add(Step.DECIDED);
        if (first && request.attempt()) {
            requested();
        }
        return first;
    }

    // --- the wait ---------------------------------------------------------------------------------------------

    /** The wait ended with the lock. */
    void acquired(Hold hold) {
        if (markDecided()) {
            long now = context.nanoTime();
            acquired = new Acquired(hold, now);
            Duration waited = Duration.ofNanos(now - requestedAt);
            notify(listener -> listener.acquired(this, hold.origin(), waited));
            Consumer<LockListener> early = end.getAndSet(NOTHING);
            if (early != null && early != NOTHING) {
                notifyOfEnd(early);
            }
        }
    }

    /** The wait ended without the lock. */
    void ended(End how) {
        if (markDecided()) {
            Duration waited = Duration.ofNanos(context.nanoTime() - requestedAt);
            notify(listener -> how.tell(listener, this, waited));
        }
    }

    /** The thread holds another lock, and a thread has asked for the two in the other order. */
    void bothOrders() {
        notifyLater(listener -> listener.takenInBothOrders(this));
    }

    // --- the hold ---------------------------------------------------------------------------------------------

    /**
     * Code begins to run under the hold.
     *
     * @return what to run afterwards; null for nothing
     */
    @Nullable
    Runnable enter() {
        Deque<Runnable> exits = new ArrayDeque<>(listeners.size());
        notify(listener -> {
            Runnable exit = listener.entering(this);
            if (exit != null) {
                exits.push(exit);
            }
        });
        return () -> exits.forEach(exit -> Failures.runAndLog(ListenerRegistry.FAILED, exit));
    }

    /** @param known false if the outcome is not certain yet */
    void released(boolean known) {
        if (reported.add(Step.ENDED)) {
            Duration held = held();
            notify(listener -> listener.released(this, held, known));
        }
    }

    /**
     * As {@link #released}, for a caller that has not waited for the answer, or not even learned that it has the lock.
     */
    void releasedLater(boolean known) {
        if (acquired != null && reported.add(Step.ENDED)) {
            Duration held = held();
            endLater(listener -> listener.released(this, held, known));
        }
    }

    void lost(String reason) {
        if (reported.add(Step.ENDED)) {
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
        Duration held = held();
        notifyLater(listener -> listener.stuck(this, held));
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
        Acquired known = acquired;
        return known == null ? Duration.ZERO : Duration.ofNanos(context.nanoTime() - known.at);
    }

    // --- what listeners see -----------------------------------------------------------------------------------

    @Override
    public LockRegistry registry() {
        return registry;
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
        return request.terms().kind() == LockKind.SHARED ? DistributedLock.Mode.SHARED : DistributedLock.Mode.EXCLUSIVE;
    }

    @Override
    public @Nullable Integer permits() {
        return request.terms().kind() == LockKind.LIMITED ? request.terms().permits() : null;
    }

    @Override
    public @Nullable Thread thread() {
        return thread;
    }

    @Override
    public @Nullable String holderId() {
        Acquired known = acquired;
        return known == null ? null : known.hold.acquisitionId();
    }

    @Override
    public long fencingToken() {
        Acquired known = acquired;
        return known == null ? 0 : known.hold.fencingToken();
    }

    @Override
    public Duration remainingLease() {
        Acquired known = acquired;
        return known == null ? Duration.ZERO : known.hold.remainingLease();
    }

    @Override
    public String toString() {
        return "LockUse[" + LockNames.digest(name()) + "]";
    }
}
