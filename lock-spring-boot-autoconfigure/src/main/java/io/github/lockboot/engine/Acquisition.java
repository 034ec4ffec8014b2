package io.github.lockboot.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.github.lockboot.engine.Grant.Moment;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockStore.Permit;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import org.jspecify.annotations.Nullable;

/**
 * The life of one acquisition id in Redis. All waiters of this JVM for one name queue in Redis under one id.
 *
 * <pre>
 *   asked for by ask, or by the      OWNER, or              unlock,
 *   unlock of its predecessor        a pushed grant         drop, abandon           answered, failed
 *   ─────────────────────▶ WAITING ───────────────▶ OWNED ──────────────────▶ ENDING ────────────────▶ ENDED
 *                             │             leave, drop, abandon                ▲
 *                             └─────────────────────────────────────────────────┘
 * </pre>
 *
 * <ul>
 *   <li>WAITING: Redis may have the id in its queue, and may have granted it the lock. At most one question is under way; if none is,
 *       the next is scheduled. A pushed grant is a hint that may be lost, so it asks again every poll interval.
 *       If leases have to be acknowledged, it is no more than a hint.
 *   <li>OWNED: Redis has given the lock to the id. The grant knows until when that is certain, and the renewer renews it. It has one
 *       hold after the other, or it lingers: it has no hold and is kept for a while, for a caller that comes back.
 *   <li>ENDING: the id never asks again. The command that has Redis forget it is under way; it gives away what was granted. Drop sends
 *       none.
 *   <li>ENDED: if the command failed, or something was thrown before, it is repeated elsewhere until Redis answers. A question or a
 *       renewal may still be under way, and may run in Redis after the end. If its answer shows the id alive, the id is ended once more.
 *       It is forgotten here when no question is under way any more.
 * </ul>
 *
 * <p>In words: ask; if queued, wait for a push or the next poll; if granted, tell the queue, which serves its waiters one after
 * another under this grant; linger, if the terms say so, until its time is over or another JVM waits; then end. An id is used
 * once. Methods are called with the mutex of the queue held, unless they say otherwise, and none blocks.
 */
final class Acquisition {

    private enum State {
        WAITING,
        OWNED,
        ENDING,
        ENDED
    }

    /** The question under way. */
    private enum Question {
        NONE,
        ASKED,
        /** To be asked again as soon as it is answered. */
        ASKED_AND_AGAIN
    }

    /** What an answer says of the id that comes after the end was sent. None comes, or it is not alive; it is; or it may be. */
    private enum LateAnswer {
        NONE,
        ALIVE,
        UNKNOWN
    }

    /** What a question that failed means for the waiters. */
    enum Outage {
        NEVER_ANSWERED,
        BRIEF,
        LASTING
    }

    /** A place in the queue in Redis, by the newest answer: when that was asked for, and the newest token at the time. */
    private record Place(Moment askedAt, long newestToken) {}

    /** Questions that failed, one after the other. */
    private record Failing(@Nullable Throwable last, int times, long since) {}

    private static final String RAN_OUT = "its lease ran out";

    /** A wait without limit fails only after so many failures in a row: one or two may come from a pause of this process. */
    private static final int FAILURES_ENDURED = 3;

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    final String id;
    final Terms terms;
    private final LocalQueue queue;
    private final Acquisitions acquisitions;
    private final EngineContext context;
    private final LockStore store;
    private final Renewer.Slot renewal = new Renewer.Slot(this);

    private State state = State.WAITING;
    private Question question = Question.NONE;
    private @Nullable PollSchedule schedule;

    /** Whether Redis may know the id. */
    private boolean mayBeKnown;

    private boolean answered;
    private @Nullable Failing failing;
    private @Nullable Place place;

    /** Whether the newest answer is that the lock is taken. */
    private boolean refused;

    private @Nullable Push earlyPush;
    private boolean pushed;

    /** Whether a hint overtook the answer or the message that grants the lock. */
    private boolean hinted;

    private @Nullable Grant grant;
    private boolean downgraded;

    /** Why the newest renewal failed, if it did before the lease ran out: after a pause of this process it fails later. */
    private @Nullable Throwable renewalFailure;

    /** Whether it ended without a command, because Redis had given the lock, or the place in the queue, to another. */
    private boolean dropped;

    private LateAnswer lateAnswer = LateAnswer.NONE;

    /** Done when the unlock that queued this id has been answered, or has been settled. */
    private CompletableFuture<Void> predecessorSettled = DONE;

    /** @param answered whether the waiters have had an answer of Redis, under an earlier id: then they endure failures */
    Acquisition(Acquisitions acquisitions, LocalQueue queue, Terms terms, boolean answered) {
        this.acquisitions = acquisitions;
        this.context = acquisitions.context();
        this.store = acquisitions.store();
        this.queue = queue;
        this.terms = terms;
        this.answered = answered;
        this.id = acquisitions.nextId();
        acquisitions.register(this);
    }

    void onEvent(Runnable action) {
        queue.onEvent(action);
    }

    // --- waiting: questions and answers -----------------------------------------------------------------------

    /** The one before it ended with this failure: it is unknown whether another has the lock. */
    void failedBefore(Throwable failure) {
        failing = new Failing(failure, 1, context.nanoTime());
    }

    /** Asks Redis for the lock; {@code enqueue} to be queued if it is not free. */
    void ask(boolean enqueue) {
        cancelPoll();
        onAsked();
        Moment sentAt = context.now();
        store.acquire(queue.name(), id, terms.permits(), terms.ttlMillis(), enqueue)
                .whenComplete((reply, failure) -> onEvent(() -> onAnswer(reply, failure, sentAt, enqueue)));
    }

    private void onAsked() {
        question = Question.ASKED;
        mayBeKnown = true;
    }

    /** Asks again now, or as soon as the question under way is answered. */
    void askSoon() {
        if (state == State.WAITING && question != Question.NONE) {
            question = Question.ASKED_AND_AGAIN;
        } else if (state == State.WAITING) {
            ask(true);
        }
    }

    private PollSchedule polls() {
        if (schedule == null) {
            schedule = new PollSchedule(context, context.pollInterval(terms), () -> onEvent(this::askSoon));
        }
        return schedule;
    }

    private void cancelPoll() {
        if (schedule != null) {
            schedule.cancel();
        }
    }

    boolean isAsking() {
        return question != Question.NONE;
    }

    /** Whether the waiters have had an answer of Redis. */
    boolean isAnswered() {
        return answered;
    }

    /** Whether it has the lock, or another had when Redis was asked last. */
    boolean isTaken() {
        return state == State.OWNED || answered && failing == null;
    }

    /** Whether Redis refused it when that was asked last. */
    boolean isRefused() {
        return refused && failing == null;
    }

    /** Why the last question failed, or has no answer yet. */
    @Nullable
    Throwable lastFailure() {
        return failing == null ? store.client().whyUnanswered() : failing.last;
    }

    private void onAnswer(@Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, boolean enqueued) {
        boolean again = question == Question.ASKED_AND_AGAIN;
        question = Question.NONE;
        if (hasEnded()) {
            onLateAnswer(reply);
        } else if (reply instanceof Reply.Owner granted) {
            onOwner(granted, sentAt);
        } else if (state == State.OWNED) {
            return; // granted by a push in the meantime: this answer is older, or none
        } else if (reply instanceof Reply.Queued queued) {
            onQueued(queued, sentAt, again);
        } else if (reply instanceof Reply.Busy) {
            onBusy(enqueued);
        } else if (reply == Reply.Plain.NOT_OWNER) {
            ask(true); // the unlock that was to queue this id came too late for that
        } else {
            onFailure(failure == null ? null : Futures.unwrap(failure));
        }
    }

    private void onOwner(Reply.Owner answer, Moment sentAt) {
        Grant known = grant;
        if (known == null) {
            if (place != null && !pushed) {
                acquisitions.verifyChannel(); // the grant of a queued id is pushed
            }
            own(
                    new Grant(terms, answer.fence(), answer.token(), answer.leaseMillis(), sentAt, false),
                    answer.waiters());
        } else if (answer.fence() == known.fence()) {
            known.prolong(answer.leaseMillis(), sentAt);
        } else if (answer.fence() > known.fence()) { // else the answer is older than the push that granted it
            queue.lost(this, "its lease ran out and the lock was granted again");
            acquisitions.settleUnlock(queue.name(), id, answer.fence());
        }
    }

    private void onQueued(Reply.Queued queued, Moment sentAt, boolean again) {
        onAnswered();
        refused = true;
        place = new Place(sentAt, queued.fence());
        Push early = earlyPush;
        earlyPush = null;
        if (early != null) {
            onPush(early);
        }
        if (state == State.WAITING && queue.refused(this) && !isAsking()) {
            if (again) {
                ask(true);
            } else {
                polls().inQueue(queued, acquisitions.isNotified());
            }
        }
    }

    /** No push will come: the id is not queued. */
    private void onBusy(boolean enqueued) {
        onAnswered();
        refused = true;
        mayBeKnown &= enqueued;
        if (queue.refused(this)) {
            if (enqueued) {
                polls().unaided();
            } else {
                ask(true);
            }
        }
    }

    /** A refusal is no reason to forget the id: it may have answered a second copy, of which the first took the lock. */
    private void onFailure(@Nullable Throwable failure) {
        long now = context.nanoTime();
        Failing before = failing;
        Failing current =
                new Failing(failure, before == null ? 1 : before.times + 1, before == null ? now : before.since);
        failing = current;
        StoreFailure kind = store.client().failureOf(failure);
        boolean unacknowledged = failure instanceof StoreFailure.NotAcknowledgedException;
        boolean neverAnswered = unacknowledged || !answered && kind != StoreFailure.NOT_NOW;
        boolean lasting = current.times >= FAILURES_ENDURED
                && now - current.since >= TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
        if (neverAnswered) {
            mayBeKnown = unacknowledged || kind == StoreFailure.UNKNOWN || before != null;
        }
        Outage outage = neverAnswered ? Outage.NEVER_ANSWERED : lasting ? Outage.LASTING : Outage.BRIEF;
        if (queue.failed(this, failure, outage)) {
            polls().unaided();
        }
    }

    private void onAnswered() {
        answered = true;
        failing = null;
    }

    // --- waiting: pushes --------------------------------------------------------------------------------------

    /** Called without the mutex. */
    void receive(Push push) {
        onEvent(() -> onPush(push));
    }

    /** Called without the mutex, when messages may have been missed. */
    void mayHaveMissedPush() {
        onEvent(this::askSoon);
    }

    private void onPush(Push push) {
        if (!queue.name().equals(store.nameOf(push.key())) || push.leaseMillis() > terms.ttlMillis()) {
            return; // no script of ours wrote it
        }
        pushed = true;
        if (state == State.OWNED && push.isHint()) {
            queue.othersWait(this);
        } else if (state == State.WAITING && push.isHint()) {
            hinted = true;
            askSoon(); // the lock is ours already, and its grant is on its way or was missed; or it becomes free
            // earlier
        } else if (state == State.WAITING) {
            onGrantPushed(push);
        }
    }

    private void onGrantPushed(Push push) {
        Place known = place;
        if (known == null) {
            earlyPush = push; // it overtook the QUEUED answer, which shows whether it is new
        } else if (push.fence() > known.newestToken) {
            long lease = TimeUnit.MILLISECONDS.toNanos(push.leaseMillis());
            long left = known.askedAt.deadline(push.leaseMillis()) - context.nanoTime();
            boolean mayCount = terms.renew() && !store.client().acknowledges();
            if (mayCount && left >= lease / 3) {
                own(
                        new Grant(terms, push.fence(), push.token(), push.leaseMillis(), known.askedAt, true),
                        push.waiters());
            } else {
                askSoon();
            }
        }
    }

    // --- owning -----------------------------------------------------------------------------------------------

    private void own(Grant granted, long othersWaiting) {
        cancelPoll();
        onAnswered();
        grant = granted;
        state = State.OWNED;
        queue.owned(this, hinted || othersWaiting > 0);
    }

    boolean isOwned() {
        return state == State.OWNED;
    }

    Grant grant() {
        if (grant == null) {
            throw new IllegalStateException(id + " has not been granted");
        }
        return grant;
    }

    Renewer.Slot renewal() {
        return renewal;
    }

    boolean shouldRenew() {
        return state == State.OWNED && queue.shouldRenew(this);
    }

    void ranOut() {
        if (state == State.OWNED) {
            queue.lost(this, whyRanOut());
        }
    }

    String whyRanOut() {
        return renewalFailure == null
                ? RAN_OUT
                : RAN_OUT + ", and its renewal failed: " + Failures.reasonOf(renewalFailure);
    }

    /** {@return what is renewed by the command that renews this lease} */
    List<Acquisition> renewedTogether() {
        return queue.renewedTogether(this);
    }

    /** Sends one renewal for all that are renewed together. Called without the mutex. */
    static void renew(List<Acquisition> together) {
        Acquisition first = together.get(0);
        if (first.terms.isLimited()) {
            renewPermits(first, together);
        } else {
            Moment sentAt = first.renewal.askedAt();
            first.store
                    .renew(
                            first.queue.name(),
                            first.id,
                            first.grant().fence(),
                            first.terms.ttlMillis(),
                            late -> first.onRenewal(late, null, sentAt))
                    .whenComplete((reply, failure) -> first.onRenewal(reply, failure, sentAt));
        }
    }

    private static void renewPermits(Acquisition first, List<Acquisition> together) {
        Moment sentAt = first.renewal.askedAt();
        List<Permit> permits = together.stream()
                .map(each -> new Permit(each.id, each.grant().fence(), each.terms.ttlMillis()))
                .toList();
        first.store
                .renewPermits(first.queue.name(), permits, late -> onRenewal(together, late, null, sentAt))
                .whenComplete((reply, failure) -> onRenewal(together, reply, failure, sentAt));
    }

    private static void onRenewal(
            List<Acquisition> together, @Nullable Reply reply, @Nullable Throwable failure, Moment sentAt) {
        List<Reply> replies = reply instanceof Reply.All all ? all.replies() : List.of();
        for (int i = 0; i < together.size(); i++) {
            together.get(i).onRenewal(i < replies.size() ? replies.get(i) : null, failure, sentAt);
        }
    }

    /** Called without the mutex. */
    private void onRenewal(@Nullable Reply reply, @Nullable Throwable failure, Moment sentAt) {
        onEvent(() -> onRenewed(reply, failure, sentAt));
    }

    private void onRenewed(@Nullable Reply reply, @Nullable Throwable failure, Moment sentAt) {
        if (state == State.OWNED && reply instanceof Reply.Renewed renewed) {
            renewalFailure = null;
            grant().prolong(renewed.leaseMillis(), sentAt);
            acquisitions.renewer().renewed(renewal, sentAt);
            queue.renewed(this, true);
            if (renewed.waiters() > 0) {
                queue.othersWait(this);
            }
        } else if (state == State.OWNED && reply == Reply.Plain.NOT_OWNER) {
            loseIfNotOwner(reply);
        } else if (hasEnded()) {
            onLateRenewal(reply);
        } else if (reply == null) {
            boolean inTime = state == State.OWNED && !grant().isOver(context.nanoTime());
            renewalFailure = inTime ? failure : renewalFailure;
            acquisitions.renewer().failed(renewal, sentAt, isSilence(failure));
            queue.renewed(this, false);
        }
    }

    /** Whether Redis may still answer. */
    private static boolean isSilence(@Nullable Throwable failure) {
        return failure != null && Futures.unwrap(failure) instanceof TimeoutException;
    }

    /** Whether it may be held for readers only. */
    boolean isDowngraded() {
        return downgraded;
    }

    /** Makes a shared hold of an exclusive one. Repeated until Redis has answered. */
    void downgrade() {
        downgraded = true;
        String name = queue.name();
        long fence = grant().fence();
        long lastToken = grant().lastToken();
        acquisitions.untilAnswered(() -> store.downgrade(name, id, fence, lastToken)
                .whenComplete((reply, failure) -> onEvent(() -> loseIfNotOwner(reply))));
    }

    private void loseIfNotOwner(@Nullable Reply reply) {
        if (state == State.OWNED && reply == Reply.Plain.NOT_OWNER) {
            queue.lost(this, "it had already ended when it was renewed");
        }
    }

    /** The store is about to give the lock, or the place in the queue, to another. Called without the mutex. */
    void revoke(String reason) {
        onEvent(() -> queue.lost(this, reason));
    }

    // --- ending -----------------------------------------------------------------------------------------------

    private boolean hasEnded() {
        return state == State.ENDING || state == State.ENDED;
    }

    /**
     * Gives the lock back, or leaves it taken for the time that a holder has asked for. With a next id queues that one, in the same step
     * if the lock is given back.
     */
    CompletableFuture<Hold.Release> unlock(@Nullable Acquisition next) {
        long token = grant().lastToken();
        boolean kept = grant().keptFor(context.nanoTime()) > 0;
        end();
        if (next == null || kept) {
            CompletableFuture<Hold.Release> answered = send(this::giveBack, null);
            if (next != null) {
                next.ask(true);
            }
            return answered;
        }
        next.onAsked();
        return send(
                () -> store.unlock(queue.name(), id, token, next.id, next.terms.permits(), next.terms.ttlMillis()),
                next);
    }

    private CompletableFuture<Reply> giveBack() {
        long kept = grant().keptFor(context.nanoTime());
        return kept > 0
                ? store.keep(queue.name(), id, grant().fence(), TimeUnit.NANOSECONDS.toMillis(kept) + 1)
                : store.unlock(queue.name(), id, grant().lastToken());
    }

    /** The unlock that was to queue this id is answered. */
    private void onPredecessorUnlocked(
            @Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, CompletableFuture<Void> settled) {
        predecessorSettled = settled;
        if (state == State.WAITING
                && reply instanceof Reply.Owner
                && store.client().acknowledges()) {
            ask(true); // only an answer to a question is acknowledged
        } else {
            onAnswer(reply, failure, sentAt, true);
        }
    }

    /**
     * Leaves the queue in Redis, for no waiter is left. A lock granted by then is given away.
     *
     * @return completes when Redis has answered or the command has failed
     */
    CompletableFuture<?> leave() {
        if (!mayBeKnown) {
            drop();
            return DONE;
        }
        end();
        if (!predecessorSettled.isDone()) {
            predecessorSettled.thenRun(
                    this::settle); // a copy of the predecessor's unlock that runs later queues this id again
        }
        return send(() -> store.cancel(queue.name(), id), null);
    }

    /**
     * Ends without a command: Redis does not know the id, or has given the lock, or the place in the queue, to another. If it
     * is unknown whether a renewal has run, Redis may have prolonged the lease, and is asked to forget the id.
     */
    void drop() {
        end();
        dropped = true;
        if (renewalFailure != null && store.client().failureOf(renewalFailure) == StoreFailure.UNKNOWN) {
            settle();
        }
        onEnded(false);
    }

    /** Ends in whatever state it is: Redis is asked to forget the id until it answers. */
    void abandon() {
        end();
        predecessorSettled.thenRun(this::settle);
        onEnded(false);
    }

    private void end() {
        state = State.ENDING;
        cancelPoll();
        if (grant != null) {
            acquisitions.noteToken(grant.lastToken());
        }
    }

    private CompletableFuture<Hold.Release> send(Supplier<CompletableFuture<Reply>> end, @Nullable Acquisition next) {
        Moment sentAt = context.now();
        long epoch = store.client().epoch();
        return end.get().handle((reply, failure) -> {
            CompletableFuture<Void> settled = reply == null ? settle() : DONE;
            onEvent(() -> {
                onEnded(reply == Reply.Plain.NOT_OWNER || reply == Reply.Plain.UNKNOWN);
                if (next != null) {
                    next.onPredecessorUnlocked(reply, failure, sentAt, settled);
                }
            });
            return reply == null ? Hold.Release.UNKNOWN : releaseOf(reply, epoch, sentAt);
        });
    }

    /**
     * NOT_OWNER to a command that may have been sent twice answers our own second copy; after the deadline, by either clock, it may
     * only tell that the command came late, unless the lease was in doubt already when the command was sent.
     */
    private Hold.Release releaseOf(Reply reply, long epochSentIn, Moment sentAt) {
        boolean lost = reply == Reply.Plain.NOT_OWNER
                && grant != null
                && !store.client().mayHaveRepeatedSince(epochSentIn)
                && !grant.isOver(context.nanoTime())
                && (grant.isInDoubt(sentAt.wallMillis()) || !grant.isInDoubt(context.wallMillis()));
        return lost ? Hold.Release.LOST : Hold.Release.RELEASED;
    }

    /** In Redis, the question and the end may have run in either order, or the question not yet. */
    private void onLateAnswer(@Nullable Reply reply) {
        boolean alive = reply instanceof Reply.Owner || reply instanceof Reply.Queued;
        lateAnswer = reply == null ? LateAnswer.UNKNOWN : alive ? LateAnswer.ALIVE : LateAnswer.NONE;
        if (state == State.ENDED) {
            onEnded(true);
        }
    }

    /** Redis may have prolonged a lease that has ended here. */
    private void onLateRenewal(@Nullable Reply reply) {
        if (state == State.ENDED && (reply instanceof Reply.Renewed || reply == null && dropped)) {
            settle();
        }
    }

    /** @param unknownId whether Redis did not know the id, so that what a late answer showed came to life after the end */
    private void onEnded(boolean unknownId) {
        state = State.ENDED;
        if (lateAnswer == LateAnswer.UNKNOWN) {
            predecessorSettled.thenRun(this::settle); // not before: the end may have been sent with a next id
        } else if (lateAnswer == LateAnswer.ALIVE && unknownId) {
            settle();
        }
        if (!isAsking()) {
            acquisitions.deregister(this);
        }
    }

    /** Ends the id again until the store answers: as it was given back if it was granted, else by cancel. */
    private CompletableFuture<Void> settle() {
        return acquisitions.settle(grant != null ? this::giveBack : () -> store.cancel(queue.name(), id));
    }

    // --- time of day ------------------------------------------------------------------------------------------

    /** Called once a second, without the mutex. */
    void checkTimeOfDay(long wallMillis) {
        if (state == State.OWNED && grant().isInDoubt(wallMillis)) {
            onEvent(() -> acquisitions.renewer().ranOutByTimeOfDay(renewal));
        }
    }
}
