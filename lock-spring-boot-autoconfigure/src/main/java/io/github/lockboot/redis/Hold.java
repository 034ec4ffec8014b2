package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener.Origin;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockScope;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * One hold of a lock, from grant to release or loss, under the acquisition that owns the lock in Redis at the time. It begins
 * {@code GRANTED}, when it can still be taken back, and is {@code HELD} once the waiter has claimed it.
 */
final class Hold implements Lease, LockScope, Waiter.Outcome {

    private enum State {
        GRANTED,
        TAKEN_BACK,
        HELD,
        RELEASED,
        LOST
    }

    private static final AtomicIntegerFieldUpdater<Hold> COUNT =
            AtomicIntegerFieldUpdater.newUpdater(Hold.class, "count");

    private final LockEngine engine;
    private final LocalQueue queue;
    private final Acquisition acquisition;
    private final Grant grant;
    private final Waiter waiter;
    private final long token;
    private final long since;
    private final AtomicReference<State> state = new AtomicReference<>(State.GRANTED);
    private final List<Runnable> lossCallbacks = new ArrayList<>(0);
    private volatile int count = 1;
    private volatile String lossReason = "";
    private volatile boolean kept;
    private volatile long keptUntil;

    Hold(LockEngine engine, LocalQueue queue, Acquisition acquisition, Grant grant, Waiter waiter) {
        this.engine = engine;
        this.queue = queue;
        this.acquisition = acquisition;
        this.grant = grant;
        this.waiter = waiter;
        this.token = grant.nextToken();
        this.since = engine.nanoTime();
    }

    Acquisition acquisition() {
        return acquisition;
    }

    Waiter waiter() {
        return waiter;
    }

    LocalQueue queue() {
        return queue;
    }

    /** The thread it belongs to; null if it belongs to whoever has it. */
    @Nullable
    Thread owner() {
        return waiter.thread();
    }

    /** How it came about. */
    Origin origin() {
        if (token != grant.token()) {
            return Origin.LOCAL;
        }
        return acquisition.isGrantedByPush() ? Origin.GRANTED : Origin.ASKED;
    }

    /** Whether the lease may have run out. */
    boolean isOver() {
        return grant.isOver(engine.nanoTime());
    }

    /** Whether the lease cannot have run out, by either clock. */
    boolean isCertain() {
        return !isOver() && !grant.isInDoubt(engine.wallMillis());
    }

    /** Whether it has been held for longer than its holder said it would be. */
    boolean isOverdue() {
        return !kept && waiter.maxHoldNanos() > 0 && engine.nanoTime() - since >= waiter.maxHoldNanos();
    }

    boolean isKeptBeyond(long nanoTime) {
        return kept && keptUntil - nanoTime > 0;
    }

    boolean claim() {
        return state.compareAndSet(State.GRANTED, State.HELD);
    }

    boolean takeBack() {
        return state.compareAndSet(State.GRANTED, State.TAKEN_BACK);
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

    boolean lose(String reason) {
        if (state.get() != State.HELD) {
            return false;
        }
        lossReason = reason;
        return state.compareAndSet(State.HELD, State.LOST);
    }

    /** Found out by the release itself. */
    private boolean loseAfterRelease() {
        lossReason = "Redis no longer had it when it was released";
        return state.compareAndSet(State.RELEASED, State.LOST);
    }

    /** Reentrant holds of the owner. */
    int count() {
        return count;
    }

    /** @return false if the last one has been given up, by another thread */
    boolean enterAgain() {
        return COUNT.getAndUpdate(this, before -> before == 0 ? 0 : Math.addExact(before, 1)) > 0;
    }

    /** @return holds left */
    int exit() {
        return COUNT.decrementAndGet(this);
    }

    /** Releases and waits for the answer; an interrupt is kept for later. */
    void releaseAndAwait() {
        endAndAwait(queue::release);
    }

    /** Once it is tried, nobody is there any more for this hold: what is left undone by something that is thrown is done later. */
    private void endAndAwait(Function<Hold, CompletableFuture<Boolean>> how) {
        CompletableFuture<Boolean> released;
        try {
            Headroom.check();
            released = how.apply(this);
        } catch (Throwable thrown) {
            waiter.gone = true;
            engine.withdraw(name(), waiter, thrown);
            throw thrown;
        }
        checkReleased(released, await(released));
    }

    /** Redis answers within its time or the client says that it did not; if neither comes, that was lost, and so is the outcome. */
    private @Nullable Boolean await(CompletableFuture<Boolean> released) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return released.get(2 * engine.commandTimeout(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
        } catch (TimeoutException lost) {
            return null;
        } catch (ExecutionException failure) {
            LockLog.unexpected("when a release was answered", failure);
            return null;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** @param intact whether it was still ours until then; null if that is not known */
    private void checkReleased(CompletableFuture<Boolean> released, @Nullable Boolean intact) {
        if (Boolean.FALSE.equals(intact)) {
            if (loseAfterRelease()) {
                engine.losses().report(this);
            }
            if (state.get() == State.LOST) {
                throw lostException();
            }
        }
        boolean passedOn = released == LockEngine.INTACT;
        waiter.watch().released(passedOn || intact != null && !acquisition.isUnlockUnanswered());
    }

    LockLostException lostException() {
        return new LockLostException(name(), token, lossReason);
    }

    String lossReason() {
        return lossReason;
    }

    boolean isReleased() {
        return state.get() == State.RELEASED;
    }

    boolean isLost() {
        return state.get() == State.LOST;
    }

    List<Runnable> takeLossCallbacks() {
        synchronized (lossCallbacks) {
            List<Runnable> taken = List.copyOf(lossCallbacks);
            lossCallbacks.clear();
            return taken;
        }
    }

    @Override
    public String name() {
        return queue.name();
    }

    @Override
    public long fencingToken() {
        return token;
    }

    @Override
    public boolean isValid() {
        return state.get() == State.HELD && isCertain();
    }

    @Override
    public Duration remainingLease() {
        return isValid() ? Duration.ofNanos(Math.max(0, grant.deadline() - engine.nanoTime())) : Duration.ZERO;
    }

    @Override
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        return waiter.watch().call(action);
    }

    @Override
    public void onLost(Runnable callback) {
        synchronized (lossCallbacks) {
            lossCallbacks.add(callback);
        }
        if (isLost()) {
            engine.losses().runCallbacks(this);
        }
    }

    @Override
    public void close() {
        end(queue::release);
    }

    /** As {@link #close}, and ends the wait of all who follow. */
    void complete() {
        end(queue::complete);
    }

    private void end(Function<Hold, CompletableFuture<Boolean>> how) {
        if (state.get() == State.LOST) {
            throw lostException();
        }
        if (state.get() == State.HELD) {
            endAndAwait(how);
        }
    }

    @Override
    public CompletableFuture<Void> closeAfter(Duration delay) {
        boolean notRenewed = isOverdue();
        keptUntil = engine.nanoTime() + LockEngine.nanosOf(delay);
        kept = true;
        if (notRenewed) {
            queue.renewAgain(acquisition);
        }
        CompletableFuture<Void> closed = new CompletableFuture<>();
        if (delay.isZero() || delay.isNegative()) {
            close(closed);
        } else {
            closeLater(closed, LockEngine.nanosOf(delay));
        }
        return closed;
    }

    /** Repeated until it is closed: a lock that is kept, and whose end is forgotten, would be kept for ever. */
    private void closeLater(CompletableFuture<Void> closed, long delayNanos) {
        try {
            Timer.Task task = engine.repeat(delayNanos, 2 * engine.commandTimeout(), () -> close(closed));
            closed.whenComplete((none, failure) -> task.cancel());
        } catch (Throwable notScheduled) {
            close(closed);
            throw notScheduled;
        }
    }

    /** Completes on a worker, because what depends on it may block. */
    private void close(CompletableFuture<Void> closed) {
        try {
            CompletableFuture<Boolean> released = isLost() ? LockEngine.NOT_INTACT : queue.release(this);
            released.handleAsync(
                            (intact, thrown) -> {
                                checkReleased(released, intact);
                                return null;
                            },
                            engine::runLater)
                    .whenComplete((none, failure) -> {
                        if (failure != null) {
                            closed.completeExceptionally(RedisFailure.unwrap(failure));
                        } else {
                            closed.complete(null);
                        }
                    });
        } catch (Throwable thrown) {
            waiter.gone = true;
            closed.completeExceptionally(thrown);
            engine.withdraw(name(), waiter, thrown);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + LockNames.printable(name()) + ", token " + token + ", " + state + "]";
    }
}
