package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

import io.github.lockboot.internal.Unexpected;
import io.github.lockboot.registry.UseNotifier;
import org.jspecify.annotations.Nullable;

/**
 * The threads and futures of this JVM that want one name, in order, and the one among them that holds it. At most one
 * {@link Acquisition} stands for all of them in Redis; once it owns the lock, they pass it on among themselves without asking
 * (lock cohorting: Dice, Marathe and Shavit, PPoPP 2012).
 *
 * <p>In words: the first waiter has an acquisition ask; when it owns the lock, the first waiter is served with a hold of the grant;
 * when that is released, the next is served with a hold of the same grant, or, if this JVM has had its share, the acquisition is unlocked
 * and the next one queued in the same step; when nobody waits any more, the queue retires.
 *
 * <p>This JVM has had its share when too little of the lease is left, when the next waiter wants other terms, or when other JVMs
 * are known to wait and as many as then waited here, but at most the hand-off limit, have been served.
 *
 * <p>Everything happens under the mutex, and nothing under the mutex blocks. If an action throws, all waiters fail, a grant that was
 * not claimed is given back, a claimed hold stays, and the name begins anew.
 */
final class LocalQueue implements Acquisition.Owner, Hold.Releaser {

    private static final String FAILED = "the lock engine failed; see the cause";
    private static final String THREAD_ENDED = "its thread ended without releasing it";

    private static final CompletableFuture<ReleaseOutcome> PASSED_ON =
            CompletableFuture.completedFuture(ReleaseOutcome.PASSED_ON);
    private static final CompletableFuture<ReleaseOutcome> LOST =
            CompletableFuture.completedFuture(ReleaseOutcome.LOST);

    private final QueueLock mutex = new QueueLock(this::collapse);
    private final String name;
    private final EngineContext context;
    private final Acquisitions acquisitions;
    private final LossReporter losses;
    private final Consumer<LocalQueue> onRetired;
    private final Waiters waiters = new Waiters(mutex);
    private final HandoffBudget budget = new HandoffBudget();
    private @Nullable Acquisition acquisition;
    private volatile @Nullable Hold holder;
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
        mutex.locked(() -> {
            action.run();
            return null;
        });
    }

    /** Does it under the mutex because something happened, so that no caller is there to get what it throws. */
    @Override
    public void onEvent(Runnable action) {
        try {
            locked(action);
        } catch (Throwable thrown) {
            Unexpected.failure("when something happened to a lock", thrown);
        }
    }

    // --- those who want it ------------------------------------------------------------------------------------

    /** @return false if this queue has been retired: the caller takes the new one of that name */
    boolean enter(Waiter waiter) {
        return mutex.locked(() -> {
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
                askFor(waiter, false);
            } else if (waiter.request().triesOnce()) {
                tryOnce(waiter, asked);
            } else {
                if (waiters.isEmpty() && asked.isOwned()) {
                    limitUnlessNotified();
                }
                waiters.add(waiter);
                acquisitions.openChannel();
            }
            return true;
        });
    }

    /** One that does not wait gets what Redis said last; if it has not said anything, it learns with the others. */
    private void tryOnce(Waiter waiter, Acquisition asked) {
        if (asked.isOwned() || asked.isHeldElsewhere()) {
            waiters.decide(waiter, Waiter.Plain.REFUSED);
        } else if (asked.isAsking()) {
            waiters.add(waiter);
        } else {
            waiters.decide(waiter, noAnswer(asked.lastFailure()));
        }
    }

    /** Removes the waiter. A grant that it cannot use does not put it back in the line. */
    void abandon(Waiter waiter) {
        locked(() -> {
            if (!leave(waiter)) {
                waiter.setLastCall();
            }
        });
    }

    /** Ends what became of one that is gone: it leaves, or what it was granted is given back. */
    void withdraw(Waiter waiter) {
        locked(() -> {
            if (!leave(waiter) && waiter.outcome() instanceof Hold hold) {
                hold.claim(); // unless it has been
                release(hold);
            }
        });
    }

    @Override
    public void withdraw(Waiter waiter, Throwable thrown) {
        if (!(thrown
                instanceof
                StackOverflowError)) { // there it would end in the middle; it is looked after within a second
            onEvent(() -> withdraw(waiter));
        }
    }

    /** Should have been decided long ago. */
    void giveUp(Waiter waiter) {
        locked(() -> {
            if (waiter.isWaiting()) {
                leave(waiter, noAnswer(null));
            }
        });
    }

    /** @return false if it is no longer waiting: it has been granted the lock, refused, or has failed */
    boolean leave(Waiter waiter) {
        return mutex.locked(() -> waiter.isWaiting() && leave(waiter, Waiter.Plain.REFUSED));
    }

    private boolean leave(Waiter waiter, Waiter.Outcome outcome) {
        waiters.leave(waiter, outcome);
        leaveRedisIfNobodyWaits();
        return true;
    }

    /**
     * Leaves because its time has passed. As long as Redis has not answered at all, nothing tells whether the lock is held; it then
     * stays until the answer to the question under way, which comes within the command timeout. Nor does anything if the last question
     * failed. Either way it is decided without more waiting.
     */
    void leaveAtDeadline(Waiter waiter) {
        locked(() -> {
            Acquisition asked = acquisition;
            Acquisition unowned = asked == null || asked.isOwned() ? null : asked;
            if (!waiter.isWaiting() || unowned != null && !unowned.isAnswered() && unowned.isAsking()) {
                waiter.setLastCall();
            } else if (unowned != null && (!unowned.isAnswered() || unowned.isFailing())) {
                leave(waiter, noAnswer(unowned.lastFailure()));
            } else {
                leave(waiter);
            }
        });
    }

    /** Takes a grant back from a waiter that woke too late to use it, and puts the waiter first. */
    @Override
    public void takeBackOverdue(Waiter waiter, Hold hold) {
        locked(() -> {
            Acquisition owner = acquisition;
            if (hold.takeBack() && owner != null) {
                forget(owner);
                owner.unlock(null);
                waiters.putBack(waiter);
                askForFirst();
            }
        });
    }

    private static Waiter.Failure noAnswer(@Nullable Throwable cause) {
        return new Waiter.Failure(LockEngine.NO_ANSWER, cause);
    }

    // --- standing in Redis ------------------------------------------------------------------------------------

    /** Begins anew for those who still wait and have had an answer before. */
    private void askForFirst() {
        if (context.isClosing()) {
            waiters.failAll(LockEngine.CLOSING, null);
        }
        Waiter first = waiters.first();
        if (first != null) {
            askFor(first, true);
        }
        retireIfIdle();
    }

    private void askFor(Waiter first, boolean answered) {
        begin(first, answered).ask(!first.request().triesOnce());
    }

    private Acquisition begin(Waiter first, boolean answered) {
        Acquisition begun = new Acquisition(acquisitions, this, first.request().terms(), answered);
        acquisition = begun;
        budget.reset();
        return begun;
    }

    private CompletableFuture<ReleaseOutcome> unlockAndQueueAgain(Acquisition owner, Waiter next) {
        return owner.unlock(begin(next, true));
    }

    private CompletableFuture<Void> leaveRedisIfNobodyWaits() {
        CompletableFuture<Void> left = CompletableFuture.completedFuture(null);
        Acquisition waiting = acquisition;
        if (waiting != null && waiters.isEmpty() && !waiting.isOwned()) {
            acquisition = null;
            left = waiting.leave();
        }
        retireIfIdle();
        return left;
    }

    /** Detaches the acquisition and its hold from this queue. */
    private void forget(Acquisition owner) {
        acquisitions.renewer().end(owner.renewal());
        holder = null;
        acquisition = null;
    }

    private void retireIfIdle() {
        if (acquisition == null && waiters.isEmpty()) {
            retired = true;
            onRetired.accept(this);
        }
    }

    // --- what Redis says --------------------------------------------------------------------------------------

    /**
     * The lock is ours: serves the first in the queue, or gives it back if nobody is left. Of the others those who would not wait, or
     * no longer, have their answer too.
     */
    @Override
    public void owned(Acquisition owner, Grant grant, long othersWaiting) {
        if (owner != acquisition) {
            owner.unlock(null); // something was thrown when it should have ended
            return;
        }
        Waiter first = waiters.first();
        if (first == null) {
            acquisition = null;
            owner.unlock(null);
            retireIfIdle();
        } else if (!first.request().terms().equals(owner.terms)) {
            unlockAndQueueAgain(owner, first);
        } else {
            acquisitions.renewer().begin(owner.renewal());
            serve(owner, first);
            waiters.decideIf(Waiter::isLastCall, Waiter.Plain.REFUSED);
            if (othersWaiting > 0) {
                othersWait();
            } else if (!waiters.isEmpty()) {
                limitUnlessNotified();
            }
        }
    }

    /** Without the channel nothing would tell that other JVMs wait. */
    private void limitUnlessNotified() {
        if (!acquisitions.isNotified()) {
            othersWait();
        }
    }

    /** Other JVMs wait: the lock goes back to Redis after those who wait here now. Saying so again changes nothing. */
    @Override
    public void othersWait() {
        budget.limitTo(Math.min(waiters.size(), context.localHandoffLimit()));
    }

    @Override
    public boolean stillWanted(Acquisition asked) {
        waiters.decideIf(waiter -> waiter.isLastCall() || !waiter.isThere(), Waiter.Plain.REFUSED);
        leaveRedisIfNobodyWaits();
        if (asked != acquisition) {
            return false;
        }
        acquisitions.openChannel();
        return true;
    }

    @Override
    public void unavailable(@Nullable Throwable failure) {
        waiters.failAll(LockEngine.NO_ANSWER, failure);
        leaveRedisIfNobodyWaits();
    }

    /** Fails those who would not wait, and, if it has lasted, those who would wait without limit. */
    @Override
    public boolean endures(Acquisition asked, @Nullable Throwable failure, boolean lasting) {
        Predicate<Waiter> failed =
                waiter -> waiter.isLastCall() || waiter.request().isUnlimited() && lasting;
        waiters.decideIf(failed, noAnswer(failure));
        leaveRedisIfNobodyWaits();
        return asked == acquisition;
    }

    /**
     * A holder in another JVM has completed: those who follow are done. An old message does no harm, for they look whether it
     * is so.
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

    /** The lease of this acquisition is over although it was not given back. */
    @Override
    public void lost(Acquisition owner, String reason) {
        if (owner == acquisition && owner.isOwned()) {
            loseHold(reason);
        }
    }

    private void loseHold(String reason) {
        Acquisition owner = acquisition;
        if (owner == null) {
            return;
        }
        Hold current = holder;
        forget(owner);
        if (current != null && current.takeBack()) {
            owner.unlock(null);
            waiters.putBack(current.waiter());
        } else {
            owner.drop();
            if (current != null && current.lose(current.waiter().isThere() ? reason : THREAD_ENDED)) {
                losses.report(current);
            }
        }
        askForFirst();
    }

    // --- renewal ----------------------------------------------------------------------------------------------

    @Override
    public boolean renewalDue(Acquisition owner) {
        if (owner != acquisition || !owner.isOwned() || !owner.terms.renew()) {
            return false;
        }
        Hold current = holder;
        if (current == null) {
            return true;
        }
        boolean overdue = current.isOverdue();
        if (overdue) {
            current.waiter().use().stuck();
        }
        return !overdue && !current.isDenied() && current.waiter().isThere();
    }

    @Override
    public void renewed(Acquisition owner, boolean successfully) {
        if (successfully) {
            acquisitions.renewer().begin(owner.renewal());
        }
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

    @Override
    public void keepRenewed(Acquisition owner) {
        if (owner == acquisition && !acquisitions.renewer().isPlanned(owner.renewal())) {
            acquisitions.renewer().begin(owner.renewal());
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

    // --- the one who holds it ---------------------------------------------------------------------------------

    private void serve(Acquisition owner, Waiter first) {
        Hold hold = new Hold(context, this, owner.id, owner.grant(), first);
        holder = hold;
        waiters.grantFirst(hold);
    }

    @Override
    public CompletableFuture<ReleaseOutcome> release(Hold hold) {
        return end(hold, this::passOn);
    }

    @Override
    public CompletableFuture<ReleaseOutcome> complete(Hold hold) {
        return end(hold, owner -> {
            forget(owner);
            CompletableFuture<ReleaseOutcome> completed = owner.complete();
            completeFollowers();
            askForFirst();
            return completed;
        });
    }

    private CompletableFuture<ReleaseOutcome> end(
            Hold hold, Function<Acquisition, CompletableFuture<ReleaseOutcome>> how) {
        return mutex.locked(() -> {
            if (hold.isOver() && !hold.isReleased()) {
                if (hold == holder) {
                    loseHold(Acquisition.RAN_OUT);
                }
                return LOST;
            }
            boolean notRenewed = hold.isOverdue();
            Acquisition owner = acquisition;
            if (!hold.release() || owner == null) {
                return hold.isLost() ? LOST : PASSED_ON;
            }
            holder = null;
            CompletableFuture<ReleaseOutcome> ended = how.apply(owner);
            if (notRenewed && owner == acquisition) {
                renewAgain();
            }
            return ended;
        });
    }

    private CompletableFuture<ReleaseOutcome> passOn(Acquisition owner) {
        Waiter next = waiters.first();
        if (next != null && canServe(owner, next)) {
            serve(owner, next);
            return PASSED_ON;
        }
        acquisitions.renewer().end(owner.renewal());
        if (next != null) {
            return unlockAndQueueAgain(owner, next);
        }
        acquisition = null;
        CompletableFuture<ReleaseOutcome> unlocked = owner.unlock(null);
        retireIfIdle();
        return unlocked;
    }

    /** A lease that is not renewed is not shared: the next one is promised a whole one. */
    private boolean canServe(Acquisition owner, Waiter next) {
        return owner.terms.renew()
                && next.request().terms().equals(owner.terms)
                && owner.grant().canServeAnother(context.nanoTime())
                && !owner.grant().isInDoubt(context.wallMillis())
                && budget.takeOne();
    }

    @Override
    public void reportLoss(Hold hold) {
        losses.report(hold);
    }

    // --- what was not meant to happen -------------------------------------------------------------------------

    /**
     * Something was thrown in the middle of a change, so nothing is certain but who holds: that stays. Begins anew with everything
     * else.
     */
    private void collapse(Throwable thrown) {
        Acquisition current = acquisition;
        Hold hold = holder;
        boolean held = hold != null && !hold.takeBack() && hold.isHeld();
        if (current != null && held) {
            keepRenewed(current);
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

    /** Called now and then: what was cut short comes to its end, and who is gone leaves. */
    void lookAfter() {
        onEvent(() -> {
            Hold current = holder;
            if (current != null && current.waiter().isGone()) {
                withdraw(current.waiter());
            } else if (acquisition == null) {
                retireIfIdle();
            }
        });
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    @Override
    public boolean isKeptBeyond(long nanoTime) {
        Hold hold = holder;
        return hold != null && hold.isKeptBeyond(nanoTime);
    }

    /**
     * Fails all who wait; a hold stays until it is released.
     *
     * @return completes when Redis knows, or could not be told
     */
    CompletableFuture<Void> close() {
        return mutex.locked(() -> {
            waiters.failAll(LockEngine.CLOSING, null);
            return leaveRedisIfNobodyWaits();
        });
    }
}
