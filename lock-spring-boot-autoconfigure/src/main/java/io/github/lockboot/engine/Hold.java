package io.github.lockboot.engine;

import java.time.Duration;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockScope;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.LeaseTime.Moment;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.LockOrder;
import org.jspecify.annotations.Nullable;

/**
 * One hold of a lock by one waiter, from its offer to its release or loss.
 *
 * <pre>
 *              claim()               markReleased()
 *   OFFERED ───────────▶ HELD ────────────────────▶ RELEASED
 *      │                   │                            │ the answer says that it had ended before
 *      │ takeBack()        │ lose()                     ▼
 *      ▼                   └─────────────────────────▶ LOST
 *   TAKEN_BACK
 * </pre>
 *
 * OFFERED: the waiter may not have seen it yet, and it can be taken back. HELD: the waiter has it, as long as the lease
 * of the grant is certain. TAKEN_BACK and LOST are final. RELEASED is final once the store has answered.
 */
public final class Hold extends HeldByThread implements Lease, LockScope, Waiter.Outcome {

    enum State {
        OFFERED,
        TAKEN_BACK,
        HELD,
        RELEASED,
        LOST
    }

    /** What came of a release. */
    enum Release {

        /**
         * Nothing was sent to the store: the next waiter here has the lock, other readers here still have it, it
         * lingers, or the hold had been released.
         */
        PASSED_ON,

        /** The store has released the lock: it is free, or a waiter of the store has it. */
        RELEASED,

        /** The store has not answered yet, and the caller does not wait for that. */
        SENT,

        /** The store did not answer. The release is repeated until it does. */
        UNKNOWN,

        /** The hold had ended in the store before it was released. */
        LOST;

        /** For an answer that is known at once. */
        final CompletableFuture<Release> completed = CompletableFuture.completedFuture(this);
    }

    /** What a hold asks of its name. */
    interface Releaser {

        /**
         * Ends it: the lock goes to the next waiter, or back to the store.
         *
         * @param to the transfer by which the lock is left to another process instead; null if it is not
         */
        CompletableFuture<Release> release(Hold hold, @Nullable Transfer to);

        /** Leaves the lock taken until then, even if the hold ends earlier. Has no effect once the hold has ended. */
        void keepUntil(Hold hold, long nanoTime);

        /**
         * Asks the store to extend its lease.
         *
         * @return whether the store has; false if the hold has ended
         * @throws LockUnavailableException if the store did not answer
         */
        boolean extend(Hold hold, long millis);

        /** Whether others are known to wait for the lock of a hold that has not ended. Sends nothing. */
        boolean othersWait(Hold hold);

        /** Makes a shared hold of it, in the store as well. */
        void downgrade(Hold hold);

        /** Ends the holds whose leases have run out, before an answer that comes late could renew them. */
        void settleNow();
    }

    private static final String HAND_OVER_UNANSWERED =
            "its transfer was not confirmed, so the lock becomes free within its ttl: acquire it again";
    private static final Runnable NOTHING_MORE = () -> {};
    private static final long ONCE = 1L << 32;

    private final EngineContext context;
    private final Releaser releaser;
    private final Id id;
    private final long token;
    private final Origin origin;
    private final Waiter waiter;
    private final long since;
    private final AtomicReference<State> state = new AtomicReference<>(State.OFFERED);

    /**
     * How often its holder holds it, times ONCE, and how often the holder of an exclusive hold has the read side as
     * well.
     */
    private final AtomicLong counts = new AtomicLong(ONCE);

    /** Completes when it is lost, for the callbacks of its thread; a lease has its own. */
    private final CompletableFuture<Void> loss = new CompletableFuture<>();

    /** Written before the state becomes LOST, so that a thread that sees the state also sees the reason. */
    private volatile String lossReason = "";

    /** Whether its thread was answered that it does not hold the lock, and may therefore never release it. */
    private volatile boolean renewalStopped;

    /** Whether a lease has a callback for the case that others wait. */
    volatile boolean watched;

    /** Whether it was reported that it is held for too long. Guarded by the mutex of its name. */
    private boolean stuck;

    /** @param id that has the lock in the store */
    Hold(EngineContext context, Releaser releaser, Id id, Waiter waiter, Moment now) {
        this.context = context;
        this.releaser = releaser;
        this.id = id;
        this.origin = id.nextOrigin();
        this.token = id.nextToken();
        this.waiter = waiter;
        this.since = now.nanos();
    }

    static Hold of(Lease lease) {
        return ((HeldLease) lease).hold;
    }

    Waiter waiter() {
        return waiter;
    }

    String acquisitionId() {
        return id.text;
    }

    Id id() {
        return id;
    }

    /** The thread it belongs to; null if it belongs to no thread. */
    @Nullable
    Thread thread() {
        return waiter.thread();
    }

    Origin origin() {
        return origin;
    }

    @Override
    public String name() {
        return waiter.request().name();
    }

    @Override
    public long fencingToken() {
        return token;
    }

    // --- its lease --------------------------------------------------------------------------------------------

    /** What the clocks say of its lease now. */
    LeaseTime.State lease() {
        return id.lease().at(context.now());
    }

    /** Whether it is held for longer than its maximum hold, so that it is not renewed any more. */
    boolean isHeldTooLong(Moment now) {
        return waiter.request().maxHoldNanos() > 0 && now.nanos() - tooLongAt() >= 0;
    }

    /**
     * When it has to be reported as held for too long; NEVER if it has been, or has no maximum hold. If it has not been
     * claimed by then, this is checked again in a second.
     */
    long stuckAt(Moment now) {
        if (stuck || waiter.request().maxHoldNanos() == 0) {
            return LeaseTime.NEVER;
        }
        return isHeldTooLong(now) ? now.nanos() + TimeUnit.SECONDS.toNanos(1) : tooLongAt();
    }

    private long tooLongAt() {
        return since + waiter.request().maxHoldNanos();
    }

    private LockLog.Held held() {
        return new LockLog.Held(waiter.request(), Duration.ofNanos(context.nanoTime() - since), thread(), token);
    }

    /** It is held for too long. {@return whether that has to be reported} */
    boolean markStuck() {
        boolean first = !stuck && state() == State.HELD;
        stuck |= first;
        return first;
    }

    void reportStuck() {
        context.runLater(() -> context.log().stuck(held(), beyondMaxHold()));
        waiter.report(UseNotifier::stuck);
    }

    private String beyondMaxHold() {
        long millis = TimeUnit.NANOSECONDS.toMillis(waiter.request().maxHoldNanos());
        return "it was held beyond lock.max-hold (" + (millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms")
                + ")";
    }

    /** Never becomes valid again once its thread has given it up, although other readers may renew the lease. */
    @Override
    public boolean isValid() {
        return state() == State.HELD && lease() == LeaseTime.State.RUNNING && !isIgnored();
    }

    @Override
    public Duration remainingLease() {
        return isValid() ? id.lease().left(context.nanoTime()) : Duration.ZERO;
    }

    @Override
    public boolean extend(Duration ttl) {
        LockOptions.defaults().withTtl(ttl); // refuses what no lease may have
        long millis = ttl.toMillis();
        if (id.terms.renew()) {
            throw new IllegalStateException("lock '" + LockNames.printable(name())
                    + "' is renewed automatically: only a lease without renewal can be extended");
        }
        long maxHold = waiter.request().maxHoldNanos();
        long most = maxHold > 0 ? TimeUnit.NANOSECONDS.toMillis(since + maxHold - context.nanoTime()) : millis;
        if (!isValid() || most <= 0) {
            return false;
        }
        return releaser.extend(this, Math.min(millis, most)) && isValid();
    }

    /** The lease is not renewed for this hold any more: its thread may never release it. */
    void stopRenewal() {
        renewalStopped = true;
    }

    boolean isRenewalStopped() {
        return renewalStopped;
    }

    /** Returns null, too, if another thread has released it. */
    @Override
    public @Nullable LockLostException findLoss(String reason) {
        return isValid() || state() == State.RELEASED ? null : new LockLostException(name(), token, reason);
    }

    @Override
    protected LockOrder.@Nullable Node node() {
        return state() == State.HELD ? waiter.request().node() : null;
    }

    /** Its thread may never release it if it knows of the loss, or was to have it for one ttl only. */
    @Override
    protected boolean isGivenUp() {
        return (renewalStopped || !id.terms.renew() || context.isClosed()) && !isValid();
    }

    /** Whether it is offered or held, under an id that has the lock. */
    boolean isAlive() {
        return (state() == State.OFFERED || state() == State.HELD) && id.isHeld();
    }

    // --- its states -------------------------------------------------------------------------------------------

    State state() {
        return Objects.requireNonNull(state.get());
    }

    /** {@return whether the waiter has it now} If not, the name was faster and has taken it back. */
    boolean claim() {
        return state.compareAndSet(State.OFFERED, State.HELD);
    }

    /** {@return whether the name may serve another waiter} If not, the waiter was faster and has claimed it. */
    boolean takeBack() {
        return state.compareAndSet(State.OFFERED, State.TAKEN_BACK);
    }

    /** {@return whether this call ended the hold} Of several releases, only the first gives the lock to another. */
    boolean markReleased() {
        return state.compareAndSet(State.HELD, State.RELEASED);
    }

    /** @param reason why the lease has ended */
    boolean lose(String reason) {
        boolean beyondMaxHold = stuck && reason.equals(Id.RAN_OUT);
        return lose(State.HELD, waiter.whyLost(beyondMaxHold ? beyondMaxHold() : reason));
    }

    private boolean lose(State from, String reason) {
        if (state() != from) {
            return false;
        }
        lossReason = reason;
        boolean lost = state.compareAndSet(from, State.LOST);
        if (lost && isListed()) {
            keepUntilReleased();
        }
        return lost;
    }

    /** Keeps it until its release. Now and then, at a fixed cost for each loss, lost holds of ended threads leave. */
    private void keepUntilReleased() {
        Set<HeldByThread> kept = context.lost();
        if (Integer.bitCount(kept.size()) == 1) {
            kept.removeIf(each -> each instanceof Hold hold && !(hold.isListed() && hold.belongsToLivingThread()));
        }
        kept.add(this);
    }

    private boolean belongsToLivingThread() {
        Thread thread = thread();
        return thread != null && thread.isAlive();
    }

    LockLostException lostException() {
        return new LockLostException(name(), token, lossReason);
    }

    // --- reentrancy -------------------------------------------------------------------------------------------

    /**
     * How often its holder holds it.
     *
     * @param side the kind in which it was granted or, of an exclusive one, shared for the read side
     */
    int count(LockKind side) {
        return part(counts.get(), once(side));
    }

    /** What one hold of this side adds to the counts. */
    private long once(LockKind side) {
        return side == id.terms.kind() ? ONCE : 1;
    }

    private static int part(long counts, long once) {
        return (int) (counts / once);
    }

    /**
     * @return false if the lease has run out, another thread has released it for the last time, or it is being
     *     withdrawn
     */
    boolean enterAgain(LockKind side) {
        if (state() != State.HELD || lease() == LeaseTime.State.OVER || !waiter.canUseLock()) {
            return false;
        }
        long once = once(side);
        return counts.getAndUpdate(n -> countOnceMore(n, once)) >= once;
    }

    /** Overflow throws before anything is counted: a wrapped count would release the lock under its holder. */
    private static long countOnceMore(long counts, long once) {
        Math.incrementExact(part(counts, once));
        return counts >= once ? counts + once : counts;
    }

    /**
     * Releases it once; the last time releases the lock, or leaves it to the read side.
     *
     * @return waits until the store has answered; throws {@link LockLostException} if it was lost by then
     * @throws LockLostException if it was lost
     */
    Runnable exit(LockKind side) {
        long once = once(side);
        long before = counts.getAndUpdate(n -> part(n, once) > 0 ? n - once : n);
        endIfExited();
        if (before != once && lease() == LeaseTime.State.OVER) {
            releaser.settleNow();
        }
        if (state() == State.LOST) {
            if (counts.get() == 0) {
                context.lost().remove(this);
            }
            throw lostException();
        }
        if (before == once) {
            return beginRelease();
        }
        if (once == ONCE && part(before, once) == 1) {
            releaser.downgrade(this);
        }
        return NOTHING_MORE;
    }

    private void endIfExited() {
        try {
            if (counts.get() == 0) {
                end();
            }
        } catch (Throwable thrown) {
            waiter.withdraw(); // its holder has no more part in it
            throw thrown;
        }
    }

    // --- its end ----------------------------------------------------------------------------------------------

    @Override
    public void close() {
        beginRelease(Duration.ZERO).run();
    }

    @Override
    public Runnable beginRelease(Duration stay) {
        keepFor(stay);
        if (state() == State.HELD) { // first: if it is lost from now on, its end reports that
            return beginRelease();
        }
        if (state() == State.LOST) {
            throw lostException();
        }
        return NOTHING_MORE;
    }

    /** Leaves the lock taken for this time, even if the hold ends earlier. The longest time counts. */
    void keepFor(Duration stay) {
        long nanos = LockRequest.nanosOf(stay);
        if (nanos > 0) {
            releaser.keepUntil(this, context.nanoTime() + nanos);
        }
    }

    /**
     * Ends the hold, even if an exception is thrown, and sends the release.
     *
     * @return waits for the answer
     */
    private Runnable beginRelease() {
        CompletableFuture<Release> ended = releaseBy(() -> releaser.release(this, null));
        return () -> onEnded(awaited(unlessSent(ended)));
    }

    private CompletableFuture<Release> releaseBy(Supplier<CompletableFuture<Release>> how) {
        try {
            EngineContext.requireStack();
            return how.get();
        } catch (Throwable thrown) {
            waiter.withdraw();
            throw thrown;
        }
    }

    /** The future completes within two command timeouts: of a renewal under way, and its own. Else it was lost. */
    private Release awaited(CompletableFuture<Release> ended) {
        Release release = context.awaitAnswer(ended);
        return release == null ? Release.UNKNOWN : release;
    }

    /** {@return what the caller waits for} If that is not the answer, the answer is handled when it comes. */
    private CompletableFuture<Release> unlessSent(CompletableFuture<Release> ended) {
        if (waiter.request().awaitsRelease() || ended.isDone()) {
            return ended;
        }
        whenAnswered(ended);
        return Release.SENT.completed;
    }

    /** No caller waits for the answer: it is handled when it comes. */
    void whenAnswered(CompletableFuture<Release> ended) {
        ended.whenComplete((release, failure) -> onAnsweredLater(release == null ? Release.UNKNOWN : release));
    }

    private void onEnded(Release release) {
        if (loseIfLost(release)) {
            throw lostException();
        }
        if (release == Release.UNKNOWN) {
            context.log().unconfirmed(held()); // the caller goes on as if the lock were free
        }
        if (release != Release.SENT) {
            waiter.report(use -> use.released(release != Release.UNKNOWN));
        }
    }

    /** Does not block: it is called on a thread of the store. */
    private void onAnsweredLater(Release release) {
        if (!loseIfLost(release)) {
            boolean known = release != Release.UNKNOWN;
            waiter.report(use -> use.releasedLater(known));
            if (!known) {
                context.runLater(() -> context.log().unconfirmed(held()));
            }
        }
    }

    /**
     * Loses the hold if the answer to its release shows that the lock had been lost before. Then it was not safe to its
     * end, and the caller must know.
     *
     * @return whether it is lost
     */
    private boolean loseIfLost(Release release) {
        if (release == Release.LOST && lose(State.RELEASED, "it had already ended when it was released")) {
            reportLoss();
        }
        return release == Release.LOST && state() == State.LOST;
    }

    /** Does not block. The future completes on a worker, because its dependents may block. */
    @Override
    public CompletableFuture<Void> closeAfter(Duration delay) {
        CompletableFuture<Void> closed = new CompletableFuture<>();
        try {
            EngineContext.requireStack();
            keepFor(delay);
            CompletableFuture<Release> ended =
                    state() == State.LOST ? Release.LOST.completed : releaser.release(this, null);
            unlessSent(ended)
                    .exceptionally(failure -> Release.UNKNOWN)
                    .thenAcceptAsync(this::onEnded, context::runLater)
                    .whenComplete((none, failure) -> Futures.complete(closed, none, failure));
        } catch (Throwable thrown) {
            waiter.withdraw();
            closed.completeExceptionally(thrown);
        }
        return closed;
    }

    @Override
    public String handOver() {
        LockKind kind = id.terms.kind();
        if (kind == LockKind.SHARED) {
            throw new IllegalStateException("a shared lease cannot be transferred: lock '" + LockNames.printable(name())
                    + "' may have other readers in this process");
        }
        Transfer to = new Transfer(name(), kind, Transfer.idOf(kind, id.text), id.grantNumber, token);
        Release handedOver = awaited(releaseBy(() -> releaser.release(this, to)));
        if (handedOver == Release.PASSED_ON) {
            throw new IllegalStateException(
                    "the lease of lock '" + LockNames.printable(name()) + "' is closed: it cannot be transferred");
        }
        onEnded(handedOver);
        if (handedOver == Release.UNKNOWN) {
            throw new LockUnavailableException(name(), HAND_OVER_UNANSWERED, null);
        }
        return to.text();
    }

    // --- others that wait -------------------------------------------------------------------------------------

    @Override
    public @Nullable Boolean othersWait() {
        return counts.get() == ONCE ? releaser.othersWait(this) : null;
    }

    void reportOthersWait() {
        waiter.leases().forEach(lease -> lease.othersWait.complete(null));
    }

    // --- its loss ---------------------------------------------------------------------------------------------

    @Override
    public void onLost(Runnable callback) {
        runAfter(loss, callback, () -> state() == State.LOST);
    }

    /** Runs the callback once, on a worker: when the event completes, or at once if it has happened. */
    private void runAfter(CompletableFuture<Void> event, Runnable callback, BooleanSupplier hasHappened) {
        event.thenRunAsync(() -> Failures.runAndLog("in a callback of a lock", callback), context::runLater);
        if (hasHappened.getAsBoolean()) {
            event.complete(null);
        }
    }

    /** Whether it is a lost hold of the lock with this name, of the registry with this context. */
    boolean isLostFrom(EngineContext registry, String name) {
        return state() == State.LOST && context == registry && name().equals(name);
    }

    /**
     * Reports it by one warning in the log, and to its listeners and callbacks. Its thread gets an exception when it
     * releases the lock.
     */
    void reportLoss() {
        try {
            // Not on this thread, which may be the timer's: a log may block.
            context.runLater(() -> context.log().lost(held(), lossReason));
            waiter.report(use -> use.lost(lossReason));
        } catch (Throwable thrown) {
            Failures.log("when a loss was reported", thrown);
        }
        Failures.runAndLog("when the callbacks of a loss were run", () -> {
            loss.complete(null);
            waiter.leases().forEach(lease -> lease.loss.complete(null));
        });
    }

    @Override
    public @Nullable Runnable enter() {
        return waiter.enter();
    }

    @Override
    public String toString() {
        return "Lease[" + LockNames.printable(name()) + ", token " + token + ", " + state + "]";
    }

    /**
     * A hold in the hands of its caller. The engine refers to it only weakly: a lease that nobody can reach any more
     * will never be closed, so it is not renewed. Nothing that the engine has may lead to it. A callback often does, so
     * it is kept here.
     */
    static class HeldLease implements Lease, LockScope {

        final Hold hold;
        private final CompletableFuture<Void> loss = new CompletableFuture<>();
        private final CompletableFuture<Void> othersWait = new CompletableFuture<>();

        HeldLease(Hold hold) {
            this.hold = hold;
        }

        /** Whether it may still be closed. */
        boolean isOpen() {
            return true;
        }

        @Override
        public final void onLost(Runnable callback) {
            hold.runAfter(loss, callback, () -> hold.state() == State.LOST);
        }

        @Override
        public final void onOthersWait(Runnable callback) {
            hold.watched = true;
            hold.runAfter(othersWait, callback, () -> hold.releaser.othersWait(hold));
        }

        @Override
        public final String name() {
            return hold.name();
        }

        @Override
        public final long fencingToken() {
            return hold.fencingToken();
        }

        @Override
        public final boolean isValid() {
            return isOpen() && hold.isValid();
        }

        @Override
        public final Duration remainingLease() {
            return isOpen() ? hold.remainingLease() : Duration.ZERO;
        }

        @Override
        public final boolean extend(Duration ttl) {
            return isOpen() && hold.extend(ttl);
        }

        @Override
        public String handOver() {
            return hold.handOver();
        }

        @Override
        public final void close() {
            beginRelease(Duration.ZERO).run();
        }

        @Override
        public Runnable beginRelease(Duration stay) {
            return hold.beginRelease(stay);
        }

        @Override
        public CompletableFuture<Void> closeAfter(Duration delay) {
            return hold.closeAfter(delay);
        }

        @Override
        public @Nullable Runnable enter() {
            return hold.enter();
        }

        @Override
        public final String toString() {
            return hold.toString();
        }
    }

    /** The holds of a name, of all its ids. Changed under the mutex of the name; look-ups do without it. */
    static final class Index {

        private static final int FEW = 16;

        /** Is replaced, or safe to read while it changes. */
        private volatile Collection<Hold> present = List.of();

        Collection<Hold> present() {
            return present;
        }

        boolean isEmpty() {
            return present.isEmpty();
        }

        /** The newest hold of the thread: an earlier one may still be listed while another thread releases it. */
        @Nullable
        Hold of(Thread thread) {
            Collection<Hold> all = present;
            if (all instanceof Many many) {
                return many.byThread.get(thread);
            }
            Hold newest = null;
            for (Hold hold : all) {
                newest = hold.thread() == thread ? hold : newest;
            }
            return newest;
        }

        List<Hold> of(Id id) {
            return id.holds == 0
                    ? List.of()
                    : present.stream().filter(hold -> hold.id() == id).toList();
        }

        void add(Hold hold) {
            if (present.isEmpty()) {
                present = List.of(hold);
            } else {
                Collection<Hold> more = present.size() >= FEW ? many() : new ArrayList<>(present);
                more.add(hold);
                present = more;
            }
            hold.id().holds++;
        }

        private Collection<Hold> many() {
            return present instanceof Many ? present : new Many(present);
        }

        void remove(Id id, List<Hold> some) {
            if (present.size() == some.size()) {
                present = List.of();
            } else {
                Collection<Hold> fewer = present instanceof Many ? present : new ArrayList<>(present);
                some.forEach(fewer::remove);
                present = fewer;
            }
            id.holds -= some.size();
        }

        /** Something was thrown in the middle of a change: holds that have ended leave, and all are counted. */
        void heal(Id[] ids) {
            present = present.stream().filter(Hold::isAlive).toList();
            for (Id id : ids) {
                id.holds =
                        (int) present.stream().filter(hold -> hold.id() == id).count();
            }
        }

        /** Many holds, as of readers: to add or remove one costs the same, however many there are. */
        private static final class Many extends AbstractCollection<Hold> {

            private final Set<Hold> all = ConcurrentHashMap.newKeySet();
            private final Map<Thread, Hold> byThread = new ConcurrentHashMap<>();

            Many(Collection<Hold> holds) {
                holds.forEach(this::add);
            }

            @Override
            public boolean add(Hold hold) {
                Thread thread = hold.thread();
                if (thread != null) {
                    byThread.put(thread, hold);
                }
                return all.add(hold);
            }

            @Override
            public boolean remove(Object hold) {
                Thread thread = ((Hold) hold).thread();
                if (thread != null) {
                    byThread.remove(thread, hold);
                }
                return all.remove(hold);
            }

            @Override
            public Iterator<Hold> iterator() {
                return all.iterator();
            }

            @Override
            public int size() {
                return all.size();
            }
        }
    }
}
