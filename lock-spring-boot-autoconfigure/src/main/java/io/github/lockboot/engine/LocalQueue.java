package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.StoreFailure.GrantedTooLateException;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The threads and futures of this JVM that want one name in one way, in order, and those among them that hold it. One
 * {@link Acquisition} at a time asks for them in Redis; while one owns the lock, they pass it on among themselves without asking
 * (lock cohorting: Dice, Marathe and Shavit, PPoPP 2012).
 *
 * <p>In words: the first waiter has an acquisition ask; when that owns the lock, the first waiter is served with a hold of the grant,
 * and readers all together; when the last hold is released, the next waiter is served with a hold of the same grant, or, if this JVM has
 * had its share, the acquisition is unlocked and the next one queued in the same step; when no waiter is left, the queue retires. Of an
 * exclusive lock there is one acquisition, which asks or owns. Beside owners of a shared or limited one, another may ask.
 *
 * <p>This JVM has had its share when too little of the lease, or no token of the grant, is left; when the lease is in doubt or is not
 * renewed; when the next waiter wants other terms; when a holder has left the lock taken for a time; or when other JVMs are known to wait and as many as then waited here, but at most the
 * hand-off limit, have been served.
 *
 * <p>On terms with a linger time, an exclusive owner without a hold lingers when no waiter is left: it stays, and is renewed, for that
 * time. A caller that comes meanwhile is served with the next hold of the same grant, as if it had waited. The owner is unlocked when its
 * time is over, when another JVM waits, when the caller cannot be served under it, when no message could tell of other JVMs, and at
 * shutdown.
 *
 * <p>Everything happens under the mutex of the {@link Waiters}, and nothing under it blocks. If an action throws, all waiters fail, a
 * grant that was not claimed is given back, a claimed hold stays, and the name begins again.
 */
final class LocalQueue implements Hold.Releaser, Waiter.Line {

    private static final String FAILED = "the lock engine failed: please report it with the cause";
    private static final String THREAD_ENDED = "its thread ended without releasing it";

    private static final CompletableFuture<Hold.Release> PASSED_ON =
            CompletableFuture.completedFuture(Hold.Release.PASSED_ON);
    private static final CompletableFuture<Hold.Release> UNKNOWN =
            CompletableFuture.completedFuture(Hold.Release.UNKNOWN);
    private static final CompletableFuture<Hold.Release> LOST = CompletableFuture.completedFuture(Hold.Release.LOST);

    private static final CompletableFuture<?> NOTHING_TO_LEAVE = CompletableFuture.completedFuture(null);

    private final String name;
    private final Terms kind;
    private final EngineContext context;
    private final Acquisitions acquisitions;
    private final Consumer<LocalQueue> onRetired;
    private final Waiters waiters = new Waiters(this::beginAnew);

    /** Asks for the first waiter. */
    private @Nullable Acquisition asking;

    /** Those that ask beside it, of a limited lock, without joining the queue in Redis. */
    private final List<Acquisition> trying = new ArrayList<>(0);

    private final List<Acquisition> owners = new ArrayList<>(1);

    /** Those of all owners. */
    private volatile Collection<Hold> holds = List.of();

    /** The owner that has no hold, and until when. */
    private @Nullable Acquisition lingering;

    private long lingersUntil;
    private Timer.@Nullable Task endOfLingering;

    private boolean retired;

    LocalQueue(String name, Terms kind, Acquisitions acquisitions, Consumer<LocalQueue> onRetired) {
        this.name = name;
        this.kind = kind;
        this.context = acquisitions.context();
        this.acquisitions = acquisitions;
        this.onRetired = onRetired;
    }

    String name() {
        return name;
    }

    /** Its permits do not count: those who want different numbers wait in one queue. */
    Terms kind() {
        return kind;
    }

    /** Read without the mutex. */
    Collection<Hold> holds() {
        return holds;
    }

    /** The newest hold of the thread: one before it may be on its way out, if another thread has released it. Read without the mutex. */
    @Nullable
    Hold heldBy(Thread thread) {
        Collection<Hold> present = holds;
        if (present instanceof ManyHolds many) {
            return many.of(thread);
        }
        Hold newest = null;
        for (Hold hold : present) {
            newest = hold.thread() == thread ? hold : newest;
        }
        return newest;
    }

    private void locked(Runnable action) {
        waiters.locked(() -> {
            action.run();
            return null;
        });
    }

    /** Runs the action under the mutex. There is no caller to get what it throws, so it is logged. */
    void onEvent(Runnable action) {
        try {
            locked(action);
        } catch (Throwable thrown) {
            Failures.log("in the queue of a lock", thrown);
        }
    }

    // --- waiters ----------------------------------------------------------------------------------------------

    /** @return false if this queue is retired: the caller enters the new one of that name */
    boolean enter(Waiter waiter) {
        waiter.joins(this);
        return waiters.locked(() -> {
            loseWhatRanOut();
            if (retired) {
                return false;
            }
            if (context.isClosing()) {
                waiters.decide(waiter, new Waiter.Failure(LockEngine.CLOSING, null, false));
                retireIfIdle();
            } else if (!joinReaders(waiter) && !resume(waiter)) {
                waitFor(waiter);
            }
            return true;
        });
    }

    private void waitFor(Waiter waiter) {
        Acquisition asked = asking;
        if (mayAsk()) {
            waiters.add(waiter);
            begin(waiter, false).ask(!waiter.isLastCall());
        } else if (asked != null && mayTry(asked, waiter.request().terms())) {
            waiters.add(waiter);
            Acquisition another = new Acquisition(acquisitions, this, asked.terms, true);
            trying.add(another);
            another.ask(false);
        } else if (!waiter.isLastCall()) {
            if (asked == null && waiters.isEmpty()) {
                limitUnlessNotified();
            }
            waiters.add(waiter);
            acquisitions.openChannel();
        } else if (asked != null && asked.isAsking() && !isTaken(asked)) {
            waiters.add(waiter); // the answer is for it, too
        } else {
            waiters.decide(waiter, outcomeNow());
        }
    }

    /** Serves a reader beside others, without asking Redis. */
    private boolean joinReaders(Waiter waiter) {
        if (!kind.isShared() || owners.isEmpty()) {
            return false;
        }
        acquisitions.openChannel();
        limitUnlessNotified();
        for (Acquisition owner : owners) {
            if (canServe(owner, waiter)) {
                waiters.decide(waiter, beginHold(owner, waiter));
                acquisitions.renewer().beginAgain(owner.renewal());
                return true;
            }
        }
        return false;
    }

    /** Serves a caller for whom the lock has lingered. If it cannot be served, the lock is given back. */
    private boolean resume(Waiter waiter) {
        Acquisition owner = lingering;
        if (owner == null) {
            return false;
        }
        if (canServe(owner, waiter)) {
            waiters.decide(waiter, beginHold(owner, waiter));
            lingering = null;
            return true;
        }
        forget(owner);
        owner.unlock(null);
        return false;
    }

    /** The outcome for a waiter that does not wait any longer. */
    private Waiter.Outcome outcomeNow() {
        Acquisition asked = asking;
        return asked == null || isTaken(asked) ? Waiter.Plain.REFUSED : noAnswer(asked.lastFailure());
    }

    /** Whether the callers of an acquisition know that they cannot have the lock now. Beside other owners, only an answer tells. */
    private boolean isTaken(Acquisition asked) {
        return kind.isExclusive() ? asked.isTaken() : asked.isRefused();
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
            Acquisition asked = asking;
            boolean answerComes = asked != null && asked.isAsking() && !isAnswered(asked);
            waiter.countLook();
            if (!waiter.isWaiting() || answerComes && !waiter.isLongOverdue()) {
                waiter.setLastCall();
            } else {
                leave(waiter, outcomeNow());
            }
        });
    }

    @Override
    public void takeBack(Waiter waiter, Hold hold) {
        locked(() -> {
            Acquisition owner = ownerOf(hold);
            if (owner != null
                    && !hold.isHeld()
                    && (hold.isOver() || holdsOf(owner).size() == 1)) {
                lose(owner, owner.whyRanOut());
            } else if (owner != null && hold.takeBack()) {
                forget(hold);
                waiters.putBack(waiter, noAnswer(new GrantedTooLateException(owner.whyRanOut())));
                askForFirst();
            }
        });
    }

    @Override
    public void withdraw(Waiter waiter) {
        onEvent(() -> {
            if (waiter.isWaiting()) {
                leave(waiter, Waiter.Plain.REFUSED);
            } else if (waiter.outcome() instanceof Hold hold) {
                hold.end();
                hold.claim(); // unless it has been
                hold.whenAnswered(hold.isReleased() ? UNKNOWN : release(hold));
            }
        });
    }

    private Waiter.Failure noAnswer(@Nullable Throwable cause) {
        LockStore store = acquisitions.store();
        boolean tooLate = cause instanceof GrantedTooLateException;
        String reason = cause instanceof NotAcknowledgedException
                ? LockEngine.NOT_ACKNOWLEDGED
                : tooLate ? LockEngine.TOO_LATE : LockEngine.NO_ANSWER;
        boolean notNow = tooLate || store.client().failureOf(cause) == StoreFailure.NOT_NOW;
        return new Waiter.Failure(store.displayName() + reason, cause, notNow);
    }

    // --- acquisitions -----------------------------------------------------------------------------------------

    private boolean mayAsk() {
        return asking == null
                && (!kind.isExclusive()
                        || owners.isEmpty()
                        || owners.get(owners.size() - 1).isDowngraded());
    }

    /** Whether the callers of an acquisition have had an answer. Beside other owners, that to an earlier one says nothing of the next. */
    private boolean isAnswered(Acquisition asked) {
        return kind.isExclusive() ? asked.isAnswered() : asked.isRefused();
    }

    /** Whether another permit may be free: no answer says that they are taken, and fewer are held or asked for here than there are. */
    private boolean mayTry(Acquisition asked, Terms terms) {
        return kind.isLimited()
                && asked.isAsking()
                && !asked.isRefused()
                && asked.terms.equals(terms)
                && owners.size() + 1 + trying.size() < terms.permits();
    }

    /** @param answered whether the waiters have had an answer of Redis before */
    private Acquisition begin(Waiter first, boolean answered) {
        Acquisition begun = new Acquisition(acquisitions, this, first.request().terms(), answered);
        asking = begun;
        if (begun.terms.lingerNanos() > 0) {
            acquisitions.openChannel(); // only with it the lock lingers
        }
        return begun;
    }

    /** Begins a new acquisition for the waiters that are left. */
    private void askForFirst() {
        askForFirst(null);
    }

    /** @param tooLate why they do not have the lock that Redis granted; null if it is held, or was until now */
    private void askForFirst(@Nullable Throwable tooLate) {
        if (context.isClosing()) {
            waiters.failAll(LockEngine.CLOSING, null);
        }
        Waiter first = waiters.firstPresent();
        if (first != null && asking == null && !trying.isEmpty()) {
            asking = trying.remove(0);
        } else if (first != null && mayAsk()) {
            Acquisition next = begin(first, true);
            if (tooLate != null) {
                next.failedBefore(tooLate);
            }
            next.ask(!first.isLastCall());
        }
        leaveRedisIfNobodyWaits();
    }

    /** Gives the lock back to Redis, and with a next waiter for whom no acquisition asks queues again in the same step. */
    private CompletableFuture<Hold.Release> unlock(Acquisition owner, @Nullable Waiter next) {
        Acquisition again = next == null || asking != null ? null : begin(next, true); // first, because it may throw
        forget(owner);
        CompletableFuture<Hold.Release> unlocked = owner.unlock(again);
        leaveRedisIfNobodyWaits();
        return unlocked;
    }

    /** Detaches the acquisition and its holds from this queue. */
    private void forget(Acquisition owner) {
        acquisitions.renewer().end(owner.renewal());
        if (owner == lingering) {
            lingering = null;
        }
        if (endOfLingering != null) {
            endOfLingering.cancel();
            endOfLingering = null;
        }
        if (owner == asking) {
            asking = null;
        } else if (!trying.remove(owner) && owners.remove(owner)) {
            holds = owners.isEmpty() ? List.of() : those(hold -> hold.grant() != owner.grant());
        }
    }

    private void forget(Hold hold) {
        holds = holds.size() == 1 ? List.of() : ManyHolds.without(holds, hold);
    }

    private List<Hold> those(Predicate<Hold> which) {
        return holds.stream().filter(which).toList();
    }

    private Collection<Hold> holdsOf(Acquisition owner) {
        return owners.size() == 1 ? holds : those(hold -> hold.grant() == owner.grant());
    }

    private boolean hasHold(Acquisition owner) {
        return owners.size() == 1 ? !holds.isEmpty() : holds.stream().anyMatch(hold -> hold.grant() == owner.grant());
    }

    /** Null if the hold has ended. */
    private @Nullable Acquisition ownerOf(Hold hold) {
        for (Acquisition owner : owners) {
            if (owner.grant() == hold.grant() && holds.contains(hold)) {
                return owner;
            }
        }
        return null;
    }

    private CompletableFuture<?> leaveRedisIfNobodyWaits() {
        CompletableFuture<?> left = NOTHING_TO_LEAVE;
        if (waiters.isEmpty()) {
            Acquisition waiting = asking;
            if (waiting != null) {
                asking = null;
                left = waiting.leave();
            }
            while (!trying.isEmpty()) {
                left = CompletableFuture.allOf(left, trying.remove(0).leave());
            }
        }
        retireIfIdle();
        return left;
    }

    private void retireIfIdle() {
        if (asking == null && trying.isEmpty() && owners.isEmpty() && waiters.isEmpty()) {
            retired = true;
            onRetired.accept(this);
        }
    }

    // --- answers and messages ---------------------------------------------------------------------------------

    /** The lock is ours: serves the first waiter, or gives it back. Waiters that do not wait any longer are refused. */
    void owned(Acquisition owner, boolean othersWait) {
        if (owner == asking) {
            asking = null;
        } else if (!trying.remove(owner)) {
            owner.unlock(null); // something was thrown when it should have ended
            return;
        }
        Waiter first = waiters.firstPresent();
        if (first == null || !first.request().terms().equals(owner.terms)) {
            unlock(owner, first);
            return;
        }
        owners.add(owner);
        acquisitions.renewer().begin(owner.renewal());
        serve(owner, first);
        if (kind.isShared()) {
            serveReaders(owner);
        } else if (kind.isExclusive()) {
            waiters.decideIf(Waiter::isLastCall, Waiter.Plain.REFUSED);
        }
        if (othersWait) {
            othersWait(owner);
        } else if (!waiters.isEmpty()) {
            limitUnlessNotified();
        }
        askForFirst();
    }

    private void serveReaders(Acquisition owner) {
        Waiter next = waiters.firstPresent();
        while (next != null && canServe(owner, next)) {
            serve(owner, next);
            next = waiters.firstPresent();
        }
    }

    /** Without the channel nothing would tell that other JVMs wait. */
    private void limitUnlessNotified() {
        if (!acquisitions.isNotified()) {
            owners.forEach(this::othersWait);
        }
    }

    /**
     * Other JVMs wait for the lock, or may. It goes back to Redis after the waiters that are here now, of which each owner serves its
     * part; no reader joins any more. Another call changes nothing.
     */
    void othersWait(Acquisition owner) {
        if (owner == lingering) {
            unlock(owner, null);
            return;
        }
        int turn = kind.isShared() ? 0 : Math.min(waiters.size(), context.localHandoffLimit());
        int part = owners.size() < 2 ? turn : (turn + owners.indexOf(owner)) / owners.size();
        owner.grant().limitHandOvers(part);
    }

    /** Another has the lock. {@return whether a waiter waits on} */
    boolean refused(Acquisition asked) {
        if (hasTried(asked)) {
            return false;
        }
        waiters.decideIf(waiter -> waiter.isLastCall() || !waiter.canUseLock(), Waiter.Plain.REFUSED);
        leaveRedisIfNobodyWaits();
        if (asked != asking) {
            return false;
        }
        acquisitions.openChannel();
        return true;
    }

    /**
     * Redis could not be asked: fails waiters that do not wait any longer; if the outage lasts, also those that wait without limit.
     *
     * @return whether a waiter waits on
     */
    boolean failed(Acquisition asked, @Nullable Throwable failure, Acquisition.Outage outage) {
        if (hasTried(asked)) {
            return false;
        }
        waiters.decideIf(
                waiter -> outage == Acquisition.Outage.NEVER_ANSWERED
                        || waiter.isLastCall()
                        || outage == Acquisition.Outage.LASTING
                                && waiter.request().isUnlimited(),
                noAnswer(failure));
        leaveRedisIfNobodyWaits();
        return asked == asking;
    }

    /** One that does not join the queue ends with its answer. What becomes of the waiters is decided by that of the one that asks. */
    private boolean hasTried(Acquisition asked) {
        boolean tried = trying.remove(asked);
        if (tried) {
            asked.leave();
            retireIfIdle();
        }
        return tried;
    }

    // --- the lease --------------------------------------------------------------------------------------------

    /** {@return what is renewed by the command that renews a lease} All permits are. */
    List<Acquisition> renewedTogether(Acquisition owner) {
        return owners.size() < 2 || !kind.isLimited()
                ? List.of(owner)
                : owners.stream()
                        .filter(each ->
                                each == owner || acquisitions.renewer().mayAsk(each.renewal()) && shouldRenew(each))
                        .toList();
    }

    /** {@return whether to renew the lease, which is due} */
    boolean shouldRenew(Acquisition owner) {
        if (!owners.contains(owner) || !owner.terms.renew() || context.isClosed()) {
            return false;
        }
        Collection<Hold> its = holdsOf(owner);
        boolean anyInUse = its.isEmpty();
        for (Hold hold : its) {
            boolean tooLong = hold.isHeldTooLong();
            if (tooLong) {
                hold.waiter().use().stuck();
            }
            anyInUse |= !tooLong && !hold.wasToldNotHeld() && hold.waiter().canUseLock();
        }
        return anyInUse;
    }

    void renewed(Acquisition owner, boolean successfully) {
        if (!owners.contains(owner)) {
            return;
        }
        for (Hold hold : holdsOf(owner)) {
            UseNotifier use = hold.waiter().use();
            if (successfully) {
                use.renewed();
            } else {
                use.renewalFailed();
            }
        }
    }

    /** Another has perhaps changed the lock in Redis. */
    void changed() {
        onEvent(() -> owners.forEach(owner -> acquisitions.renewer().changed(owner.renewal())));
    }

    /** The lease is over although the lock was not released. */
    void lost(Acquisition owner, String reason) {
        if (owner == asking || owners.contains(owner)) {
            lose(owner, reason);
        } else {
            trying.remove(owner);
            owner.abandon();
        }
    }

    @Override
    public void endLapsed() {
        onEvent(this::loseWhatRanOut);
    }

    private void loseWhatRanOut() {
        for (Acquisition over = whatRanOut(); over != null; over = whatRanOut()) {
            lose(over, over.whyRanOut());
        }
    }

    private @Nullable Acquisition whatRanOut() {
        for (Acquisition owner : owners) {
            if (owner.grant().isOver(context.nanoTime()) && hasHold(owner)) {
                return owner;
            }
        }
        return null;
    }

    /** A hold that was not claimed is no loss: its waiter is the first again. */
    private void lose(Acquisition owner, String reason) {
        Throwable tooLate = new GrantedTooLateException(reason);
        List<Hold> taken = new ArrayList<>(0);
        List<Hold> lost = new ArrayList<>(0);
        try {
            for (Hold hold : owner == asking ? List.<Hold>of() : holdsOf(owner)) {
                if (hold.takeBack()) {
                    taken.add(0, hold);
                } else if (hold.isHeld()) {
                    lost.add(hold);
                    hold.lose(hold.waiter().canUseLock() ? reason : THREAD_ENDED);
                }
            }
            forget(owner);
            taken.forEach(hold -> waiters.putBack(
                    hold.waiter(), noAnswer(tooLate))); // first: who is in line is found again, whatever is thrown
            if (taken.isEmpty() || !lost.isEmpty()) {
                owner.drop();
            } else {
                owner.unlock(null);
            }
        } finally {
            lost.stream().filter(Hold::isLost).forEach(Hold::reportLoss);
        }
        askForFirst(taken.isEmpty() ? null : tooLate);
    }

    // --- holds ------------------------------------------------------------------------------------------------

    private void serve(Acquisition owner, Waiter first) {
        waiters.grantFirst(beginHold(owner, first));
    }

    private Hold beginHold(Acquisition owner, Waiter waiter) {
        Hold hold = new Hold(context, this, owner.id, owner.grant(), waiter);
        holds = holds.isEmpty() ? List.of(hold) : ManyHolds.with(holds, hold);
        return hold;
    }

    @Override
    public CompletableFuture<Hold.Release> release(Hold hold) {
        return waiters.locked(() -> {
            Acquisition owner = ownerOf(hold);
            if (hold.isOver() && !hold.isReleased()) {
                if (owner != null) {
                    lose(owner, owner.whyRanOut());
                }
                return LOST;
            }
            if (!hold.markReleased() || owner == null) {
                return hold.isLost() ? LOST : PASSED_ON;
            }
            forget(hold);
            owner.grant().keepUntil(hold.keptUntil());
            return passOn(owner);
        });
    }

    private CompletableFuture<Hold.Release> passOn(Acquisition owner) {
        if (hasHold(owner)) {
            return PASSED_ON;
        }
        Waiter next = waiters.firstPresent();
        if (next == null ? !mayLinger(owner) : !canServe(owner, next)) {
            return unlock(owner, next);
        }
        acquisitions.renewer().beginAgain(owner.renewal());
        if (next == null) {
            linger(owner);
        } else {
            serve(owner, next);
        }
        leaveRedisIfNobodyWaits();
        return PASSED_ON;
    }

    private boolean canServe(Acquisition owner, Waiter next) {
        return next.request().terms().equals(owner.terms) && canServeAnother(owner);
    }

    /** A lease that is not renewed is not shared: the next one is promised a whole one. */
    private boolean canServeAnother(Acquisition owner) {
        return owner.terms.renew()
                && !owner.isDowngraded()
                && owner.grant().canServeAnother(context.nanoTime())
                && !owner.grant().isInDoubt(context.wallMillis());
    }

    private boolean mayLinger(Acquisition owner) {
        return owner.terms.lingerNanos() > 0
                && !owner.grant().isLimited()
                && canServeAnother(owner)
                && acquisitions.isNotified()
                && !context.isClosing();
    }

    private void linger(Acquisition owner) {
        lingering = owner;
        lingersUntil = context.nanoTime() + owner.terms.lingerNanos();
        lookAtLingering();
    }

    /** One task looks after many releases: to plan one for each would cost more than all the rest. */
    private void lookAtLingering() {
        Acquisition owner = lingering;
        long left = lingersUntil - context.nanoTime();
        if (owner != null && (left <= 0 || !acquisitions.isNotified())) {
            unlock(owner, null);
        } else if (owner != null && endOfLingering == null) {
            endOfLingering = context.schedule(
                    left,
                    () -> onEvent(() -> {
                        endOfLingering = null;
                        lookAtLingering();
                    }));
        }
    }

    /** Writers of this JVM ask for themselves from now on. */
    @Override
    public void downgrade(Hold hold) {
        locked(() -> {
            Acquisition owner = ownerOf(hold);
            if (owner != null) {
                owner.downgrade();
                askForFirst();
            }
        });
    }

    // --- what was not meant to happen -------------------------------------------------------------------------

    /**
     * Something was thrown in the middle of a change, so nothing is certain but the holds: they stay. Everything else begins again.
     */
    private void beginAnew(Throwable thrown) {
        Waiter.Failure failure = new Waiter.Failure(FAILED, thrown, false);
        List<Acquisition> asked = new ArrayList<>(trying);
        if (asking != null) {
            asked.add(asking);
        }
        for (Acquisition each : asked) {
            forget(each);
            each.abandon();
        }
        for (Acquisition owner : List.copyOf(owners)) {
            for (Hold hold : holdsOf(owner)) {
                if (hold.takeBack() || hold.isTakenBack()) {
                    waiters.decide(hold.waiter(), failure);
                    forget(hold);
                } else if (!hold.isHeld()) {
                    forget(hold);
                }
            }
            if (holdsOf(owner).isEmpty()) {
                forget(owner);
                owner.abandon();
            } else {
                acquisitions.renewer().beginAnew(owner.renewal());
            }
        }
        waiters.failAll(FAILED, thrown);
        retireIfIdle();
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    /**
     * Fails all waiters; a hold stays until it is released.
     *
     * @return completes when Redis has answered, or could not be asked
     */
    CompletableFuture<?> close() {
        return waiters.locked(() -> {
            waiters.failAll(LockEngine.CLOSING, null);
            return lingering == null ? leaveRedisIfNobodyWaits() : unlock(lingering, null);
        });
    }
}
