package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/**
 * The threads and futures of this JVM that want one name, in order, and the one among them that holds it. At most one
 * {@link Acquisition} stands for all of them in Redis; once it owns the lock, they pass it on among themselves without asking
 * (lock cohorting: Dice, Marathe and Shavit, PPoPP 2012).
 *
 * <p>The turn of this JVM ends, with one {@code unlock} that queues it again if somebody still waits here, when too little of
 * the lease is left, when the next one wants other terms, or when other JVMs are known to wait and as many as then waited here,
 * but at most the hand-off limit, have been served.
 *
 * <p>Everything happens under the mutex, and nothing under the mutex blocks. It lives as long as somebody waits or holds. What is
 * thrown under the mutex ends it: all who wait fail, what nobody holds is given back, and the name begins anew.
 */
public final class LocalQueue {

    public static final String FAILED = "the lock engine failed; see the cause";
    public static final String RAN_OUT = "its lease ran out";
    private static final String THREAD_ENDED = "its thread ended without releasing it";

    private final Mutex mutex = new Mutex(this::collapse);
    private final LockEngine engine;
    private final String name;
    private final Waiters waiters = new Waiters(mutex);
    private final Turn turn = new Turn();
    private @Nullable Acquisition acquisition;
    private volatile @Nullable Hold holder;
    private boolean retired;

    public LocalQueue(LockEngine engine, String name) {
        this.engine = engine;
        this.name = name;
    }

    public String name() {
        return name;
    }

    @Nullable
    public Hold holder() {
        return holder;
    }

    /** Does it under the mutex. */
    public void locked(Runnable action) {
        mutex.locked(() -> {
            action.run();
            return null;
        });
    }

    /** Does it under the mutex because something happened, so that nobody is there to be told what it throws. */
    public void onEvent(Runnable action) {
        try {
            locked(action);
        } catch (Throwable thrown) {
            Unexpected.failure("when something happened to a lock", thrown);
        }
    }

    // --- those who want it ------------------------------------------------------------------------------------

    /** @return false if this queue has been retired: the caller takes the new one of that name */
    public boolean enter(Waiter waiter) {
        return mutex.locked(() -> {
            Hold current = holder;
            if (current != null && current.isOver()) {
                lost(current.acquisition(), RAN_OUT);
            }
            if (retired) {
                return false;
            }
            if (engine.isClosing()) {
                waiters.fail(waiter, LockEngine.CLOSING, null);
                retireIfIdle();
            } else if (acquisition == null) {
                waiters.add(waiter);
                askFor(waiter, false);
            } else if (waiter.triesOnce()) {
                tryOnce(waiter, acquisition);
            } else {
                waiters.add(waiter);
                engine.openChannel();
            }
            return true;
        });
    }

    /** One that would not wait is told what Redis said last; if it has not, or has not answered, it learns with the others. */
    private void tryOnce(Waiter waiter, Acquisition asked) {
        if (asked.isOwned() || asked.isHeldElsewhere()) {
            waiters.refuse(waiter);
        } else if (asked.isAsking()) {
            waiters.add(waiter);
        } else {
            waiters.fail(waiter, LockEngine.NO_ANSWER, asked.lastFailure());
        }
    }

    /** Leaves for good: if it has been granted the lock and cannot use it, it does not wait again. */
    public void abandon(Waiter waiter) {
        locked(() -> {
            if (!leave(waiter)) {
                waiter.setOverdue();
            }
        });
    }

    /** Ends what became of one that is gone: it leaves, or what it was granted is given back. */
    public void withdraw(Waiter waiter) {
        locked(() -> {
            if (!leave(waiter) && waiter.outcome() instanceof Hold hold) {
                hold.claim(); // unless it has been
                release(hold);
            }
        });
    }

    /** Should have been decided long ago. */
    public void giveUp(Waiter waiter) {
        locked(() -> {
            if (waiter.isWaiting()) {
                waiters.giveUp(waiter, LockEngine.NO_ANSWER, null);
                leaveRedisIfNobodyWaits();
            }
        });
    }

    /** @return false if it is no longer waiting: it has been granted the lock, refused, or has failed */
    public boolean leave(Waiter waiter) {
        return mutex.locked(() -> {
            if (!waiter.isWaiting()) {
                return false;
            }
            waiters.leave(waiter);
            leaveRedisIfNobodyWaits();
            return true;
        });
    }

    /**
     * Leaves because its time has passed. As long as Redis has not answered at all, nobody can tell it whether the lock is held;
     * it then stays until the answer to the question under way, which comes within the command timeout. If the last question was
     * not answered, nobody can either. Either way it is decided without more waiting.
     */
    public void leaveAtDeadline(Waiter waiter) {
        locked(() -> {
            Acquisition asked = acquisition;
            Acquisition unowned = asked == null || asked.isOwned() ? null : asked;
            if (!waiter.isWaiting() || unowned != null && !unowned.isAnswered() && unowned.isAsking()) {
                waiter.setOverdue();
            } else if (unowned != null && (!unowned.isAnswered() || unowned.lastFailure() != null)) {
                waiters.giveUp(waiter, LockEngine.NO_ANSWER, unowned.lastFailure());
                leaveRedisIfNobodyWaits();
            } else {
                leave(waiter);
            }
        });
    }

    /** Takes a grant back from a waiter that woke too late to use it, and puts the waiter first. */
    public void takeBackOverdue(Waiter waiter, Hold hold) {
        locked(() -> {
            if (hold.takeBack()) {
                holder = null;
                Acquisition over = hold.acquisition();
                engine.renewer().remove(over);
                acquisition = null;
                over.unlock(null);
                waiters.putBack(waiter);
                askForFirst();
            }
        });
    }

    /** Begins anew for those who still wait and have had an answer before. */
    private void askForFirst() {
        if (engine.isClosing()) {
            waiters.failAll(LockEngine.CLOSING, null);
        }
        Waiter first = waiters.first();
        if (first != null) {
            askFor(first, true);
        }
        retireIfIdle();
    }

    private void askFor(Waiter first, boolean answered) {
        Acquisition asked = new Acquisition(engine, this, first.terms(), answered);
        acquisition = asked;
        turn.begin();
        asked.ask(!first.triesOnce());
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

    private void retireIfIdle() {
        if (acquisition == null && waiters.isEmpty()) {
            retired = true;
            engine.retire(this);
        }
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
            holder = null;
            acquisition = null;
            engine.renewer().remove(current);
            current.abandon();
        }
        waiters.failAll(FAILED, thrown);
        if (hold != null && hold.isTakenBack()) {
            waiters.fail(hold.waiter(), FAILED, thrown);
        }
        retireIfIdle();
    }

    /** Is looked at now and then: what was cut short comes to its end, and who is gone leaves. */
    public void lookAfter() {
        mutex.lookAfter();
        Hold current = holder;
        if (current != null && current.waiter().gone) {
            withdraw(current.waiter());
        } else if (acquisition == null) {
            locked(this::retireIfIdle);
        }
    }

    /** A hold that nobody renews any more although it should be. */
    public void keepRenewed(Acquisition owner) {
        if (owner == acquisition && owner.renewal == null) {
            engine.renewer().add(owner, owner.grant());
        }
    }

    // --- what Redis says --------------------------------------------------------------------------------------

    /**
     * The lock is ours: serves the first in the queue, or gives it back if nobody is left. Of the others those who would not wait, or
     * no longer, have their answer too.
     */
    public void owned(Acquisition owner, Grant grant, long othersWaiting) {
        Waiter first = waiters.first();
        if (first == null) {
            acquisition = null;
            owner.unlock(null);
            retireIfIdle();
        } else if (!first.terms().equals(owner.terms)) {
            unlockAndQueueAgain(owner, first);
        } else {
            engine.renewer().add(owner, grant);
            serve(owner, grant, first);
            waiters.refuseIf(waiter -> waiter.triesOnce() || waiter.isOverdue());
            if (othersWaiting > 0 || !engine.channel().isLive()) { // without the channel nobody can tell us
                othersWait();
            }
        }
    }

    /** Other JVMs wait: the turn ends after those who wait here now. Saying so again changes nothing. */
    public void othersWait() {
        turn.endAfter(Math.min(waiters.size(), engine.localHandoffLimit()));
    }

    /**
     * Redis has answered that another holds it: those who would not wait, or no longer, are refused.
     *
     * @return whether somebody waits on
     */
    public boolean stillWanted(Acquisition asked) {
        waiters.refuseIf(waiter -> waiter.triesOnce() || waiter.isOverdue() || !waiter.isThere());
        leaveRedisIfNobodyWaits();
        if (asked != acquisition) {
            return false;
        }
        engine.openChannel();
        return true;
    }

    /** Redis could not be asked, and never has been under this id: all who wait fail. */
    public void unavailable(@Nullable Throwable failure) {
        waiters.failAll(LockEngine.NO_ANSWER, failure);
        leaveRedisIfNobodyWaits();
    }

    /**
     * Redis could not be asked this time: fails those who would not wait, those who would wait without limit if it has lasted, and
     * those who have been waiting for a first answer alone.
     *
     * @return whether somebody waits on
     */
    public boolean endures(Acquisition asked, @Nullable Throwable failure, boolean lasting) {
        waiters.failIf(
                waiter -> waiter.triesOnce() || waiter.isOverdue() || waiter.isUnlimited() && lasting,
                LockEngine.NO_ANSWER,
                failure);
        leaveRedisIfNobodyWaits();
        return asked == acquisition;
    }

    /**
     * A holder in another JVM has completed: those who follow are done. An old message does no harm, for they look whether it
     * is so.
     *
     * @param token the last one that holder used
     */
    public void completedElsewhere(long token) {
        locked(() -> {
            waiters.complete();
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

    /** Whether the one who holds it may have its lease renewed. */
    public boolean keepsLease() {
        Hold current = holder;
        return current == null || current.waiter().isThere() && !current.isOverdue();
    }

    /** The lease of this acquisition is over although nobody gave it back. */
    public void lost(Acquisition owner, String reason) {
        if (owner != acquisition || !owner.isOwned()) {
            return;
        }
        engine.renewer().remove(owner);
        Hold current = holder;
        holder = null;
        acquisition = null;
        if (current != null && current.takeBack()) {
            owner.unlock(null);
            waiters.putBack(current.waiter());
        } else {
            owner.drop();
            if (current != null && current.lose(current.waiter().isThere() ? reason : THREAD_ENDED)) {
                engine.losses().report(current);
            }
        }
        askForFirst();
    }

    // --- the one who holds it ---------------------------------------------------------------------------------

    private void serve(Acquisition owner, Grant grant, Waiter first) {
        Hold hold = new Hold(engine, this, owner, grant, first);
        holder = hold;
        waiters.grantFirst(hold);
    }

    /**
     * Ends a hold: passes the lock on to the next in the queue, or gives it back.
     *
     * @return whether the lock was still ours until then, once that is known
     */
    public CompletableFuture<Boolean> release(Hold hold) {
        return end(hold, this::passOn);
    }

    /**
     * Ends a hold and with it the wait of all who follow.
     *
     * @return whether the lock was still ours until then, once that is known
     */
    public CompletableFuture<Boolean> complete(Hold hold) {
        return end(hold, owner -> {
            engine.renewer().remove(owner);
            acquisition = null;
            CompletableFuture<Boolean> intact = owner.complete();
            waiters.complete();
            askForFirst();
            return intact;
        });
    }

    private CompletableFuture<Boolean> end(Hold hold, Function<Acquisition, CompletableFuture<Boolean>> how) {
        return mutex.locked(() -> {
            if (hold.isOver() && !hold.isReleased()) {
                lost(hold.acquisition(), RAN_OUT);
                return LockEngine.NOT_INTACT;
            }
            if (!hold.release()) {
                return hold.isLost() ? LockEngine.NOT_INTACT : LockEngine.INTACT;
            }
            holder = null;
            boolean notRenewed = hold.isOverdue();
            CompletableFuture<Boolean> intact = how.apply(hold.acquisition());
            if (notRenewed) {
                renewAgain(hold.acquisition());
            }
            return intact;
        });
    }

    /** Who goes beyond the longest hold is renewed no more; this lock is now somebody else's, or kept on purpose. */
    public void renewAgain(Acquisition owner) {
        locked(() -> {
            if (owner == acquisition && owner.isOwned()) {
                engine.renewer().add(owner, owner.grant());
            }
        });
    }

    private CompletableFuture<Boolean> passOn(Acquisition owner) {
        Waiter next = waiters.first();
        if (next != null && isSameTurn(owner, next)) {
            serve(owner, owner.grant(), next);
            return LockEngine.INTACT;
        }
        engine.renewer().remove(owner);
        if (next != null) {
            return unlockAndQueueAgain(owner, next);
        }
        acquisition = null;
        CompletableFuture<Boolean> intact = owner.unlock(null);
        retireIfIdle();
        return intact;
    }

    /** A lease that nobody renews is not shared: the next one is promised a whole one. */
    private boolean isSameTurn(Acquisition owner, Waiter next) {
        return owner.terms.renew()
                && next.terms().equals(owner.terms)
                && owner.grant().canServeAnother(engine.nanoTime())
                && !owner.grant().isInDoubt(engine.wallMillis())
                && turn.takeOne();
    }

    private CompletableFuture<Boolean> unlockAndQueueAgain(Acquisition owner, Waiter next) {
        Acquisition following = new Acquisition(engine, this, next.terms(), true);
        acquisition = following;
        turn.begin();
        return owner.unlock(following);
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    /**
     * Fails all who wait; a hold stays until it is released.
     *
     * @return completes when Redis knows, or could not be told
     */
    public CompletableFuture<Void> close() {
        return mutex.locked(() -> {
            waiters.failAll(LockEngine.CLOSING, null);
            return leaveRedisIfNobodyWaits();
        });
    }
}
