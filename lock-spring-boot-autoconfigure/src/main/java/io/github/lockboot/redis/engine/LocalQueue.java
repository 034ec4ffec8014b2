package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/**
 * The threads and futures of this JVM that want one name, in order, and the one among them that holds it. At most one
 * {@link Acquisition} stands for all of them in Redis; once it owns the lock, they pass it on among themselves without asking
 * (lock cohorting: Dice, Marathe and Shavit, PPoPP 2012).
 *
 * <p>In words: the first waiter has an acquisition ask; when that owns the lock, the first waiter is served with a hold of the grant;
 * when the hold is released, the next waiter is served with a hold of the same grant, or, if this JVM has had its share, the acquisition
 * is unlocked and the next one queued in the same step; when no waiter is left, the queue retires.
 *
 * <p>This JVM has had its share when too little of the lease, or no token of the grant, is left; when the lease is in doubt or is not
 * renewed; when the next waiter wants other terms; or when other JVMs are known to wait and as many as then waited here, but at most the
 * hand-off limit, have been served.
 *
 * <p>Everything happens under the mutex of the {@link Waiters}, and nothing under it blocks. If an action throws, all waiters fail, a
 * grant that was not claimed is given back, a claimed hold stays, and the name begins again.
 */
final class LocalQueue implements Acquisition.Queue, Hold.Releaser, Waiter.Line {

    private static final String FAILED = "the lock engine failed; see the cause";
    private static final String THREAD_ENDED = "its thread ended without releasing it";
    private static final int UNLIMITED = -1;

    private static final CompletableFuture<Hold.Release> PASSED_ON =
            CompletableFuture.completedFuture(Hold.Release.PASSED_ON);
    private static final CompletableFuture<Hold.Release> LOST = CompletableFuture.completedFuture(Hold.Release.LOST);

    private final String name;
    private final EngineContext context;
    private final Acquisitions acquisitions;
    private final LossReporter losses;
    private final Consumer<LocalQueue> onRetired;
    private final Waiters waiters = new Waiters(this::collapse);
    private @Nullable Acquisition acquisition;
    private volatile @Nullable Hold holder;

    /** How many more waiters are served under this acquisition; negative until other JVMs are known to wait. */
    private int handoffsLeft = UNLIMITED;

    private boolean retired;

    LocalQueue(String name, Acquisitions acquisitions, LossReporter losses, Consumer<LocalQueue> onRetired) {
        this.name = name;
        this.context = acquisitions.context();
        this.acquisitions = acquisitions;
        this.losses = losses;
        this.onRetired = onRetired;
    }

    @Override
    public String name() {
        return name;
    }

    @Nullable
    Hold holder() {
        return holder;
    }

    private void locked(Runnable action) {
        waiters.locked(() -> {
            action.run();
            return null;
        });
    }

    /** Runs the action under the mutex. There is no caller to get what it throws. */
    @Override
    public void onEvent(Runnable action) {
        try {
            locked(action);
        } catch (Throwable thrown) {
            Unexpected.failure("in the queue of a lock", thrown);
        }
    }

    // --- waiters ----------------------------------------------------------------------------------------------

    /** @return false if this queue is retired: the caller enters the new one of that name */
    boolean enter(Waiter waiter) {
        waiter.joins(this);
        return waiters.locked(() -> {
            Hold current = holder;
            if (current != null && current.isOver()) {
                loseHold(Acquisition.RAN_OUT);
            }
            if (retired) {
                return false;
            }
            Acquisition asked = acquisition;
            if (context.isClosing()) {
                waiters.decide(waiter, new Waiter.Failure(LockEngine.CLOSING, null));
                retireIfIdle();
            } else if (asked == null) {
                waiters.add(waiter);
                begin(waiter, false).ask(!waiter.isLastCall());
            } else if (!waiter.isLastCall()) {
                if (asked.isOwned() && waiters.isEmpty()) {
                    limitUnlessNotified();
                }
                waiters.add(waiter);
                acquisitions.openChannel();
            } else if (asked.isAsking() && !asked.isTaken()) {
                waiters.add(waiter); // the answer is for it, too
            } else {
                waiters.decide(waiter, outcomeNow());
            }
            return true;
        });
    }

    /** The outcome for a waiter that does not wait any longer. */
    private Waiter.Outcome outcomeNow() {
        Acquisition asked = acquisition;
        return asked == null || asked.isTaken() ? Waiter.Plain.REFUSED : noAnswer(asked.lastFailure());
    }

    @Override
    public boolean leave(Waiter waiter) {
        return waiters.locked(() -> waiter.isWaiting() && leave(waiter, Waiter.Plain.REFUSED));
    }

    private boolean leave(Waiter waiter, Waiter.Outcome outcome) {
        waiters.leave(waiter, outcome);
        leaveRedisIfNobodyWaits();
        return true;
    }

    @Override
    public void leaveAtDeadline(Waiter waiter) {
        locked(() -> {
            Acquisition asked = acquisition;
            boolean firstAnswerComes = asked != null && asked.isAsking() && !asked.isAnswered();
            waiter.countLook();
            if (!waiter.isWaiting() || firstAnswerComes && !waiter.isLongOverdue()) {
                waiter.setLastCall();
            } else {
                leave(waiter, outcomeNow());
            }
        });
    }

    @Override
    public void takeBack(Waiter waiter, Hold hold) {
        locked(() -> {
            if (hold == holder && !hold.isHeld()) {
                loseHold(Acquisition.RAN_OUT);
            }
        });
    }

    @Override
    public void withdraw(Waiter waiter) {
        onEvent(() -> {
            if (waiter.isWaiting()) {
                leave(waiter, Waiter.Plain.REFUSED);
            } else if (waiter.outcome() instanceof Hold hold) {
                hold.claim(); // unless it has been
                release(hold);
            }
        });
    }

    private static Waiter.Failure noAnswer(@Nullable Throwable cause) {
        return new Waiter.Failure(LockEngine.NO_ANSWER, cause);
    }

    // --- the acquisition --------------------------------------------------------------------------------------

    /** @param answered whether the waiters have had an answer of Redis before */
    private Acquisition begin(Waiter first, boolean answered) {
        Acquisition begun = new Acquisition(acquisitions, this, first.request().terms(), answered);
        acquisition = begun;
        handoffsLeft = UNLIMITED;
        return begun;
    }

    /** Begins a new acquisition for the waiters that are left. */
    private void askForFirst() {
        if (context.isClosing()) {
            waiters.failAll(LockEngine.CLOSING, null);
        }
        Waiter first = waiters.firstPresent();
        if (first != null) {
            begin(first, true).ask(!first.isLastCall());
        }
        retireIfIdle();
    }

    /** Gives the lock back to Redis, and with a next waiter queues again in the same step. */
    private CompletableFuture<Hold.Release> unlock(Acquisition owner, @Nullable Waiter next) {
        Acquisition again = next == null ? null : begin(next, true); // first, because it may throw
        forget(owner);
        acquisition = again;
        CompletableFuture<Hold.Release> unlocked = owner.unlock(again);
        retireIfIdle();
        return unlocked;
    }

    /** Detaches the acquisition and its hold from this queue. */
    private void forget(Acquisition owner) {
        acquisitions.renewer().end(owner.renewal());
        holder = null;
        acquisition = null;
    }

    private CompletableFuture<?> leaveRedisIfNobodyWaits() {
        CompletableFuture<?> left = CompletableFuture.completedFuture(null);
        Acquisition waiting = acquisition;
        if (waiting != null && waiters.isEmpty() && !waiting.isOwned()) {
            acquisition = null;
            left = waiting.leave();
        }
        retireIfIdle();
        return left;
    }

    private void retireIfIdle() {
        if (acquisition == null && waiters.isEmpty()) {
            retired = true;
            onRetired.accept(this);
        }
    }

    // --- answers and messages ---------------------------------------------------------------------------------

    /** Serves the first waiter, or gives the lock back. Waiters that do not wait any longer are refused. */
    @Override
    public void owned(Acquisition owner, Grant grant, long othersWaiting) {
        if (owner != acquisition) {
            owner.unlock(null); // something was thrown when it should have ended
            return;
        }
        Waiter first = waiters.firstPresent();
        if (first == null || !first.request().terms().equals(owner.terms)) {
            unlock(owner, first);
            return;
        }
        acquisitions.renewer().begin(owner.renewal());
        serve(owner, first);
        waiters.decideIf(Waiter::isLastCall, Waiter.Plain.REFUSED);
        if (othersWaiting > 0) {
            othersWait();
        } else if (!waiters.isEmpty()) {
            limitUnlessNotified();
        }
    }

    /** Without the channel nothing would tell that other JVMs wait. */
    private void limitUnlessNotified() {
        if (!acquisitions.isNotified()) {
            othersWait();
        }
    }

    /** The lock goes back to Redis after the waiters that are here now. Another call changes nothing. */
    @Override
    public void othersWait() {
        if (handoffsLeft < 0) {
            handoffsLeft = Math.min(waiters.size(), context.localHandoffLimit());
        }
    }

    @Override
    public boolean refused(Acquisition asked) {
        waiters.decideIf(waiter -> waiter.isLastCall() || !waiter.canUseLock(), Waiter.Plain.REFUSED);
        leaveRedisIfNobodyWaits();
        if (asked != acquisition) {
            return false;
        }
        acquisitions.openChannel();
        return true;
    }

    /** Fails waiters that do not wait any longer; if the outage lasts, also those that wait without limit. */
    @Override
    public boolean failed(Acquisition asked, @Nullable Throwable failure, Acquisition.Outage outage) {
        waiters.decideIf(
                waiter -> outage == Acquisition.Outage.NEVER_ANSWERED
                        || waiter.isLastCall()
                        || outage == Acquisition.Outage.LASTING
                                && waiter.request().isUnlimited(),
                noAnswer(failure));
        leaveRedisIfNobodyWaits();
        return asked == acquisition;
    }

    /**
     * A holder in another JVM has completed, so the wait of followers ends. An old message does no harm, for they look whether it is
     * so.
     *
     * @param token the last one that holder used
     */
    void completedElsewhere(long token) {
        locked(() -> {
            completeFollowers();
            Acquisition waiting = acquisition;
            if (waiting != null && !waiting.isOwned()) {
                if (waiters.isEmpty()) {
                    acquisition = null;
                    waiting.leaveCompleted(token);
                } else {
                    waiting.askSoon(); // its place in the queue is gone
                }
            }
            retireIfIdle();
        });
    }

    private void completeFollowers() {
        waiters.decideIf(waiter -> waiter.request().follows(), Waiter.Plain.COMPLETED);
    }

    // --- the lease --------------------------------------------------------------------------------------------

    @Override
    public boolean shouldRenew(Acquisition owner) {
        Hold current = holder;
        if (owner != acquisition || !owner.terms.renew()) {
            return false;
        }
        if (current == null) {
            return true;
        }
        boolean tooLong = current.isHeldTooLong();
        if (tooLong) {
            current.waiter().use().stuck();
        }
        return !tooLong && !current.wasToldNotHeld() && current.waiter().canUseLock();
    }

    @Override
    public void renewed(Acquisition owner, boolean successfully) {
        Hold current = holder;
        if (current != null && owner == acquisition) {
            UseNotifier use = current.waiter().use();
            if (successfully) {
                use.renewed();
            } else {
                use.renewalFailed();
            }
        }
    }

    /** A hold that was not renewed because it went on for too long is kept on purpose now. */
    @Override
    public void renewAgain() {
        locked(() -> {
            Acquisition owner = acquisition;
            if (owner != null && owner.isOwned()) {
                acquisitions.renewer().begin(owner.renewal());
            }
        });
    }

    @Override
    public void lost(Acquisition owner, String reason) {
        if (owner == acquisition) {
            loseHold(reason);
        } else {
            owner.abandon();
        }
    }

    /** The store is about to give the lock to another, whether this id has it or waits for it. */
    void revoke(String id, String reason) {
        locked(() -> {
            if (acquisition != null && acquisition.id.equals(id)) {
                loseHold(reason);
            }
        });
    }

    /** A hold that was not claimed is no loss: its waiter is the first again. */
    private void loseHold(String reason) {
        Acquisition owner = acquisition;
        if (owner == null) {
            return;
        }
        Hold current = holder;
        if (current != null && current.takeBack()) {
            forget(owner);
            owner.unlock(null);
            waiters.putBack(current.waiter());
        } else {
            boolean held = current != null && current.isHeld();
            if (current != null && held) {
                losses.remember(current); // first: its thread finds the hold or the loss, whenever it looks
                current.lose(current.waiter().canUseLock() ? reason : THREAD_ENDED);
            }
            forget(owner);
            owner.drop();
            if (current != null && held) {
                losses.report(current);
            }
        }
        askForFirst();
    }

    @Override
    public void reportLoss(Hold hold) {
        losses.remember(hold);
        losses.report(hold);
    }

    // --- the holder -------------------------------------------------------------------------------------------

    private void serve(Acquisition owner, Waiter first) {
        Hold hold = new Hold(context, this, owner.id, owner.grant(), first);
        holder = hold;
        waiters.grantFirst(hold);
    }

    @Override
    public CompletableFuture<Hold.Release> release(Hold hold) {
        return end(hold, owner -> passOn(owner, hold));
    }

    @Override
    public CompletableFuture<Hold.Release> complete(Hold hold) {
        return end(hold, owner -> {
            forget(owner);
            CompletableFuture<Hold.Release> completed = owner.complete();
            completeFollowers();
            askForFirst();
            return completed;
        });
    }

    private CompletableFuture<Hold.Release> end(Hold hold, Function<Acquisition, CompletableFuture<Hold.Release>> how) {
        return waiters.locked(() -> {
            if (hold.isOver() && !hold.isReleased()) {
                if (hold == holder) {
                    loseHold(Acquisition.RAN_OUT);
                }
                return LOST;
            }
            Acquisition owner = acquisition;
            if (!hold.markReleased() || owner == null) {
                return hold.isLost() ? LOST : PASSED_ON;
            }
            holder = null;
            return how.apply(owner);
        });
    }

    private CompletableFuture<Hold.Release> passOn(Acquisition owner, Hold released) {
        Waiter next = waiters.firstPresent();
        if (next == null || !canServe(owner, next)) {
            return unlock(owner, next);
        }
        handoffsLeft--;
        serve(owner, next);
        if (released.isHeldTooLong()) {
            renewAgain();
        }
        return PASSED_ON;
    }

    /** A lease that is not renewed is not shared: the next one is promised a whole one. */
    private boolean canServe(Acquisition owner, Waiter next) {
        return handoffsLeft != 0
                && owner.terms.renew()
                && next.request().terms().equals(owner.terms)
                && owner.grant().canServeAnother(context.nanoTime())
                && !owner.grant().isInDoubt(context.wallMillis());
    }

    // --- what was not meant to happen -------------------------------------------------------------------------

    /**
     * Something was thrown in the middle of a change, so nothing is certain but the hold: it stays. Everything else begins again.
     */
    private void collapse(Throwable thrown) {
        Acquisition current = acquisition;
        Hold hold = holder;
        boolean held = hold != null && !hold.takeBack() && hold.isHeld();
        if (current != null && held) {
            acquisitions.renewer().beginIfForgotten(current.renewal());
        } else if (current != null) {
            forget(current);
            current.abandon();
        }
        waiters.failAll(FAILED, thrown);
        if (hold != null && hold.isTakenBack()) {
            waiters.decide(hold.waiter(), new Waiter.Failure(FAILED, thrown));
        }
        retireIfIdle();
    }

    /** Called once a second: finishes what was cut short, and releases what a caller that is gone has left. */
    void lookAfter() {
        onEvent(() -> {
            Hold current = holder;
            if (current != null && current.waiter().isWithdrawn()) {
                withdraw(current.waiter());
            } else if (acquisition == null) {
                retireIfIdle();
            }
        });
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    /** Whether the hold is kept, although its work is done, until after this time. */
    boolean isKeptBeyond(long nanoTime) {
        Hold hold = holder;
        return hold != null && hold.isKeptBeyond(nanoTime);
    }

    /**
     * Fails all waiters; a hold stays until it is released.
     *
     * @return completes when Redis has answered, or could not be asked
     */
    CompletableFuture<?> close() {
        return waiters.locked(() -> {
            waiters.failAll(LockEngine.CLOSING, null);
            return leaveRedisIfNobodyWaits();
        });
    }
}
