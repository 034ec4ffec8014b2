package io.github.lockboot.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

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
 * <p>Everything happens under the mutex, and nothing under the mutex blocks. It lives as long as somebody waits or holds.
 */
final class LocalQueue {

    private final Mutex mutex = new Mutex();
    private final LockEngine engine;
    private final String name;
    private final Waiters waiters = new Waiters(mutex);
    private final Turn turn = new Turn();
    private @Nullable Acquisition acquisition;
    private volatile @Nullable Hold holder;
    private boolean retired;

    LocalQueue(LockEngine engine, String name) {
        this.engine = engine;
        this.name = name;
    }

    String name() {
        return name;
    }

    @Nullable
    Hold holder() {
        return holder;
    }

    /** Does it under the mutex. */
    void locked(Runnable action) {
        mutex.locked(() -> {
            action.run();
            return null;
        });
    }

    // --- those who want it ------------------------------------------------------------------------------------

    /** @return false if this queue has been retired: the caller takes the new one of that name */
    boolean enter(Waiter waiter) {
        return mutex.locked(() -> {
            Hold current = holder;
            if (current != null && current.isOver()) {
                lost(current.acquisition(), "its lease ran out");
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
                waiters.refuse(waiter);
            } else {
                waiters.add(waiter);
                engine.channel().open();
            }
            return true;
        });
    }

    /** Leaves for good: if it has been granted the lock and cannot use it, it does not wait again. */
    void abandon(Waiter waiter) {
        locked(() -> {
            if (!leave(waiter)) {
                waiter.setOverdue();
            }
        });
    }

    /** @return false if it is no longer waiting: it has been granted the lock, refused, or has failed */
    boolean leave(Waiter waiter) {
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
     * it then stays until the answer to the question under way, which comes within the command timeout. Either way it is decided
     * without more waiting.
     */
    void leaveAtDeadline(Waiter waiter) {
        locked(() -> {
            Acquisition asked = acquisition;
            Acquisition unanswered = asked == null || asked.isOwned() || asked.isAnswered() ? null : asked;
            if (!waiter.isWaiting() || unanswered != null && unanswered.isAsking()) {
                waiter.setOverdue();
            } else if (unanswered != null) {
                waiters.giveUp(waiter, LockEngine.NO_ANSWER, unanswered.lastFailure());
                leaveRedisIfNobodyWaits();
            } else {
                leave(waiter);
            }
        });
    }

    /** Takes a grant back from a waiter that woke too late to use it, and puts the waiter first. */
    void takeBackOverdue(Waiter waiter, Hold hold) {
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

    // --- what Redis says --------------------------------------------------------------------------------------

    /** The lock is ours: serves the first in the queue, or gives it back if nobody is left. */
    void owned(Acquisition owner, Grant grant, long othersWaiting) {
        Waiter first = waiters.first();
        if (first == null) {
            acquisition = null;
            owner.unlock(null);
            retireIfIdle();
        } else if (!first.terms().equals(owner.terms)) {
            unlockAndQueueAgain(owner, first);
        } else {
            engine.renewer().add(owner, grant);
            serve(owner, grant);
            waiters.refuseIf(Waiter::isOverdue);
            if (othersWaiting > 0 || !engine.channel().isLive()) { // without the channel nobody can tell us
                othersWait();
            }
        }
    }

    /** Other JVMs wait: the turn ends after those who wait here now. Saying so again changes nothing. */
    void othersWait() {
        turn.endAfter(Math.min(waiters.size(), engine.localHandoffLimit()));
    }

    /**
     * Redis has answered that another holds it: those who would not wait, or no longer, are refused.
     *
     * @return whether somebody waits on
     */
    boolean stillWanted(Acquisition asked) {
        waiters.refuseIf(waiter -> waiter.triesOnce() || waiter.isOverdue());
        leaveRedisIfNobodyWaits();
        if (asked != acquisition) {
            return false;
        }
        engine.channel().open();
        return true;
    }

    /** Redis could not be asked, and never has been under this id: all who wait fail. */
    void unavailable(@Nullable Throwable failure) {
        waiters.failAll(LockEngine.NO_ANSWER, failure);
        leaveRedisIfNobodyWaits();
    }

    /**
     * Redis could not be asked this time: fails those who would not wait, those who would wait without limit if it has lasted, and
     * those who have been waiting for a first answer alone.
     *
     * @return whether somebody waits on
     */
    boolean endures(Acquisition asked, @Nullable Throwable failure, boolean lasting) {
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
    void completedElsewhere(long token) {
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
    boolean keepsLease() {
        Hold current = holder;
        return current == null || !current.isOverdue();
    }

    /** The lease of this acquisition is over although nobody gave it back. */
    void lost(Acquisition owner, String reason) {
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
            if (current != null && current.lose(reason)) {
                engine.losses().report(current);
            }
        }
        askForFirst();
    }

    // --- the one who holds it ---------------------------------------------------------------------------------

    private void serve(Acquisition owner, Grant grant) {
        Waiter next = waiters.takeFirst();
        Hold hold = new Hold(engine, this, owner, grant, next);
        holder = hold;
        waiters.grant(next, hold);
    }

    /**
     * Ends a hold: passes the lock on to the next in the queue, or gives it back.
     *
     * @return whether the lock was still ours until then, once that is known
     */
    CompletableFuture<Boolean> release(Hold hold) {
        return end(hold, this::passOn);
    }

    /**
     * Ends a hold and with it the wait of all who follow.
     *
     * @return whether the lock was still ours until then, once that is known
     */
    CompletableFuture<Boolean> complete(Hold hold) {
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
                lost(hold.acquisition(), "its lease ran out");
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
    void renewAgain(Acquisition owner) {
        locked(() -> {
            if (owner == acquisition && owner.isOwned()) {
                engine.renewer().add(owner, owner.grant());
            }
        });
    }

    private CompletableFuture<Boolean> passOn(Acquisition owner) {
        Waiter next = waiters.first();
        if (next != null && isSameTurn(owner, next)) {
            serve(owner, owner.grant());
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
    CompletableFuture<Void> close() {
        return mutex.locked(() -> {
            waiters.failAll(LockEngine.CLOSING, null);
            return leaveRedisIfNobodyWaits();
        });
    }
}
