package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.Hold.Release;
import io.github.lockboot.engine.Id.Command;
import io.github.lockboot.engine.Id.Command.Extension;
import io.github.lockboot.engine.Id.Command.Verb;
import io.github.lockboot.engine.Id.Failing;
import io.github.lockboot.engine.Id.Life;
import io.github.lockboot.engine.Id.Renewal;
import io.github.lockboot.engine.LeaseTime.Moment;
import io.github.lockboot.engine.LeaseTime.State;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.StoreFailure.GrantedTooLateException;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import io.github.lockboot.engine.Waiter.Line;
import io.github.lockboot.internal.Futures;
import org.jspecify.annotations.Nullable;

/**
 * One name in a registry, in one kind: who waits for it, who holds it, and the ids by which the store knows the
 * registry.
 *
 * <h2>Facts and one settle()</h2>
 *
 * An event changes facts, and may decide waiters. After each of them {@link #settle} does what the facts ask for, so it
 * does not matter in which order they come, or whether one was lost. Called again, it does nothing. Whatever is thrown
 * in the middle, the next call does the rest: a name that is not settled is called again within a second.
 *
 * <pre>
 *   fact                       changed by                       what settle() does with it
 *   ------------------------   ------------------------------   -----------------------------------------------------
 *   who waits                  enter, leave, withdraw           serves the first, or asks for it; ends an id on terms
 *                                                               that the first does not want
 *   whose time is over         leaveAtDeadline                  decides it, unless its first answer is under way
 *   known to be taken          an answer, a hold here           refuses waiters that do not wait any longer
 *   an offered hold            the waiter, the clock            takes it back if it came too late, or its caller is
 *                                                               gone
 *   came too late              a hold that was taken back       begins the next request with this failure
 *   a hold                     release                          serves the next one, lingers, or releases the id
 *   left to another process    release                          transfers the id in place of its release
 *   kept until                 keepUntil                        sends a release that keeps the lock taken
 *   downgraded                 downgrade                        tells the store; writers ask for themselves
 *   an extension               extend                           sends it
 *   the lease                  an answer, a message, the clock  renews it; loses what has run out
 *   may be lost                changed, the time of day         renews it in its turn
 *   others wait                an answer, a message             passes it on only to callers that wait now; notifies
 *                                                               leases that want to know
 *   queued, taken, failing     an answer, a failure             asks again when it is due
 *   revoked                    revoke                           ends the id: the caller releases it in the store
 *   a grant to an unknown id   releaseUnknownGrant              releases the id
 *   the channel, closing       the registry                     limits how often the lock is passed on; fails all that
 *                                                               wait
 * </pre>
 *
 * One id at a time is asked for, on behalf of all waiters. While it has the lock, its holders pass the lock on without
 * a command. This is lock cohorting (Dice, Marathe and Shavit, "Lock Cohorting: A General Technique for Designing NUMA
 * Locks", PPoPP 2012), with registries in place of NUMA nodes. A cohort must not keep the lock forever, so
 * {@link Id#canServe} limits how often the lock is passed on.
 *
 * <h2>Offered is not held</h2>
 *
 * A hold is offered under the mutex, and the waiter claims it later, on its own thread, by one compare-and-set. A
 * thread may be paused for longer than the lease between the two. So it claims a hold only while the lease is certain
 * by both clocks. Until then, the name can take the hold back. Exactly one of the two succeeds. The deadline is that of
 * a lease (Gray and Cheriton, "Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache Consistency",
 * SOSP 1989): it counts from before the command was sent, by the clock of the holder. So it passes before the store
 * gives the lock to another.
 *
 * <h2>Threads</h2>
 *
 * Everything changes under the mutex. Nothing under it blocks, or runs code of a user. An event reads the clocks once,
 * and all that it begins counts from that reading. Waiters are woken, and losses are reported, once the mutex is free.
 * An event that comes while the same thread settles, such as an answer that a store gives at once, is handled after it.
 */
@SuppressWarnings("ReferenceEquality") // commands and appointments are known by identity
final class Name extends EngineContext.Shell implements Hold.Releaser, Waiter.Decider, Agenda.Called {

    private static final String ENDED = "it had already ended when it was renewed";

    /** A wait without limit fails only after so many failures: one or two may come from a pause of this process. */
    private static final int FAILURES_ENDURED = 3;

    /** After so many seconds in which this process has run, a missing answer counts as lost: something was thrown. */
    private static final int SECONDS_UNTIL_LOST = 10;

    private final String text;
    /** Requests for different numbers of permits wait together. */
    private final LockKind kind;

    private final EngineContext context;
    private final LockEngine engine;
    private final LockStore store;
    private final Line line = new Line(waiter -> afterwards(waiter::wake));
    /** Is replaced, never changed, because some look-ups do not take the mutex. Each event looks through it. */
    private volatile Id[] ids = {};

    private final Hold.Index holds = new Hold.Index();

    /** Whether it is known that another has the lock for which callers wait: by an answer, or by a hold here. */
    private boolean knownTaken;

    /** Why a grant was of no use since the last request: it came too late. Null if there was none such. */
    private @Nullable Throwable tooLate;

    /** Whether the registry has forgotten this name. A caller that has found it before enters the next one. */
    private boolean retired;

    private Agenda.@Nullable Entry appointment;

    Name(String text, LockKind kind, LockEngine engine) {
        super(engine.context());
        this.text = text;
        this.kind = kind;
        this.context = engine.context();
        this.engine = engine;
        this.store = engine.store;
    }

    @Override
    public String toString() {
        return text;
    }

    // --- look-ups without the mutex -----------------------------------------------------------------------------

    Stream<Id> ids() {
        return Stream.of(ids);
    }

    Collection<Hold> holds() {
        return holds.present();
    }

    @Nullable
    Hold heldBy(Thread thread) {
        return holds.of(thread);
    }

    boolean isInUse() {
        return ids.length == 0 || firstId(id -> !id.repeated) != null;
    }

    // --- events -------------------------------------------------------------------------------------------------

    private boolean changeIfHeld(Hold hold, Consumer<Moment> event) {
        return changeIf(() -> hold.state() == Hold.State.HELD, event);
    }

    /** {@return false if this name is retired: the caller enters the new one} */
    boolean enter(Waiter waiter) {
        return changeIf(() -> !retired, now -> enter(waiter, now));
    }

    private void enter(Waiter waiter, Moment now) {
        waiter.joins(this);
        loseWhatRanOut(now);
        boolean shared = kind == LockKind.SHARED && !holds.isEmpty();
        limitPasses(shared || kind == LockKind.EXCLUSIVE && line.isEmpty());
        if (line.isEmpty()) {
            knownTaken = kind == LockKind.EXCLUSIVE && !holds.isEmpty() || waiter.transfer() != null;
        }
        Id beside = shared ? idFor(waiter, now) : null;
        line.add(waiter);
        if (shared) {
            openChannel();
        }
        if (beside != null) {
            serve(waiter, beside, now); // also beside readers that wait on other terms
        }
    }

    /** {@return false if the waiter has been decided already} Otherwise it is refused. */
    @Override
    public boolean leave(Waiter waiter) {
        return changeIf(waiter::isWaiting, now -> line.decide(waiter, Waiter.Refused.HELD));
    }

    /** The time to wait has passed: the waiter is decided, now or with the next answer. */
    @Override
    public void leaveAtDeadline(Waiter waiter) {
        onEvent(now -> line.overdue(waiter));
    }

    /** The caller is gone: the waiter leaves, or its hold is released. */
    @Override
    public void withdraw(Waiter waiter) {
        leave(waiter);
        if (waiter.outcome() instanceof Hold hold) {
            hold.end();
            hold.claim(); // unless it has been
            hold.whenAnswered(hold.state() == Hold.State.RELEASED ? Release.UNKNOWN.completed : release(hold, null));
        }
    }

    /** If the lock is left to another process, the waiters here acquire it anew. */
    @Override
    public CompletableFuture<Release> release(Hold hold, @Nullable Transfer to) {
        return change(now -> {
            boolean ends = !hold.id().lease().isOver(now.nanos()) && hold.markReleased();
            if (ends) {
                holds.remove(hold.id(), List.of(hold));
                hold.id().leftTo = to;
            }
            // after settle(), which may have passed the lock on
            return () -> hold.state() == Hold.State.LOST
                    ? Release.LOST.completed
                    : ends && !hold.id().isHeld() ? hold.id().released : Release.PASSED_ON.completed;
        });
    }

    @Override
    public void keepUntil(Hold hold, long nanoTime) {
        changeIfHeld(hold, now -> hold.id().keepUntil(nanoTime));
    }

    @Override
    public boolean extend(Hold hold, long millis) {
        EngineContext.requireStack();
        CompletableFuture<Reply> answer = new CompletableFuture<>();
        return changeIfHeld(hold, now -> hold.id().extensions.add(new Extension(millis, answer)))
                && engine.answer(text, answer) instanceof Reply.Renewed;
    }

    @Override
    public boolean othersWait(Hold hold) {
        return changeIf(() -> keepsOthersWaiting(hold), now -> {});
    }

    private boolean keepsOthersWaiting(Hold hold) {
        return hold.state() == Hold.State.HELD && (hold.id().othersWait || isPatient());
    }

    /** From now on, writers of this registry request the lock in the store like any other. */
    @Override
    public void downgrade(Hold hold) {
        changeIfHeld(hold, now -> hold.id().downgrade(now));
    }

    @Override
    public void settleNow() {
        onEvent(now -> {});
    }

    @Override
    public void call(Agenda.Entry entry) {
        onEvent(now -> appointment = appointment == entry ? null : appointment);
    }

    /**
     * Called once a second. A lease may have expired by the time of day, an answer may be lost, the channel cut, or a
     * caller gone that has not claimed its hold.
     */
    void check(Moment now) {
        check();
        boolean offered = holds.present().stream().anyMatch(hold -> hold.state() == Hold.State.OFFERED);
        for (Id id : ids) {
            if (offered || id.underWay != null || id.isExpiredByWallClock(now) || id.lingersUntil != LeaseTime.NEVER) {
                onEvent(then -> giveUpAnswer(id, then));
            }
        }
    }

    private void giveUpAnswer(Id id, Moment now) {
        id.seconds = store.client().isConnecting() ? 0 : id.seconds + 1;
        boolean lost = id.seconds > Math.max(SECONDS_UNTIL_LOST, 3 * context.commandTimeout() / 1_000_000_000);
        if (id.underWay != null && lost) {
            answered(id.underWay, null, new TimeoutException("the answer was lost"), now);
        }
    }

    /** Another has perhaps changed the lock in the store. */
    void changed() {
        onEvent(now -> ids().filter(Id::isHeld).forEach(id -> id.renewal.changed()));
    }

    /** The store is about to give the lock, or the place in the queue, to another. */
    void revoke(String id, String reason) {
        onEvent(now -> ids().filter(each -> each.text.equals(id)).forEach(each -> lose(each, reason, true, now)));
    }

    /** A message of the store: a grant, or a hint that others wait. */
    void receive(Push push) {
        Id id = firstId(each -> each.text.equals(push.id()));
        if (id != null && text.equals(store.nameOf(push.key())) && push.leaseMillis() <= id.terms.ttlMillis()) {
            onEvent(now -> {
                id.messaged(push, areOthers(push.waiters()), now);
                id.takeEarlyGrant(now);
            });
        } // else no script of ours wrote it
    }

    /** Messages may have been missed. */
    void mayHaveMissedMessage() {
        onEvent(now -> ids().forEach(id -> id.askSoon(now)));
    }

    /** The store has granted the lock to an id of this registry that has ended: it is released. */
    void releaseUnknownGrant(String unknownId, long lastToken) {
        Id id = new Id(unknownId, Terms.exclusive(1, false), null, context, store.client());
        onEvent(now -> releaseAgain(id, lastToken, now));
    }

    /**
     * Fails all waiters; a hold stays until it is released.
     *
     * @return completes when the store has answered, or could not be asked
     */
    CompletableFuture<?> close() {
        return change(now -> () -> CompletableFuture.allOf(
                ids().filter(id -> !id.isHeld()).map(id -> id.released).toArray(CompletableFuture<?>[]::new)));
    }

    // --- answers ------------------------------------------------------------------------------------------------

    private void send(Verb verb, List<Id> together, boolean enqueues, @Nullable Extension extension, Moment now) {
        Command command = new Command(verb, together, now, store.client().epoch(), enqueues, extension);
        together.forEach(id -> id.sent(command));
        command.sendTo(store, text, late -> onEvent(then -> answered(command, late, null, then)))
                .whenComplete((reply, failure) -> onEvent(
                        then -> answered(command, reply, failure == null ? null : Futures.unwrap(failure), then)));
    }

    /** Handles the answer to a command, or its failure. An answer to a renewal counts even after the failure. */
    private void answered(Command command, @Nullable Reply all, @Nullable Throwable failure, Moment now) {
        for (Id id : command.ids()) {
            boolean awaited = id.underWay == command;
            Reply reply = command.replyFor(id, all);
            if (reply == null && !awaited) {
                continue; // it was given up before
            }
            id.underWay = awaited ? null : id.underWay;
            switch (id == command.next() ? Verb.ACQUIRE : command.verb()) {
                case ACQUIRE -> onAsked(id, command, reply, failure, now);
                case RENEW -> onRenewed(id, command, reply, failure, now);
                case DOWNGRADE -> onDowngraded(id, reply, now);
                case RELEASE -> onReleased(id, command, reply, now);
            }
        }
    }

    private void onAsked(Id id, Command command, @Nullable Reply reply, @Nullable Throwable failure, Moment now) {
        if (reply == null) {
            id.predecessor =
                    command.next() == null ? id.predecessor : command.ids().get(0);
        } else {
            context.answered();
        }
        boolean alive = reply instanceof Reply.Granted || reply instanceof Reply.Queued;
        if (id.life == Life.ENDING) {
            id.mayBeKnown = reply == null || alive;
        } else if (id.life == Life.ENDED && alive) {
            releaseAgain(id, 0, now);
        } else if (reply instanceof Reply.Granted granted) {
            onGranted(id, granted, command, now);
        } else if (id.life == Life.ASKED_FOR && reply != null) { // else a message has granted it: this answer is older
            onNotGranted(id, reply, command, now);
        } else if (id.life == Life.ASKED_FOR) {
            onFailure(id, failure, now);
        }
    }

    private void onGranted(Id id, Reply.Granted reply, Command command, Moment now) {
        if (id.life == Life.ASKED_FOR && id == command.next() && store.client().acknowledges()) {
            id.due = now.nanos(); // only the answer to an acquisition of its own is acknowledged
        } else if (id.life == Life.ASKED_FOR) {
            if (id.hasMissedMessage()) {
                afterwards(engine::verifyChannel); // the grant of a queued id is pushed
            }
            knownTaken = true;
            id.granted(reply.grantNumber(), reply.token(), reply.leaseMillis(), command.sentAt(), now);
            id.othersWait |= reply.waiters() > 0;
        } else if (id.isHeld() && reply.grantNumber() == id.grantNumber) {
            id.prolong(reply.leaseMillis(), command.sentAt());
        } else if (id.isHeld() && reply.grantNumber() > id.grantNumber) {
            lose(id, "its lease ran out and the lock was granted again", true, now);
            id.mustReleaseAgain(reply.grantNumber(), now);
        }
    }

    private void onNotGranted(Id id, Reply reply, Command command, Moment now) {
        id.taken = reply instanceof Reply.Taken taken ? new Id.Taken(taken, now) : id.taken;
        if (reply instanceof Reply.Queued queued) {
            id.queued(queued, command.sentAt(), engine.isNotified(), now);
            id.takeEarlyGrant(now);
            ids().forEach(each -> each.othersWait |= each.isHeld() && queued.position() > 1);
        } else if (reply instanceof Reply.Busy) {
            id.busy(command.enqueues(), now);
        } else if (id.transfer != null) { // another has taken over the hold, or its lease has ended
            line.decideIf(waiter -> true, Waiter.Refused.HELD);
        } else {
            id.due = now.nanos(); // the release that was to queue it came too late for that
            return;
        }
        knownTaken = true;
        if (!id.isHeld()) {
            line.decideLastCalls(refusal(id, now));
        }
    }

    /**
     * The store could not be asked. Waiters that do not wait any longer fail and, if the failures last, also waiters
     * without a limit. After a refusal, the store may know the id all the same: it may have refused a second copy of
     * the command, after the first copy has acquired the lock.
     */
    private void onFailure(Id id, @Nullable Throwable failure, Moment now) {
        id.failed(failure, now.nanos());
        id.askLater(now);
        Failing failing = Objects.requireNonNull(id.failing);
        StoreFailure how = store.client().failureOf(failure);
        boolean unacknowledged = failure instanceof NotAcknowledgedException;
        boolean neverAnswered = unacknowledged || !knownTaken && how != StoreFailure.NOT_NOW;
        boolean lasting = failing.times() >= FAILURES_ENDURED && id.isFailingForLong(now);
        if (neverAnswered) {
            id.mayBeKnown = unacknowledged || how == StoreFailure.UNKNOWN || failing.times() > 1;
        }
        line.decideIf(
                waiter -> neverAnswered
                        || waiter.isLastCall()
                        || lasting && waiter.request().waitsForever(),
                engine.noAnswer(failure));
    }

    private void onRenewed(Id id, Command command, @Nullable Reply reply, @Nullable Throwable failure, Moment now) {
        id.renewal.leave(engine.agenda);
        Extension extension = command.extension();
        if (extension != null) {
            afterwards(() -> Futures.complete(extension.answer(), reply, failure));
        }
        if (id.isHeld() && reply == null && !id.lease().isOver(now.nanos())) {
            id.failed(failure, now.nanos());
            id.renewal.failed(failure instanceof TimeoutException, now.nanos());
            notify(id, UseNotifier::renewalFailed);
        } else if (id.isHeld() && reply == null) {
            lose(id, id.whyRanOut(), false, now); // this failure is no reason for it
            id.mayBeKnown = true;
        } else if (id.isHeld() && reply instanceof Reply.Renewed renewed) {
            id.failing = null;
            id.prolong(renewed.leaseMillis(), command.sentAt());
            id.renewal.answered(command.sentAt());
            id.othersWait |= areOthers(renewed.waiters());
            notify(id, UseNotifier::renewed);
        } else if (id.isHeld()) {
            id.failing = null;
            lose(id, ENDED, true, now);
        } else if (id.life == Life.ENDED && reply instanceof Reply.Renewed) {
            releaseAgain(id, 0, now);
        } else if (id.life == Life.ENDING && id.underWay == null) {
            id.mayBeKnown = reply == null || reply instanceof Reply.Renewed;
            if (!id.mayBeKnown) {
                complete(id, command.outcomeOf(id, reply, store.client(), now)); // it was lost before it was released
            }
        }
    }

    /** Whether other registries are among so many waiters. One waiter for a permit may be the next id of this one. */
    private boolean areOthers(long waiters) {
        Id next = kind == LockKind.LIMITED ? asked() : null;
        return waiters > (next != null && next.mayBeQueued() ? 1 : 0);
    }

    /** Notifies the listeners of all holds of the id, of which each is a use of its own. */
    private void notify(Id id, Consumer<UseNotifier> renewal) {
        List<Hold> its = holds.of(id);
        afterwards(() -> its.forEach(hold -> hold.waiter().report(renewal)));
    }

    private void onDowngraded(Id id, @Nullable Reply reply, Moment now) {
        id.downgradeDue = LeaseTime.NEVER;
        if (id.isHeld() && reply == null) {
            id.repeatDowngrade(now);
        } else if (id.isHeld() && reply == Reply.Plain.NOT_HOLDER) {
            lose(id, ENDED, true, now);
        }
    }

    private void onReleased(Id id, Command command, @Nullable Reply reply, Moment now) {
        complete(id, reply == null ? Release.UNKNOWN : command.outcomeOf(id, reply, store.client(), now));
        boolean mayRepeat = id.repeated || id.keptFor(now.nanos()) > 0 || engine.mayRepeatAnother();
        if (reply != null || context.isClosed() || !mayRepeat) {
            remove(id);
        } else {
            engine.countRepeated(id.repeated ? 0 : 1);
            id.repeatRelease(now);
        }
    }

    /** What depends on it may be code of a user. */
    private void complete(Id id, Release release) {
        afterwards(() -> id.released.complete(release));
    }

    // --- what the facts ask for ---------------------------------------------------------------------------------

    /** May be called at any time. Called again, without an event in between, it does nothing. */
    @Override
    void settle(Moment now) {
        loseWhatRanOut(now);
        takeBackUnusable(now);
        limitPasses(false);
        serve(now);
        limitPasses(false);
        proceed(now);
        boolean someLeft = giveUp(now);
        if (refuseBeyondMaxWaiting(now) || someLeft) {
            proceed(now);
        }
        reportHolds(now);
        makeAppointment(now);
    }

    private void proceed(Moment now) {
        endWhatNobodyNeeds(now);
        askForFirst(now);
        for (Id id : ids) {
            sendWhatIsDue(id, now);
        }
    }

    /** A grant that came too late to be used is lost, too. */
    private void loseWhatRanOut(Moment now) {
        for (Id id : ids) {
            State state = id.isHeld() ? id.lease().at(now) : State.RUNNING;
            if (state == State.OVER || state != State.RUNNING && !id.wasUsed()) {
                lose(id, id.whyRanOut(), false, now);
            }
        }
    }

    /** A hold that its waiter has not claimed is taken back if the lease is not certain, or the caller is gone. */
    private void takeBackUnusable(Moment now) {
        for (Hold hold : holds.present()) {
            boolean late = hold.id().lease().at(now) != State.RUNNING;
            boolean offered = hold.state() == Hold.State.OFFERED;
            if (offered && (late || !hold.waiter().canUseLock()) && hold.takeBack()) {
                holds.remove(hold.id(), List.of(hold));
                tooLate = late ? new GrantedTooLateException(hold.id().whyRanOut()) : tooLate;
                line.putBack(hold.waiter(), engine.noAnswer(tooLate));
            }
        }
    }

    /**
     * Once other registries are known to wait, the lock is passed on only as often as callers wait here now. Ids of
     * permits share that number. Without the channel, no message tells that others wait: then it is the same as soon as
     * a caller waits here.
     *
     * @param begins whether a caller begins to wait
     */
    private void limitPasses(boolean begins) {
        boolean waits = begins || !line.isEmpty();
        for (Id id : ids) {
            if (id.hasNoPassLimit() && (id.othersWait || waits && !engine.isNotified())) {
                List<Id> held = ids().filter(Id::isHeld).toList();
                int passes = kind == LockKind.SHARED ? 0 : Math.min(line.size(), context.localHandoffLimit());
                id.limitPasses((passes + held.indexOf(id)) / held.size());
            }
        }
    }

    private void serve(Moment now) {
        Waiter first = line.dropGone();
        for (Id id = idFor(first, now); first != null && id != null; id = idFor(first, now)) {
            serve(first, id, now);
            first = line.dropGone();
        }
    }

    private @Nullable Id idFor(@Nullable Waiter waiter, Moment now) {
        return waiter == null || context.isClosing()
                ? null
                : firstId(id -> id.canServe(waiter.request().terms(), now));
    }

    private @Nullable Id firstId(Predicate<Id> which) {
        for (Id id : ids) {
            if (which.test(id)) {
                return id;
            }
        }
        return null;
    }

    /** Offers a hold. It is listed before its waiter sees it, because the waiter may claim and release it at once. */
    private void serve(Waiter waiter, Id id, Moment now) {
        Hold hold = new Hold(context, this, id, waiter, now);
        holds.add(hold);
        id.lingersUntil = LeaseTime.NEVER;
        line.decide(waiter, hold);
    }

    private void endWhatNobodyNeeds(Moment now) {
        Waiter first = line.dropGone();
        for (Id id : ids) {
            boolean wanted = first != null && first.request().terms().equals(id.terms);
            boolean idle = id.isHeld() && id.holds == 0;
            boolean lingers = idle && line.isEmpty() && id.linger(now) && !context.isClosing() && engine.isNotified();
            if (idle && !lingers || id.life == Life.ASKED_FOR && !wanted) {
                end(id, true, now);
            }
        }
    }

    /** Asks for one id at most, and for none while another has an exclusive lock and will serve the waiters. */
    private void askForFirst(Moment now) {
        Waiter first = line.dropGone();
        Id asked = asked();
        boolean waits = asked != null
                ? asked.taken != null
                : kind == LockKind.EXCLUSIVE && firstId(id -> id.isHeld() && !id.downgraded) != null;
        if (first == null) {
            tooLate = null;
        } else if (waits) {
            if (isPatient()) {
                openChannel();
            }
        } else if (asked == null && !context.isClosing()) {
            Id id = new Id(engine.nextId(), first.request().terms(), first.transfer(), context, store.client());
            id.due = now.nanos();
            id.failing = tooLate == null ? null : new Failing(tooLate, 1, now.nanos());
            tooLate = null;
            register(id);
            if (id.terms.lingerNanos() > 0) {
                openChannel(); // only with it the lock lingers
            }
        }
    }

    private @Nullable Id asked() {
        return firstId(id -> id.life == Life.ASKED_FOR);
    }

    private void openChannel() {
        if (!engine.channel().isOpened()) {
            afterwards(engine::openChannel);
        }
    }

    private void sendWhatIsDue(Id id, Moment now) {
        if (id.underWay != null) {
            return;
        }
        boolean due = LeaseTime.hasCome(id.due, now.nanos());
        if (id.isHeld()) {
            renewIfDue(id, now);
        } else if (id.life == Life.ASKED_FOR && due) {
            send(Verb.ACQUIRE, List.of(id), id.taken != null || id.failing != null || isPatient(), null, now);
        } else if (id.life == Life.ENDING && !id.mayBeKnown) {
            remove(id);
        } else if (id.life == Life.ENDING && due && !id.awaitsPredecessor()) {
            send(Verb.RELEASE, releasedTogether(id, now), true, null, now);
        }
    }

    /** Whether the first waiter waits longer than for the next answer. */
    private boolean isPatient() {
        Waiter first = line.first();
        return first != null && !first.isLastCall();
    }

    /** {@return what one command releases} In the same step, it queues the next id if that has not been asked for. */
    private List<Id> releasedTogether(Id id, Moment now) {
        Id next = asked();
        boolean plain = id.wasHeld() && !id.repeated && id.leftTo == null && id.keptFor(now.nanos()) <= 0;
        return plain && next != null && !next.mayBeKnown && next.taken == null && next.transfer == null && isPatient()
                ? List.of(id, next)
                : List.of(id);
    }

    private void renewIfDue(Id id, Moment now) {
        Renewal renewal = id.renewal;
        if (id.isExpiredByWallClock(now)) {
            renewal.expiredByWallClock(now.nanos());
        }
        boolean due = id.terms.renew() && LeaseTime.hasCome(renewal.due(now.nanos()), now.nanos());
        if (!id.extensions.isEmpty()) {
            send(Verb.RENEW, List.of(id), false, id.extensions.remove(), now);
        } else if (LeaseTime.hasCome(id.downgradeDue, now.nanos())) {
            send(Verb.DOWNGRADE, List.of(id), false, null, now);
        } else if (due && isNeeded(id, now) && renewal.isExtra(now.nanos())) {
            renewal.join(engine.agenda, place -> onEvent(then -> renewal.take(engine.agenda, place)));
            return;
        } else if (due && isNeeded(id, now)) {
            List<Id> together = renewedTogether(id, now);
            together.forEach(each -> each.renewal.sent(now));
            send(Verb.RENEW, together, false, null, now);
        }
        if (id.underWay == null || !renewal.hasTurn()) {
            renewal.leave(engine.agenda);
        }
    }

    /** All permits are renewed by one command. */
    private List<Id> renewedTogether(Id due, Moment now) {
        Predicate<Id> joins = id -> id.isHeld()
                && id.underWay == null
                && id.terms.renew()
                && id.renewal.mayJoin(now.nanos())
                && isNeeded(id, now);
        return kind != LockKind.LIMITED
                ? List.of(due)
                : ids().filter(id -> id == due || joins.test(id)).toList();
    }

    /** Whether the lease lingers, or a caller uses it. A caller that has held the lock for too long does not count. */
    private boolean isNeeded(Id id, Moment now) {
        boolean anyInUse = id.holds == 0;
        for (Hold hold : holds.of(id)) {
            anyInUse |= !hold.isHeldTooLong(now)
                    && !hold.isRenewalStopped()
                    && hold.waiter().canUseLock();
        }
        return anyInUse && !context.isClosed();
    }

    /**
     * Decides the waiters that do not wait any longer, unless an answer is under way for which they still wait.
     *
     * <pre>
     *   under way   known to be taken   failing   tries once, or cancelled   its time is over
     *   ---------   -----------------   -------   ------------------------   --------------------------------------
     *   no                                        leaves                     leaves
     *   yes         no                            waits                      waits, at most two command timeouts
     *   yes         yes                 yes       waits                      leaves
     *   yes         yes                 no        leaves                     leaves
     * </pre>
     *
     * A waiter that leaves is refused if the lock is known to be taken, and no command fails; otherwise its wait fails.
     *
     * @return whether one has left
     */
    private boolean giveUp(Moment now) {
        if (context.isClosing()) {
            return line.decideIf(waiter -> true, new Waiter.Failure(LockEngine.CLOSING, null, false));
        }
        Id asked = asked();
        if (!line.hasLastCalls()) {
            return false;
        } else if (asked == null) {
            return line.giveUp(waiter -> false, refusal(null, now));
        }
        Failing failing = asked.failing;
        boolean known = isKnownToBeTaken(asked);
        Predicate<Waiter> awaitsAnswer =
                waiter -> waiter.isOverdue() ? !known && !waiter.isLongOverdue(now) : !known || failing != null;
        Throwable failure = failing != null ? failing.last() : store.client().whyUnanswered();
        return line.giveUp(
                waiter -> asked.underWay != null && awaitsAnswer.test(waiter),
                known && failing == null ? refusal(asked, now) : engine.noAnswer(failure));
    }

    /** Whether it is known that the waiters have to wait. */
    private boolean isKnownToBeTaken(Id asked) {
        return kind == LockKind.EXCLUSIVE && asked.transfer == null
                ? knownTaken
                : asked.taken != null && asked.failing == null;
    }

    /** Names the holder by the newest answer of the store, or else a hold of this registry. */
    private Waiter.Refused refusal(@Nullable Id asked, Moment now) {
        Waiter.Refused byStore = asked == null ? null : asked.refusal(now);
        if (byStore != null) {
            return byStore;
        }
        for (Hold hold : holds.present()) {
            return new Waiter.Refused(0, hold.acquisitionId(), hold.id().lease().left(now.nanos()));
        }
        return Waiter.Refused.HELD;
    }

    /**
     * Refuses callers that have as many waiters before them as they allow. While an answer is under way that may serve
     * them, they may not have to wait at all: the answer decides it. {@return whether one has left}
     */
    private boolean refuseBeyondMaxWaiting(Moment now) {
        Id asked = asked();
        boolean answerComes = asked != null && asked.underWay != null && !isKnownToBeTaken(asked);
        return !answerComes && line.refuseBeyondMaxWaiting(() -> refusal(asked, now));
    }

    private void reportHolds(Moment now) {
        for (Hold hold : holds.present()) {
            if (hold.id().terms.renew() && hold.isHeldTooLong(now) && hold.markStuck()) {
                afterwards(hold::reportStuck);
            }
            if (hold.watched && keepsOthersWaiting(hold)) {
                afterwards(hold::reportOthersWait);
            }
        }
    }

    private void makeAppointment(Moment now) {
        long next = LeaseTime.NEVER;
        for (Id id : ids) {
            next = LeaseTime.earlier(next, id.next(now.nanos()));
        }
        for (Hold hold : holds.present()) {
            next = hold.id().terms.renew() ? LeaseTime.earlier(next, hold.stuckAt(now)) : next;
        }
        if (next != LeaseTime.NEVER) {
            appointment = engine.agenda.appoint(this, appointment, next);
        } else if (ids.length == 0 && line.isEmpty()) {
            engine.agenda.cancel(appointment);
            appointment = null;
            retired = true;
            engine.retire(kind, this);
        }
    }

    // --- losses and ends ----------------------------------------------------------------------------------------

    /**
     * Ends an id whose lease is over although it was not released. A hold that was not claimed is no loss: its waiter
     * is the first again.
     *
     * @param gone whether the store no longer has it, or the caller releases it, so that no release is to be sent
     */
    private void lose(Id id, String reason, boolean gone, Moment now) {
        if (id.life != Life.ASKED_FOR && !id.isHeld()) {
            return;
        }
        boolean lost = false;
        boolean offered = id.isHeld() && !id.wasUsed();
        Waiter.Failure late = engine.noAnswer(new GrantedTooLateException(reason));
        List<Hold> newestFirst = new ArrayList<>(holds.of(id));
        Collections.reverse(newestFirst);
        for (Hold hold : newestFirst) {
            if (hold.takeBack()) {
                offered = true;
                line.putBack(hold.waiter(), late);
            } else if (hold.lose(reason)) {
                lost = true;
                afterwards(hold::reportLoss);
            }
        }
        if (offered) {
            tooLate = late.cause();
            line.decideLastCalls(late);
        }
        Throwable failure = id.isHeld() && id.failing != null ? id.failing.last() : null;
        boolean unknown = failure != null && store.client().failureOf(failure) == StoreFailure.UNKNOWN;
        end(id, unknown || !gone && !lost, now);
        holds.remove(id, newestFirst);
    }

    private void end(Id id, boolean known, Moment now) {
        id.renewal.leave(engine.agenda);
        if (id.wasHeld()) {
            engine.noteToken(id.lastToken());
        }
        id.end(known, now);
    }

    private void register(Id id) {
        Id[] more = Arrays.copyOf(ids, ids.length + 1);
        more[ids.length] = id;
        ids = more;
        engine.register(id.text, this);
    }

    private void releaseAgain(Id id, long lastToken, Moment now) {
        id.mustReleaseAgain(lastToken, now);
        register(id);
    }

    private void remove(Id id) {
        id.life = Life.ENDED;
        ids = ids().filter(each -> each != id).toArray(Id[]::new);
        engine.deregister(id.text, this);
        engine.countRepeated(id.repeated ? -1 : 0);
        id.repeated = false;
        id.extensions.forEach(each -> afterwards(() -> each.answer().complete(Reply.Plain.NOT_HOLDER)));
        id.extensions.clear();
        complete(id, Release.RELEASED);
    }

    /** Something was thrown in the middle of a change. What may be half done is put in order; the facts stay. */
    @Override
    void heal() {
        for (Hold hold : List.copyOf(holds.present())) {
            if (hold.state() == Hold.State.TAKEN_BACK && hold.waiter().outcome() == hold) {
                line.putBack(hold.waiter(), engine.noAnswer(new GrantedTooLateException(Id.RAN_OUT)));
            } else if (hold.state() == Hold.State.LOST) {
                afterwards(hold::reportLoss);
            }
        }
        holds.heal(ids);
        line.heal();
        engine.agenda.cancel(appointment);
        appointment = null;
    }
}
