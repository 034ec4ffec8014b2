package io.github.lockboot.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.lockboot.engine.Grant.LeaseState;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.StoreFailure.GrantedTooLateException;
import io.github.lockboot.internal.Failures;
import org.jspecify.annotations.Nullable;

/**
 * The threads and futures of this JVM that want one name in one way, in order, and those among them that hold it.
 *
 * <h2>One acquisition for all waiters</h2>
 *
 * One {@link Acquisition} at a time asks the store for all waiters of this JVM. While it has the lock, the waiters pass
 * the lock on among themselves without a command. This is lock cohorting (Dice, Marathe and Shavit, "Lock Cohorting: A
 * General Technique for Designing NUMA Locks", PPoPP 2012), with JVMs in place of NUMA nodes: a command to the store
 * costs a thousand times a hand-over within the JVM, and the store's queue is as long as there are JVMs, not threads.
 *
 * <p>The steps are these. The first waiter makes an acquisition ask. Once that is granted the lock, the first waiter is
 * served with a hold of the grant, and readers are served all together. When the last hold is released, the next waiter
 * is served with a hold of the same grant. If this JVM has had its share, the acquisition is unlocked instead, and the
 * next one is queued in the same step. When no waiter is left, the queue retires. An exclusive lock has one
 * acquisition, which asks or has the lock. A shared or limited lock may have several that have it, and alongside them
 * one that asks.
 *
 * <h2>When this JVM has had its share</h2>
 *
 * A cohort must not keep the lock forever, as the paper demands of its "may pass local" test. The lock goes back to the
 * store
 *
 * <ul>
 *   <li>when too little of the lease, or no token of the grant, is left for another hold;
 *   <li>when the lease has expired by wall clock, or is not renewed: the next holder is promised a whole lease;
 *   <li>when the next waiter wants other terms, or a holder has left the lock taken for a time;
 *   <li>when other JVMs are known to wait, and as many waiters as then waited here, but at most the hand-off limit,
 *       have been served.
 * </ul>
 *
 * On terms with a linger time, an exclusive acquisition without a hold lingers when no waiter is left: it stays, and is
 * renewed, for that time. A caller that comes meanwhile is served with the next hold of the same grant, as if it had
 * waited. The acquisition is unlocked when its time is over, when another JVM waits, when the caller cannot be served
 * under it, when no message could tell of other JVMs, and at shutdown.
 *
 * <h2>Granted is not held</h2>
 *
 * The queue grants under its mutex, and the waiter claims later, on its own thread, by one compare-and-set of
 * {@link Hold}. A thread may be paused for longer than the lease between the two. So it claims only what is certain by
 * both clocks, and until then the queue can take the hold back and serve another waiter. Exactly one of the two wins.
 * The deadline is that of a lease (Gray and Cheriton, "Leases: An Efficient Fault-Tolerant Mechanism for Distributed
 * File Cache Consistency", SOSP 1989): it counts from before the command was sent, by the clock of the holder, so it
 * passes before the store gives the lock to another.
 *
 * <h2>Who may touch what</h2>
 *
 * Everything changes under the mutex, and nothing under the mutex blocks or runs code of a user. Waiters are woken once
 * the mutex is free. The fields that together say who has the lock:
 *
 * <pre>
 *   field                              guarded by                    written in
 *   LocalQueue asking                  mutex                         begin, waitFor, granted, endIfTrying, forget, lost,
 *                                                                    leaveStoreIfNobodyWaits
 *   LocalQueue granted                 mutex                         granted, forget
 *   LocalQueue holds                   mutex; read without           beginHold, forget
 *   Lingering stay                     mutex                         begin, interrupt, end
 *   LocalQueue retired                 mutex; never false again      retireIfIdle
 *   LocalQueue waiters, toWake, thrown mutex                         waitFor, putBack, decide, locked
 *   Waiter outcome                     mutex; read without           decide
 *   Waiter caller                      volatile; GONE is final       setLastCall, withdraw
 *   Hold state                         compare-and-set               claim by its waiter; RELEASED to LOST by the reader of the answer;
 *                                                                    the rest under the mutex
 *   Hold counts                        compare-and-set               enterAgain, exit by the holder
 *   Grant lease                        mutex; read without           prolong
 *   Grant lastToken, handOversLeft     mutex                         nextToken, limitHandOvers
 *   Acquisition state, findings, ...   mutex                         answers, messages, end
 *   Renewer.Slot                       mutex; the plan has its own   begin, renewed, failed, changed, check
 * </pre>
 *
 * If an action throws, all waiters fail, a grant that was not claimed is given back, a claimed hold stays, and the name
 * begins again.
 */
final class LocalQueue implements Hold.Releaser, Waiter.Line {

    private static final String FAILED = "the lock engine failed: please report it with the cause";

    private static final CompletableFuture<?> NOTHING_TO_LEAVE = CompletableFuture.completedFuture(null);

    private final String name;
    private final LockKind kind;
    private final EngineContext context;
    private final LockEngine engine;
    private final ReentrantLock mutex = new ReentrantLock();
    private final Deque<Waiter> waiters = new ArrayDeque<>(2);

    /** Waiters that are decided. They are woken once the mutex is free, because a woken thread locks it at once. */
    private final Deque<Waiter> toWake = new ArrayDeque<>(2);

    /** What an action has thrown, until the queue has begun anew. */
    private volatile @Nullable Throwable thrown;

    /**
     * Those that ask. The first one joins the queue in the store; there is none if no waiter is left, or if the one
     * that has an exclusive lock serves them. The others try alongside it, for permits of a limited lock.
     */
    private final Deque<Acquisition> asking = new ArrayDeque<>(2);

    /** Those that have the lock: at most one of an exclusive lock, one for each permit of a limited one. */
    private final List<Acquisition> granted = new ArrayList<>(1);

    /** Those of all acquisitions. */
    private volatile Collection<Hold> holds = List.of();

    /** Whether no waiter has a limit that is to be checked. */
    private boolean unlimited = true;

    /** Null until one lingers. */
    private @Nullable Lingering lingering;

    /**
     * Whether the engine has forgotten this queue. A caller that has found it before enters the next one of that name.
     */
    private boolean retired;

    LocalQueue(String name, LockKind kind, LockEngine engine) {
        this.name = name;
        this.kind = kind;
        this.context = engine.context();
        this.engine = engine;
    }

    String name() {
        return name;
    }

    /** Those who want different numbers of permits wait in one queue. */
    LockKind kind() {
        return kind;
    }

    /** Read without the mutex. */
    Collection<Hold> holds() {
        return holds;
    }

    /**
     * The newest hold of the thread: one before it may be on its way out, if another thread has released it. Read
     * without the mutex.
     */
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

    // --- the mutex --------------------------------------------------------------------------------------------

    /**
     * Runs the action with the mutex held; reentrant. If it throws, the queue begins anew before the mutex is free, or,
     * if that throws as well, before the next action.
     */
    private <T extends @Nullable Object> T locked(Supplier<T> action) {
        mutex.lock();
        try {
            beginAnewIfThrown();
            return action.get();
        } catch (Throwable failure) {
            thrown = failure;
            throw failure;
        } finally {
            freeMutex();
        }
    }

    private void locked(Runnable action) {
        locked(() -> {
            action.run();
            return null;
        });
    }

    private void freeMutex() {
        List<Waiter> awake = List.of();
        try {
            beginAnewIfThrown();
            if (!toWake.isEmpty() && mutex.getHoldCount() == 1) {
                awake = List.copyOf(toWake);
                toWake.clear();
            }
        } finally {
            mutex.unlock();
        }
        awake.forEach(Waiter::wake);
    }

    private void beginAnewIfThrown() {
        Throwable failure = thrown;
        if (failure != null && mutex.getHoldCount() == 1) {
            beginAnew(failure);
            thrown = null;
        }
    }

    /** Called once a second: the action that has thrown may have had no stack left to begin anew. */
    void checkThrown() {
        if (thrown != null) {
            onEvent(() -> {}); // begins anew first
        }
    }

    /** Runs the action under the mutex. There is no caller to get what it throws, so it is logged. */
    void onEvent(Runnable action) {
        try {
            locked(action);
        } catch (Throwable failure) {
            Failures.log("in the queue of a lock", failure);
        }
    }

    // --- waiters ----------------------------------------------------------------------------------------------

    /** @return false if this queue is retired: the caller enters the new one of that name */
    boolean enter(Waiter waiter) {
        waiter.joins(this);
        return locked(() -> {
            loseWhatRanOut();
            if (retired) {
                return false;
            }
            if (context.isClosing()) {
                decide(waiter, new Waiter.Failure(LockEngine.CLOSING, null, false));
                retireIfIdle();
            } else if (!joinReaders(waiter) && !resume(waiter)) {
                waitFor(waiter);
            }
            return true;
        });
    }

    private void waitFor(Waiter waiter) {
        Acquisition asked = asking.peek();
        if (mayAsk()) {
            waiters.add(waiter);
            begin(waiter, false).ask(!waiter.isLastCall());
        } else if (asked != null && mayTry(asked, waiter.request().terms())) {
            waiters.add(waiter);
            Acquisition another = new Acquisition(engine, this, asked.terms, true, null);
            asking.add(another);
            another.ask(false);
            limit(waiter);
        } else if (!waiter.isLastCall()) {
            if (asked == null && waiters.isEmpty()) {
                countHandOversUnlessNotified();
            }
            waiters.add(waiter);
            limit(waiter);
            engine.openChannel();
        } else if (asked != null && asked.isAsking() && !asked.isTaken()) {
            waiters.add(waiter); // the answer is for it, too
        } else {
            decide(waiter, outcomeNow());
        }
    }

    private void limit(Waiter newest) {
        unlimited &= newest.request().maxWaiting() == LockRequest.ANY_NUMBER;
        refuseThoseTooMany();
    }

    /**
     * Refuses callers that have as many waiters before them as they allow. While an answer is under way that may serve
     * them, it is not known whether they have to wait: the answer decides it.
     */
    private void refuseThoseTooMany() {
        if (unlimited || isAnswerToCome()) {
            return;
        }
        unlimited = true;
        int[] before = {0};
        waiters.removeIf(waiter -> {
            boolean tooMany = waiter.isOneTooMany(before[0]);
            if (tooMany) {
                Waiter.Refused held = refusal();
                decide(waiter, new Waiter.Refused(before[0], held.holderId(), held.left()));
            } else if (!waiter.request().triesOnce() && waiter.canUseLock()) {
                before[0]++;
            }
            return tooMany;
        });
    }

    private boolean isAnswerToCome() {
        Acquisition asked = asking.peek();
        return asked != null && asked.isAsking() && !asked.isAnswered();
    }

    /** Serves a reader alongside others, without asking the store. */
    private boolean joinReaders(Waiter waiter) {
        if (kind != LockKind.SHARED || granted.isEmpty()) {
            return false;
        }
        engine.openChannel();
        countHandOversUnlessNotified();
        for (Acquisition acquisition : granted) {
            if (acquisition.canServe(waiter)) {
                decide(waiter, beginHold(acquisition, waiter));
                engine.renewer.needed(acquisition.renewal());
                return true;
            }
        }
        return false;
    }

    /** Serves a caller for whom the lock has lingered. If it cannot be served, the lock is given back. */
    private boolean resume(Waiter waiter) {
        Acquisition acquisition = lingering();
        if (acquisition == null) {
            return false;
        }
        if (acquisition.canServe(waiter)) {
            decide(waiter, beginHold(acquisition, waiter));
            Objects.requireNonNull(lingering).interrupt();
            return true;
        }
        forget(acquisition);
        acquisition.unlock(null);
        return false;
    }

    /** The outcome for a waiter that does not wait any longer. */
    private Waiter.Outcome outcomeNow() {
        Acquisition asked = asking.peek();
        return asked == null || asked.isTaken() ? refusal() : engine.noAnswer(asked.lastFailure());
    }

    /** Names the holder by the newest answer of the store, or else a hold of this JVM. */
    private Waiter.Refused refusal() {
        Acquisition asked = asking.peek();
        Waiter.Refused byStore = asked == null ? null : asked.refusal();
        if (byStore != null) {
            return byStore;
        }
        for (Hold hold : holds) {
            return new Waiter.Refused(0, hold.acquisitionId(), hold.remainingLease());
        }
        return Waiter.Refused.HELD;
    }

    @Override
    public boolean leave(Waiter waiter) {
        return locked(() -> waiter.isWaiting() && leave(waiter, Waiter.Refused.HELD));
    }

    private boolean leave(Waiter waiter, Waiter.Outcome outcome) {
        decide(waiter, outcome);
        waiters.remove(waiter);
        leaveStoreIfNobodyWaits();
        return true;
    }

    @Override
    public void leaveAtDeadline(Waiter waiter) {
        locked(() -> {
            // Worth two command timeouts: it says whether the lock is taken or the store is away.
            if (!waiter.isWaiting() || isAnswerToCome() && !waiter.isLongOverdue()) {
                waiter.setLastCall();
            } else {
                leave(waiter, outcomeNow());
            }
        });
    }

    @Override
    public void takeBack(Waiter waiter, Hold hold) {
        locked(() -> {
            Acquisition acquisition = acquisitionOf(hold);
            if (acquisition != null
                    && hold.state() != Hold.State.HELD
                    && (hold.lease() == LeaseState.OVER || holdsOf(acquisition).size() == 1)) {
                lose(acquisition, acquisition.whyRanOut());
            } else if (acquisition != null && hold.takeBack()) {
                forget(hold);
                putBack(waiter, engine.noAnswer(new GrantedTooLateException(acquisition.whyRanOut())));
                askForFirst(null);
            }
        });
    }

    @Override
    public void withdraw(Waiter waiter) {
        onEvent(() -> {
            if (waiter.isWaiting()) {
                leave(waiter, Waiter.Refused.HELD);
            } else if (waiter.outcome() instanceof Hold hold) {
                hold.end();
                hold.claim(); // unless it has been
                hold.whenAnswered(hold.state() == Hold.State.RELEASED ? Hold.Release.UNKNOWN.known : release(hold));
            }
        });
    }

    // --- the line ---------------------------------------------------------------------------------------------

    /** The first one whose caller is there; those before it leave. */
    private @Nullable Waiter firstPresent() {
        Waiter first = waiters.peek();
        while (first != null && !first.canUseLock()) {
            decide(first, Waiter.Refused.HELD);
            waiters.remove();
            first = waiters.peek();
        }
        return first;
    }

    /**
     * Puts back one that was granted the lock and could not use it.
     *
     * @param why the outcome if it does not wait any longer
     */
    private void putBack(Waiter waiter, Waiter.Failure why) {
        if (waiter.isLastCall() || !waiter.canUseLock()) {
            decide(waiter, why);
        } else {
            waiter.decide(Waiter.Plain.WAITING);
            waiters.addFirst(waiter);
        }
    }

    /** Decides one that is not in the line. */
    private void decide(Waiter waiter, Waiter.Outcome outcome) {
        waiter.decide(outcome);
        toWake.add(waiter);
    }

    private void decideIf(Predicate<Waiter> which, Waiter.Outcome outcome) {
        waiters.removeIf(waiter -> {
            boolean decided = which.test(waiter);
            if (decided) {
                decide(waiter, outcome);
            }
            return decided;
        });
    }

    /** Each leaves only once it is decided, so that one whose decision throws is decided by the next call. */
    private void failAll(String reason, @Nullable Throwable cause) {
        Waiter.Failure failure = new Waiter.Failure(reason, cause, false);
        for (Waiter first = waiters.peek(); first != null; first = waiters.peek()) {
            if (first.isWaiting()) {
                decide(first, failure);
            }
            waiters.remove();
        }
    }

    // --- acquisitions -----------------------------------------------------------------------------------------

    private boolean mayAsk() {
        return asking.isEmpty()
                && (kind != LockKind.EXCLUSIVE
                        || granted.isEmpty()
                        || granted.get(granted.size() - 1).isDowngraded());
    }

    /**
     * Whether another permit may be free: no answer says that they are taken, and fewer are held or asked for here than
     * there are.
     */
    private boolean mayTry(Acquisition asked, Terms terms) {
        return kind == LockKind.LIMITED
                && asked.isAsking()
                && !asked.isRefused()
                && asked.terms.equals(terms)
                && granted.size() + asking.size() < terms.permits();
    }

    /** @param answered whether the waiters have had an answer of the store before */
    private Acquisition begin(Waiter first, boolean answered) {
        Transfer transfer = first.transfer();
        boolean endures = answered || transfer != null; // the lease of a transfer lasts meanwhile
        Acquisition begun = new Acquisition(engine, this, first.request().terms(), endures, transfer);
        asking.add(begun);
        if (begun.terms.lingerNanos() > 0) {
            engine.openChannel(); // only with it the lock lingers
        }
        return begun;
    }

    /**
     * Begins a new acquisition for the waiters that are left.
     *
     * @param tooLate why they do not have the lock that the store granted; null if it is held, or was until now
     */
    private void askForFirst(@Nullable Throwable tooLate) {
        if (context.isClosing()) {
            failAll(LockEngine.CLOSING, null);
        }
        Waiter first = firstPresent();
        if (first != null && mayAsk()) {
            Acquisition next = begin(first, true);
            if (tooLate != null) {
                next.failedBefore(tooLate);
            }
            next.ask(!first.isLastCall());
        }
        leaveStoreIfNobodyWaits();
    }

    /**
     * Gives the lock back to the store, and with a next waiter for whom no acquisition asks queues again in the same
     * step.
     */
    CompletableFuture<Hold.Release> unlock(Acquisition acquisition, @Nullable Waiter next) {
        Acquisition again = next == null || !asking.isEmpty() ? null : begin(next, true); // first, because it may throw
        forget(acquisition);
        CompletableFuture<Hold.Release> unlocked = acquisition.unlock(again);
        leaveStoreIfNobodyWaits();
        return unlocked;
    }

    /** Detaches the acquisition and its holds from this queue. */
    private void forget(Acquisition acquisition) {
        engine.renewer.end(acquisition.renewal());
        if (lingering != null) {
            lingering.end(acquisition);
        }
        if (!asking.remove(acquisition) && granted.remove(acquisition)) {
            holds = granted.isEmpty() ? List.of() : those(hold -> hold.grant() != acquisition.grant());
        }
    }

    /** The collection is replaced or safe to read, because {@link #heldBy} runs without the mutex. */
    private void forget(Hold hold) {
        holds = holds.size() == 1 ? List.of() : ManyHolds.without(holds, hold);
    }

    private List<Hold> those(Predicate<Hold> which) {
        return holds.stream().filter(which).toList();
    }

    private Collection<Hold> holdsOf(Acquisition acquisition) {
        return granted.size() == 1 ? holds : those(hold -> hold.grant() == acquisition.grant());
    }

    private boolean hasHold(Acquisition acquisition) {
        return granted.size() == 1
                ? !holds.isEmpty()
                : holds.stream().anyMatch(hold -> hold.grant() == acquisition.grant());
    }

    /** Null if the hold has ended. */
    private @Nullable Acquisition acquisitionOf(Hold hold) {
        for (Acquisition acquisition : granted) {
            if (acquisition.grant() == hold.grant() && holds.contains(hold)) {
                return acquisition;
            }
        }
        return null;
    }

    private CompletableFuture<?> leaveStoreIfNobodyWaits() {
        CompletableFuture<?> left = NOTHING_TO_LEAVE;
        while (waiters.isEmpty() && !asking.isEmpty()) {
            left = CompletableFuture.allOf(left, asking.remove().leave());
        }
        retireIfIdle();
        return left;
    }

    private void retireIfIdle() {
        if (asking.isEmpty() && granted.isEmpty() && waiters.isEmpty()) {
            retired = true;
            engine.retire(this);
        }
    }

    // --- answers and messages ---------------------------------------------------------------------------------

    /** The lock is ours: serves the first waiter, or gives it back. Waiters that do not wait any longer are refused. */
    void granted(Acquisition acquisition, boolean othersWait) {
        if (!asking.remove(acquisition)) {
            acquisition.unlock(null); // something was thrown when it should have ended
            return;
        }
        Waiter first = firstPresent();
        if (first == null || !first.request().terms().equals(acquisition.terms)) {
            unlock(acquisition, first);
            return;
        }
        granted.add(acquisition);
        engine.renewer.begin(acquisition.renewal());
        serve(acquisition, first);
        if (kind == LockKind.SHARED) {
            serveReaders(acquisition);
        } else if (kind == LockKind.EXCLUSIVE) {
            decideIf(Waiter::isLastCall, refusal());
        }
        if (othersWait) {
            othersWait(acquisition);
        } else if (!waiters.isEmpty()) {
            countHandOversUnlessNotified();
        }
        askForFirst(null);
        refuseThoseTooMany();
    }

    /**
     * Readers share the grant and its token, so one answer of the store serves all that wait, up to the first that
     * cannot be served.
     */
    private void serveReaders(Acquisition acquisition) {
        Waiter next = firstPresent();
        while (next != null && acquisition.canServe(next)) {
            serve(acquisition, next);
            next = firstPresent();
        }
    }

    /** Without the channel nothing would tell that other JVMs wait. */
    private void countHandOversUnlessNotified() {
        if (!engine.isNotified()) {
            granted.forEach(this::othersWait);
        }
    }

    /**
     * Other JVMs wait for the lock, or may. It goes back to the store after the waiters that are here now, of which
     * each acquisition serves its part; no reader joins any more. Another call changes nothing.
     */
    void othersWait(Acquisition acquisition) {
        if (acquisition == lingering()) {
            unlock(acquisition, null);
            return;
        }
        int turn = kind == LockKind.SHARED ? 0 : Math.min(waiters.size(), context.localHandoffLimit());
        int part = granted.size() < 2 ? turn : (turn + granted.indexOf(acquisition)) / granted.size();
        acquisition.grant().limitHandOvers(part);
    }

    /** Another has the lock. {@return whether a waiter waits on} */
    boolean refused(Acquisition asked) {
        if (endIfTrying(asked)) {
            return false;
        }
        decideIf(waiter -> waiter.isLastCall() || !waiter.canUseLock(), refusal());
        refuseThoseTooMany();
        leaveStoreIfNobodyWaits();
        if (asked != asking.peek()) {
            return false;
        }
        engine.openChannel();
        return true;
    }

    /** Another has taken over the hold, or its lease has ended. */
    void notTransferred() {
        decideIf(waiter -> true, Waiter.Refused.HELD);
        leaveStoreIfNobodyWaits();
    }

    /**
     * The store could not be asked: fails waiters that do not wait any longer; if the outage lasts, also those that
     * wait without limit.
     *
     * @return whether a waiter waits on
     */
    boolean failed(Acquisition asked, @Nullable Throwable failure, Acquisition.Outage outage) {
        if (endIfTrying(asked)) {
            return false;
        }
        decideIf(
                waiter -> outage == Acquisition.Outage.NEVER_ANSWERED
                        || waiter.isLastCall()
                        || outage == Acquisition.Outage.LASTING
                                && waiter.request().isUnlimited(),
                engine.noAnswer(failure));
        refuseThoseTooMany();
        leaveStoreIfNobodyWaits();
        return asked == asking.peek();
    }

    /**
     * One that does not join the queue ends with its answer. What becomes of the waiters is decided by that of the one
     * that asks.
     */
    private boolean endIfTrying(Acquisition asked) {
        boolean tried = asked != asking.peek() && asking.remove(asked);
        if (tried) {
            asked.leave();
            retireIfIdle();
        }
        return tried;
    }

    // --- the lease --------------------------------------------------------------------------------------------

    /** {@return what is renewed by the command that renews a lease} All permits are. */
    List<Acquisition> renewedTogether(Acquisition acquisition) {
        return granted.size() < 2 || kind != LockKind.LIMITED
                ? List.of(acquisition)
                : granted.stream()
                        .filter(each ->
                                each == acquisition || engine.renewer.mayAsk(each.renewal()) && shouldRenew(each))
                        .toList();
    }

    /** {@return whether to renew the lease, which is due} */
    boolean shouldRenew(Acquisition acquisition) {
        if (!granted.contains(acquisition) || !acquisition.terms.renew() || context.isClosed()) {
            return false;
        }
        Collection<Hold> its = holdsOf(acquisition);
        boolean anyInUse = its.isEmpty();
        for (Hold hold : its) {
            boolean tooLong = hold.isHeldTooLong();
            if (tooLong) {
                hold.reportStuck();
            }
            anyInUse |= !tooLong && !hold.isRenewalStopped() && hold.waiter().canUseLock();
        }
        return anyInUse;
    }

    /** Notifies the listeners of all holds under the lease, of which each is a use of its own. */
    void notify(Acquisition acquisition, Consumer<UseNotifier> renewal) {
        if (granted.contains(acquisition)) {
            holdsOf(acquisition).forEach(hold -> hold.waiter().report(renewal));
        }
    }

    /** Another has perhaps changed the lock in the store. */
    void changed() {
        onEvent(() -> granted.forEach(acquisition -> engine.renewer.changed(acquisition.renewal())));
    }

    /** The lease is over although the lock was not released. */
    void lost(Acquisition acquisition, String reason) {
        if (acquisition == asking.peek() || granted.contains(acquisition)) {
            lose(acquisition, reason);
        } else {
            asking.remove(acquisition);
            acquisition.abandon();
        }
    }

    @Override
    public void endLapsed() {
        onEvent(this::loseWhatRanOut);
    }

    /** An acquisition without a hold, which lingers, is not lost: nobody relies on it, and the renewer gives it up. */
    private void loseWhatRanOut() {
        for (Acquisition acquisition : List.copyOf(granted)) {
            if (granted.contains(acquisition)
                    && acquisition.grant().leaseAt(context.now()) == LeaseState.OVER
                    && hasHold(acquisition)) {
                lose(acquisition, acquisition.whyRanOut());
            }
        }
    }

    /** A hold that was not claimed is no loss: its waiter is the first again. */
    private void lose(Acquisition acquisition, String reason) {
        Throwable tooLate = new GrantedTooLateException(reason);
        List<Hold> taken = new ArrayList<>(0);
        List<Hold> lost = new ArrayList<>(0);
        try {
            for (Hold hold : granted.contains(acquisition) ? holdsOf(acquisition) : List.<Hold>of()) {
                if (hold.takeBack()) {
                    taken.add(0, hold);
                } else if (hold.state() == Hold.State.HELD) {
                    lost.add(hold);
                    hold.lose(whyLost(hold, reason));
                }
            }
            forget(acquisition);
            taken.forEach(hold -> putBack(
                    hold.waiter(),
                    engine.noAnswer(tooLate))); // first: who is in line is found again, whatever is thrown
            if (taken.isEmpty() || !lost.isEmpty()) {
                acquisition.drop();
            } else {
                acquisition.unlock(null);
            }
        } finally {
            lost.stream().filter(hold -> hold.state() == Hold.State.LOST).forEach(Hold::reportLoss);
        }
        askForFirst(taken.isEmpty() ? null : tooLate);
    }

    private static String whyLost(Hold hold, String reason) {
        boolean beyondMaxHold = hold.isStuck() && reason.equals(Acquisition.RAN_OUT);
        return hold.waiter().whyLost(beyondMaxHold ? hold.beyondMaxHold() : reason);
    }

    // --- holds ------------------------------------------------------------------------------------------------

    private void serve(Acquisition acquisition, Waiter first) {
        decide(waiters.remove(), beginHold(acquisition, first));
    }

    /**
     * The hold is in the list before its waiter sees it: a waiter that claims it may release it at once, on another
     * thread.
     */
    private Hold beginHold(Acquisition acquisition, Waiter waiter) {
        Hold hold = new Hold(context, this, acquisition.id, acquisition.grant(), waiter);
        holds = holds.isEmpty() ? List.of(hold) : ManyHolds.with(holds, hold);
        return hold;
    }

    @Override
    public void keepUntil(Hold hold, long nanoTime) {
        locked(() -> {
            Acquisition acquisition = acquisitionOf(hold);
            if (acquisition != null && hold.state() == Hold.State.HELD) {
                acquisition.grant().keepUntil(nanoTime);
            }
        });
    }

    @Override
    public CompletableFuture<Hold.Release> release(Hold hold) {
        return end(hold, this::passOn);
    }

    /** The waiters that are left acquire the lock anew. */
    @Override
    public CompletableFuture<Hold.Release> handOver(Hold hold, Transfer to) {
        return end(hold, acquisition -> {
            forget(acquisition);
            CompletableFuture<Hold.Release> handedOver = acquisition.handOver(to);
            askForFirst(null);
            return handedOver;
        });
    }

    private CompletableFuture<Hold.Release> end(Hold hold, Function<Acquisition, CompletableFuture<Hold.Release>> how) {
        return locked(() -> {
            Acquisition acquisition = acquisitionOf(hold);
            if (hold.lease() == LeaseState.OVER && hold.state() != Hold.State.RELEASED) {
                if (acquisition != null) {
                    lose(acquisition, acquisition.whyRanOut());
                }
                return Hold.Release.LOST.known;
            }
            if (!hold.markReleased() || acquisition == null) {
                return hold.state() == Hold.State.LOST ? Hold.Release.LOST.known : Hold.Release.PASSED_ON.known;
            }
            forget(hold);
            return how.apply(acquisition);
        });
    }

    /** The hand-over within the JVM: neither a command nor a new token range, only the next token of the grant. */
    private CompletableFuture<Hold.Release> passOn(Acquisition acquisition) {
        if (hasHold(acquisition)) {
            return Hold.Release.PASSED_ON.known;
        }
        Waiter next = firstPresent();
        if (next == null ? !acquisition.mayLinger() : !acquisition.canServe(next)) {
            return unlock(acquisition, next);
        }
        engine.renewer.needed(acquisition.renewal());
        if (next == null) {
            linger(acquisition);
        } else {
            serve(acquisition, next);
        }
        leaveStoreIfNobodyWaits();
        return Hold.Release.PASSED_ON.known;
    }

    private void linger(Acquisition acquisition) {
        lingering = lingering == null ? new Lingering(engine, this) : lingering;
        lingering.begin(acquisition);
    }

    private @Nullable Acquisition lingering() {
        return lingering == null ? null : lingering.acquisition();
    }

    @Override
    public boolean extend(Hold hold, long millis) {
        EngineContext.requireStack();
        CompletableFuture<Reply> asked = locked(() -> {
            Acquisition acquisition = acquisitionOf(hold);
            return acquisition == null
                    ? CompletableFuture.completedFuture(Reply.Plain.NOT_HOLDER)
                    : acquisition.extend(millis);
        });
        return engine.answer(name, asked) instanceof Reply.Renewed;
    }

    /** Writers of this JVM ask for themselves from now on. */
    @Override
    public void downgrade(Hold hold) {
        locked(() -> {
            Acquisition acquisition = acquisitionOf(hold);
            if (acquisition != null) {
                acquisition.downgrade();
                askForFirst(null);
            }
        });
    }

    // --- what was not meant to happen -------------------------------------------------------------------------

    /**
     * Something was thrown in the middle of a change, so nothing is certain but the holds that were claimed: they stay,
     * and so do the acquisitions that have one. All others are abandoned, also one that was about to end, and all
     * waiters fail.
     */
    private void beginAnew(Throwable thrown) {
        Waiter.Failure failure = new Waiter.Failure(FAILED, thrown, false);
        for (Hold hold : List.copyOf(holds)) {
            if (hold.takeBack() || hold.state() == Hold.State.TAKEN_BACK) {
                decide(hold.waiter(), failure);
            }
            if (hold.state() != Hold.State.HELD) {
                forget(hold);
            }
        }
        for (Acquisition each :
                engine.acquisitions().stream().filter(each -> each.isOf(this)).toList()) {
            if (granted.contains(each) && hasHold(each)) {
                engine.renewer.begin(each.renewal());
            } else {
                forget(each);
                each.abandon();
            }
        }
        failAll(FAILED, thrown);
        retireIfIdle();
    }

    // --- shutdown ---------------------------------------------------------------------------------------------

    /**
     * Fails all waiters; a hold stays until it is released.
     *
     * @return completes when the store has answered, or could not be asked
     */
    CompletableFuture<?> close() {
        return locked(() -> {
            failAll(LockEngine.CLOSING, null);
            Acquisition acquisition = lingering();
            return acquisition == null ? leaveStoreIfNobodyWaits() : unlock(acquisition, null);
        });
    }
}
