package io.github.lockboot.redis.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockScope;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.StackReserve;
import org.jspecify.annotations.Nullable;

/**
 * One hold of a lock by one waiter, from grant to release or loss.
 *
 * <pre>
 *              claim()               release()
 *   GRANTED ───────────▶ HELD ────────────────────▶ RELEASED
 *      │                   │                            │ the answer says that it was no longer ours
 *      │ takeBack()        │ lose()                     ▼
 *      ▼                   └─────────────────────────▶ LOST
 *   TAKEN_BACK
 * </pre>
 *
 * GRANTED: the waiter may not have seen it yet, and it can be taken back. HELD: the waiter has it, as long as the lease of the grant
 * is certain. TAKEN_BACK and LOST are final, RELEASED is once Redis has answered.
 */
public final class Hold implements Lease, LockScope, Waiter.Outcome {

    private enum State {
        GRANTED,
        TAKEN_BACK,
        HELD,
        RELEASED,
        LOST
    }

    /** Where it came from, and where it goes back to. */
    interface Releaser {

        /** Ends it: the lock goes to the next waiter, or back to Redis. */
        CompletableFuture<ReleaseOutcome> release(Hold hold);

        /** Ends it, and the wait of all who follow. */
        CompletableFuture<ReleaseOutcome> complete(Hold hold);

        /** Its waiter woke too late to use it. */
        void takeBackOverdue(Waiter waiter, Hold hold);

        /** Something was thrown when it ended: what is left undone is done later. */
        void withdraw(Waiter waiter, Throwable thrown);

        /** It may be renewed again although it was held for too long. */
        void renewAgain();

        void reportLoss(Hold hold);
    }

    private static final AtomicIntegerFieldUpdater<Hold> COUNT =
            AtomicIntegerFieldUpdater.newUpdater(Hold.class, "count");

    private final EngineContext context;
    private final Releaser releaser;
    private final String ownerId;
    private final Grant grant;
    private final Waiter waiter;
    private final long token;
    private final long since;
    private final AtomicReference<State> state = new AtomicReference<>(State.GRANTED);
    private final List<Runnable> lossCallbacks = new ArrayList<>(0);
    private volatile int count = 1;
    private volatile String lossReason = "";
    private volatile boolean denied;
    private volatile boolean kept;
    private volatile long keptUntil;

    Hold(EngineContext context, Releaser releaser, String ownerId, Grant grant, Waiter waiter) {
        this.context = context;
        this.releaser = releaser;
        this.ownerId = ownerId;
        this.grant = grant;
        this.waiter = waiter;
        this.token = grant.nextToken();
        this.since = context.nanoTime();
    }

    Waiter waiter() {
        return waiter;
    }

    /** The acquisition id that owns the lock in Redis. */
    String ownerId() {
        return ownerId;
    }

    /** The thread it belongs to; null if it belongs to whoever has it. */
    public @Nullable Thread owner() {
        return waiter.thread();
    }

    /** How it came about. */
    Origin origin() {
        if (token != grant.token()) {
            return Origin.LOCAL;
        }
        return grant.isPushed() ? Origin.GRANTED : Origin.ASKED;
    }

    // --- its lease --------------------------------------------------------------------------------------------

    /** Whether the lease may have run out. */
    boolean isOver() {
        return grant.isOver(context.nanoTime());
    }

    /** Whether the lease cannot have run out, by either clock. */
    boolean isCertain() {
        return !isOver() && !grant.isInDoubt(context.wallMillis());
    }

    /** Whether it has been held for longer than its holder said it would be. */
    boolean isOverdue() {
        long maxHold = waiter.request().maxHoldNanos();
        return !kept && maxHold > 0 && context.nanoTime() - since >= maxHold;
    }

    boolean isKeptBeyond(long nanoTime) {
        return kept && keptUntil - nanoTime > 0;
    }

    @Override
    public boolean isValid() {
        return state.get() == State.HELD && isCertain();
    }

    @Override
    public Duration remainingLease() {
        return isValid() ? Duration.ofNanos(Math.max(0, grant.deadline() - context.nanoTime())) : Duration.ZERO;
    }

    /**
     * Its thread asks whether it holds the lock. A hold that was said not to be there may never be released, so it is not renewed any
     * more.
     */
    public boolean isThere() {
        boolean valid = isValid();
        if (!valid) {
            denied = true;
        }
        return valid;
    }

    boolean isDenied() {
        return denied;
    }

    // --- its states -------------------------------------------------------------------------------------------

    boolean claim() {
        return state.compareAndSet(State.GRANTED, State.HELD);
    }

    /** Whether its waiter has not seen it yet. */
    boolean isGranted() {
        return state.get() == State.GRANTED;
    }

    boolean takeBack() {
        return state.compareAndSet(State.GRANTED, State.TAKEN_BACK);
    }

    void takeBackFrom(Waiter late) {
        releaser.takeBackOverdue(late, this);
    }

    boolean isTakenBack() {
        return state.get() == State.TAKEN_BACK;
    }

    /** Whether it is somebody's: neither released nor lost, whatever the clocks say. */
    boolean isHeld() {
        return state.get() == State.HELD;
    }

    boolean release() {
        return state.compareAndSet(State.HELD, State.RELEASED);
    }

    boolean isReleased() {
        return state.get() == State.RELEASED;
    }

    boolean lose(String reason) {
        return lose(State.HELD, reason);
    }

    private boolean lose(State from, String reason) {
        if (state.get() != from) {
            return false;
        }
        lossReason = reason;
        return state.compareAndSet(from, State.LOST);
    }

    public boolean isLost() {
        return state.get() == State.LOST;
    }

    String lossReason() {
        return lossReason;
    }

    public LockLostException lostException() {
        return new LockLostException(name(), token, lossReason);
    }

    // --- reentrancy -------------------------------------------------------------------------------------------

    /** Reentrant holds of the owner. */
    public int count() {
        return count;
    }

    /** @return false if the lease has run out, or the last one has been given up by another thread */
    public boolean enterAgain() {
        return isHeld()
                && !isOver()
                && COUNT.getAndUpdate(this, before -> before == 0 ? 0 : Math.addExact(before, 1)) > 0;
    }

    /**
     * Gives up one of the holds that a thread counts; with the last one the lock.
     *
     * @return whether it was the last
     * @throws LockLostException if it was lost
     */
    public boolean exit() {
        boolean last = COUNT.decrementAndGet(this) == 0;
        if (isLost()) {
            throw lostException();
        }
        if (last) {
            endAndAwait(releaser::release);
        }
        return last;
    }

    /** Any thread may give it up from now on. */
    public void outliveThread() {
        waiter.outliveThread();
    }

    // --- giving back ------------------------------------------------------------------------------------------

    @Override
    public void close() {
        end(releaser::release);
    }

    /** As {@link #close}, and ends the wait of all who follow. */
    public void complete() {
        end(releaser::complete);
    }

    private void end(Function<Hold, CompletableFuture<ReleaseOutcome>> how) {
        if (isLost()) {
            throw lostException();
        }
        if (isHeld()) {
            endAndAwait(how);
        }
    }

    /** After this call the holder no longer has the hold, even if an exception is thrown. */
    private void endAndAwait(Function<Hold, CompletableFuture<ReleaseOutcome>> how) {
        CompletableFuture<ReleaseOutcome> ended;
        try {
            StackReserve.check();
            ended = how.apply(this);
        } catch (Throwable thrown) {
            withdraw(thrown);
            throw thrown;
        }
        // Redis answers within its time, or the client says that it did not. If neither comes, that was lost, and so is
        // the outcome.
        ReleaseOutcome outcome = Futures.awaitAtMost(ended, 2 * context.commandTimeout());
        onEnded(outcome == null ? ReleaseOutcome.UNKNOWN : outcome);
    }

    private void onEnded(ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.LOST) {
            if (lose(State.RELEASED, "Redis no longer had it when it was released")) {
                releaser.reportLoss(this);
            }
            if (isLost()) {
                throw lostException();
            }
        }
        waiter.use().released(outcome != ReleaseOutcome.UNKNOWN);
    }

    /** Its holder is not there any more. */
    void withdraw(Throwable thrown) {
        waiter.leaveBehind();
        releaser.withdraw(waiter, thrown);
    }

    @Override
    public CompletableFuture<Void> closeAfter(Duration delay) {
        long delayNanos = LockRequest.nanosOf(delay);
        boolean notRenewed = isOverdue();
        keptUntil = context.nanoTime() + delayNanos;
        kept = true;
        if (notRenewed) {
            releaser.renewAgain();
        }
        CompletableFuture<Void> closed = new CompletableFuture<>();
        if (delayNanos <= 0) {
            close(closed);
        } else {
            closeLater(closed, delayNanos);
        }
        return closed;
    }

    /** Repeated until it is closed: a lock that is kept, and whose end is forgotten, would be kept for ever. */
    private void closeLater(CompletableFuture<Void> closed, long delayNanos) {
        try {
            Timer.Task task = context.repeat(delayNanos, 2 * context.commandTimeout(), () -> close(closed));
            closed.whenComplete((none, failure) -> task.cancel());
        } catch (Throwable notScheduled) {
            close(closed);
            throw notScheduled;
        }
    }

    /** Completes on a worker, because what depends on it may block. */
    private void close(CompletableFuture<Void> closed) {
        try {
            CompletableFuture<ReleaseOutcome> ended =
                    isLost() ? CompletableFuture.completedFuture(ReleaseOutcome.LOST) : releaser.release(this);
            ended.exceptionally(failure -> ReleaseOutcome.UNKNOWN)
                    .thenAcceptAsync(this::onEnded, context::runLater)
                    .whenComplete((none, failure) -> {
                        if (failure != null) {
                            closed.completeExceptionally(Futures.unwrap(failure));
                        } else {
                            closed.complete(null);
                        }
                    });
        } catch (Throwable thrown) {
            closed.completeExceptionally(thrown);
            withdraw(thrown);
        }
    }

    // --- losing it --------------------------------------------------------------------------------------------

    @Override
    public void onLost(Runnable callback) {
        synchronized (lossCallbacks) {
            lossCallbacks.add(callback);
        }
        if (isLost()) {
            runLossCallbacks();
        }
    }

    /** Each runs once, on a worker. */
    void runLossCallbacks() {
        List<Runnable> taken;
        synchronized (lossCallbacks) {
            taken = List.copyOf(lossCallbacks);
            lossCallbacks.clear();
        }
        if (!taken.isEmpty()) {
            context.runLater(() -> taken.forEach(LockLog::runCallback));
        }
    }

    @Override
    public <T extends @Nullable Object, E extends Throwable> T call(LockScope.Body<T, E> action) throws E {
        return waiter.use().call(action);
    }

    @Override
    public String name() {
        return waiter.request().name();
    }

    @Override
    public long fencingToken() {
        return token;
    }

    @Override
    public String toString() {
        return "Lease[" + LockNames.printable(name()) + ", token " + token + ", " + state + "]";
    }
}
