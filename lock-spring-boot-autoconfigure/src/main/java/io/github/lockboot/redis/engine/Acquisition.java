package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.redis.engine.LockRequest.Terms;
import io.github.lockboot.redis.protocol.GrantChannel.Push;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The life of one acquisition id in Redis. All waiters of this JVM for one name queue in Redis under one id.
 *
 * <pre>
 *   asked for by ask, or by the      OWNER, KEPT, or        unlock, complete,
 *   unlock of its predecessor        a pushed grant         drop, abandon
 *   ─────────────────────▶ WAITING ───────────────▶ OWNED ──────────────────▶ ENDED
 *                             │             leave, drop, abandon                ▲
 *                             └─────────────────────────────────────────────────┘
 * </pre>
 *
 * <ul>
 *   <li>WAITING: Redis may have the id in its queue, and may have granted it the lock. At most one question is under way; if none is,
 *       the next is scheduled. A pushed grant is a hint that may be lost, so it asks again every poll interval.
 *   <li>OWNED: Redis has given the lock to the id. The grant tells until when that is certain, and the renewer keeps it so.
 *   <li>ENDED: the id never asks again. Its {@link Termination} sees to it that Redis forgets it, also if an answer that was under way
 *       shows it alive.
 * </ul>
 *
 * <p>In words: ask; if queued, wait for a push or the next poll; if granted, tell the queue, which serves its waiters one after another
 * under this grant; then end. An id is used once. Methods are called with the mutex of the queue held, and none blocks.
 */
final class Acquisition implements Renewer.Renewable {

    private enum State {
        WAITING,
        OWNED,
        ENDED
    }

    /** The question under way. */
    private enum Question {
        NONE,
        ASKED,
        /** To be asked again as soon as it is answered. */
        ASKED_AND_AGAIN
    }

    /** The queue of waiters that the id stands for. */
    interface Owner {

        String name();

        /** Does it under the mutex, because something happened. */
        void onEvent(Runnable action);

        void owned(Acquisition acquisition, Grant grant, long othersWaiting);

        void othersWait();

        /** @return whether somebody waits on, although another has the lock */
        boolean stillWanted(Acquisition acquisition);

        /** Redis could not be asked, and no waiter has ever had an answer. */
        void unavailable(@Nullable Throwable failure);

        /** @return whether somebody waits on, although Redis could not be asked this time */
        boolean endures(Acquisition acquisition, @Nullable Throwable failure, boolean lasting);

        /** The lease is over although it was not given back. */
        void lost(Acquisition acquisition, String reason);

        /** @return whether to renew the lease, which is due */
        boolean renewalDue(Acquisition acquisition);

        void renewed(Acquisition acquisition, boolean successfully);

        /** Whether the hold is kept, although its work is done, until after this time. */
        boolean isKeptBeyond(long nanoTime);

        /** Its lease should be renewed, and is not. */
        void keepRenewed(Acquisition acquisition);
    }

    /** A place in the queue in Redis, by the newest answer: when that was asked for, and the newest token at the time. */
    private record Place(Moment askedAt, long newestToken) {}

    /** Questions that failed, one after the other. */
    private record Failing(@Nullable Throwable last, int times, long since) {}

    static final String RAN_OUT = "its lease ran out";

    /** Fewer failures in a row end no wait without limit: this process may have paused. */
    private static final int FAILURES_ENDURED = 3;

    private static final int LOOKS_ENDURED = 2;

    private static final CompletableFuture<Void> SETTLED = CompletableFuture.completedFuture(null);

    final String id;
    final Terms terms;
    private final Owner owner;
    private final Acquisitions acquisitions;
    private final EngineContext context;
    private final boolean answeredBefore;
    private final Renewer.Slot renewal = new Renewer.Slot(this);

    private State state = State.WAITING;
    private Question question = Question.NONE;

    /** Once it has to wait. */
    private @Nullable PollSchedule schedule;

    /** Whether Redis may know the id. */
    private boolean mayBeKnown;

    private boolean heard;
    private @Nullable Failing failing;
    private @Nullable Place place;
    private @Nullable Push earlyPush;
    private boolean pushed;

    /** Null until the lock has been granted. */
    private @Nullable Grant grant;

    private @Nullable Termination termination;

    /** Done when the unlock that queued this id has been answered, or has been settled. */
    private CompletableFuture<Void> predecessorSettled = SETTLED;

    /** When something has to have happened: an answer, a poll. */
    private long overdueAt;

    private int looks;

    /**
     * @param answeredBefore whether those who wait have had an answer from Redis already, under an id before this one: then they
     *     endure failures
     */
    Acquisition(Acquisitions acquisitions, Owner owner, Terms terms, boolean answeredBefore) {
        this.acquisitions = acquisitions;
        this.context = acquisitions.context();
        this.owner = owner;
        this.terms = terms;
        this.answeredBefore = answeredBefore;
        this.id = acquisitions.nextId();
        acquisitions.register(this);
    }

    // --- waiting: questions and answers -----------------------------------------------------------------------

    /** Asks Redis for the lock; {@code enqueue} to be queued if it is not free. */
    void ask(boolean enqueue) {
        cancelPoll();
        asked();
        Moment sentAt = context.now();
        acquisitions
                .store()
                .acquire(owner.name(), id, terms.ttlMillis(), enqueue)
                .whenComplete((reply, failure) -> owner.onEvent(() -> onAnswer(reply, failure, sentAt, enqueue)));
    }

    private PollSchedule polls() {
        PollSchedule known = schedule;
        if (known == null) {
            known = new PollSchedule(context, context.pollInterval(terms), () -> owner.onEvent(this::askSoon));
            schedule = known;
        }
        return known;
    }

    private void cancelPoll() {
        if (schedule != null) {
            schedule.cancel();
        }
    }

    private void asked() {
        question = Question.ASKED;
        mayBeKnown = true;
        expectAnswer();
    }

    /** Asks again now, or as soon as the question under way is answered. */
    void askSoon() {
        if (state == State.WAITING && isAsking()) {
            question = Question.ASKED_AND_AGAIN;
        } else if (state == State.WAITING) {
            ask(true);
        }
    }

    boolean isAsking() {
        return question != Question.NONE;
    }

    /** Whether those who wait have had an answer from Redis. */
    boolean isAnswered() {
        return heard || answeredBefore;
    }

    /** Whether another had the lock when Redis was asked last, under this id. */
    boolean isHeldElsewhere() {
        return state == State.WAITING && heard && failing == null;
    }

    /** Whether the last question failed. */
    boolean isFailing() {
        return failing != null;
    }

    /** Why the last question failed, if it did. */
    @Nullable
    Throwable lastFailure() {
        return failing == null ? null : failing.last;
    }

    private void onAnswer(@Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, boolean enqueued) {
        boolean again = question == Question.ASKED_AND_AGAIN;
        question = Question.NONE;
        if (termination != null) {
            termination.onLateAnswer(reply, predecessorSettled);
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
            onFailedQuestion(failure == null ? null : Futures.unwrap(failure));
        }
    }

    private void onOwner(Reply.Owner answer, Moment sentAt) {
        Grant known = grant;
        if (known == null) {
            if (place != null && !pushed) {
                acquisitions.verifyChannel(); // the grant of one who is queued is told
            }
            own(new Grant(answer.fence(), answer.leaseMillis(), sentAt, false), answer.waiters());
        } else if (answer.fence() == known.token()) {
            known.prolong(answer.leaseMillis(), sentAt);
        } else if (answer.fence() > known.token()) { // else the answer is older than the push that granted it
            owner.lost(this, "its lease ran out and the lock was granted again");
            acquisitions.settler().unlock(owner.name(), id, answer.fence());
        }
    }

    private void onQueued(Reply.Queued queued, Moment sentAt, boolean again) {
        heard();
        place = new Place(sentAt, queued.fence());
        Push early = earlyPush;
        earlyPush = null;
        if (early != null) {
            onPush(early);
        }
        if (state == State.WAITING && owner.stillWanted(this) && !isAsking()) {
            if (again) {
                ask(true);
            } else {
                expectWithin(polls().inQueue(queued, acquisitions.isNotified()));
            }
        }
    }

    /** Another client has the lock, and no push will come: the id is not queued. */
    private void onBusy(boolean enqueued) {
        heard();
        mayBeKnown &= enqueued;
        if (owner.stillWanted(this)) {
            if (enqueued) {
                expectWithin(polls().unaided());
            } else {
                ask(true);
            }
        }
    }

    /** A refusal is no reason to forget the id: it may have answered a second copy, of which the first took the lock. */
    private void onFailedQuestion(@Nullable Throwable failure) {
        long now = context.nanoTime();
        Failing before = failing;
        Failing current =
                new Failing(failure, before == null ? 1 : before.times + 1, before == null ? now : before.since);
        failing = current;
        RedisFailure kind = RedisFailure.of(failure);
        if (!isAnswered() && kind != RedisFailure.NOT_NOW) {
            mayBeKnown = kind == RedisFailure.UNKNOWN || before != null;
            owner.unavailable(failure);
            return;
        }
        boolean lasting = current.times >= FAILURES_ENDURED
                && now - current.since >= TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
        if (owner.endures(this, failure, lasting)) {
            expectWithin(polls().unaided());
        }
    }

    private void heard() {
        heard = true;
        failing = null;
    }

    // --- waiting: pushes --------------------------------------------------------------------------------------

    /** For anyone but the queue: takes its mutex. */
    void receive(Push push) {
        owner.onEvent(() -> onPush(push));
    }

    /** As {@link #receive}, when messages may have been missed. */
    void mayHaveMissedPush() {
        owner.onEvent(this::askSoon);
    }

    private void onPush(Push push) {
        if (!owner.name().equals(acquisitions.store().nameOf(push.key())) || push.leaseMillis() > terms.ttlMillis()) {
            return; // no script of ours wrote it
        }
        pushed = true;
        if (state == State.OWNED && push.isHint()) {
            owner.othersWait();
        } else if (state == State.WAITING && push.isHint()) {
            askSoon(); // the lock is ours already: its grant was pushed and missed
        } else if (state == State.WAITING) {
            onGrantPushed(push);
        }
    }

    private void onGrantPushed(Push push) {
        Place known = place;
        if (known == null) {
            earlyPush = push; // overtook the QUEUED answer that tells whether it is new
        } else if (push.fence() > known.newestToken) {
            long lease = TimeUnit.MILLISECONDS.toNanos(push.leaseMillis());
            long left = known.askedAt.deadline(push.leaseMillis()) - context.nanoTime();
            boolean whole = terms.renew() || push.leaseMillis() >= terms.ttlMillis();
            if (whole && left >= lease / 3) {
                own(new Grant(push.fence(), push.leaseMillis(), known.askedAt, true), push.waiters());
            } else {
                askSoon();
            }
        }
    }

    // --- owning -----------------------------------------------------------------------------------------------

    private void own(Grant granted, long othersWaiting) {
        cancelPoll();
        heard();
        grant = granted;
        state = State.OWNED;
        owner.owned(this, granted, othersWaiting);
    }

    boolean isOwned() {
        return state == State.OWNED;
    }

    /** Whether nothing is to be expected of it until after this time. */
    boolean isKeptBeyond(long nanoTime) {
        return state == State.OWNED && owner.isKeptBeyond(nanoTime);
    }

    @Override
    public Grant grant() {
        if (grant == null) {
            throw new IllegalStateException(id + " has not been granted");
        }
        return grant;
    }

    Renewer.Slot renewal() {
        return renewal;
    }

    @Override
    public boolean renews() {
        return terms.renew();
    }

    @Override
    public void onEvent(Runnable action) {
        owner.onEvent(action);
    }

    @Override
    public boolean isDue() {
        return owner.renewalDue(this);
    }

    @Override
    public void ranOut() {
        owner.lost(this, RAN_OUT);
    }

    /** Sends a renewal. */
    @Override
    public void renew() {
        Moment sentAt = context.now();
        acquisitions
                .store()
                .renew(owner.name(), id, grant().token(), terms.ttlMillis())
                .whenComplete((reply, failure) -> owner.onEvent(() -> onRenewal(reply, sentAt)));
    }

    private void onRenewal(@Nullable Reply reply, Moment sentAt) {
        if (state == State.OWNED && reply instanceof Reply.Renewed renewed) {
            grant().prolong(renewed.leaseMillis(), sentAt);
            if (renewed.waiters() > 0) {
                owner.othersWait();
            }
            owner.renewed(this, true);
        } else if (state == State.OWNED && reply == Reply.Plain.NOT_OWNER) {
            owner.lost(this, "Redis no longer has it under this hold's token");
        } else if (termination != null && (reply == null || reply instanceof Reply.Renewed)) {
            termination.onLateRenewal(reply != null);
        } else if (reply == null) {
            owner.renewed(this, false);
        }
    }

    // --- ending -----------------------------------------------------------------------------------------------

    /** Gives the lock back, and with a next id queues that one in the same step. */
    CompletableFuture<ReleaseOutcome> unlock(@Nullable Acquisition next) {
        Grant held = grant();
        Termination ended = end();
        if (next != null) {
            next.asked();
        }
        return ended.unlock(held, next);
    }

    /** The unlock that was to queue this id is answered. */
    void onPredecessorUnlocked(
            @Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, CompletableFuture<Void> settled) {
        predecessorSettled = settled;
        onAnswer(reply, failure, sentAt, true);
    }

    /** Gives the lock back to nobody: all who wait in Redis leave the queue, and those of them who follow are told. */
    CompletableFuture<ReleaseOutcome> complete() {
        Grant held = grant();
        return end().complete(held);
    }

    /**
     * Leaves the queue in Redis, for nobody waits under this id any more. A lock granted by then is given away.
     *
     * @return completes when Redis has answered or the command has failed
     */
    CompletableFuture<Void> leave() {
        Termination ended = end();
        if (mayBeKnown) {
            return ended.cancel();
        }
        ended.drop();
        return SETTLED;
    }

    /**
     * Leaves because a holder has completed, which emptied the queue in Redis.
     *
     * @param token the last one of that holder: if it is older than our place in the queue, we have that still
     */
    void leaveCompleted(long token) {
        boolean gone = place != null && token >= place.newestToken && !isAsking() && failing == null;
        if (gone && predecessorSettled.isDone()) {
            drop();
        } else {
            leave();
        }
    }

    /** Ends without telling Redis, which has given the lock to another, or the place in the queue. */
    void drop() {
        end().drop();
    }

    /** Ends in whatever state it is: the settler tells Redis until it answers. */
    void abandon() {
        end().abandon();
    }

    private Termination end() {
        Termination ended = new Termination(acquisitions, owner, this, grant, isAsking(), predecessorSettled);
        termination = ended;
        state = State.ENDED;
        expectAnswer();
        cancelPoll();
        if (grant != null) {
            acquisitions.noteToken(grant.lastToken());
        }
        return ended;
    }

    // --- what ought to have happened --------------------------------------------------------------------------

    private void expectAnswer() {
        expectWithin(0);
    }

    private void expectWithin(long delay) {
        overdueAt = context.nanoTime() + delay + 2 * context.commandTimeout();
        looks = 0;
    }

    /** Called now and then, without the mutex. */
    void lookAfter(long now, long wallMillis) {
        if (isOverdue(now)) {
            owner.onEvent(this::goOn);
        } else if (state == State.OWNED && grant().isInDoubt(wallMillis)) {
            acquisitions.renewer().renewSoon(renewal);
        }
    }

    private boolean isOverdue(long now) {
        return state == State.OWNED ? !acquisitions.renewer().isPlanned(renewal) : now - overdueAt > 0;
    }

    /**
     * Does what should have happened and was lost with an exception. Not at the first looks: after a pause of the process they may come
     * before everything else.
     */
    private void goOn() {
        if (!isOverdue(context.nanoTime()) || ++looks <= LOOKS_ENDURED) {
            return;
        }
        looks = 0;
        context.log().overlooked(owner.name(), state + ", " + question);
        if (state == State.OWNED) {
            owner.keepRenewed(this);
        } else if (termination != null) {
            termination.settle();
            acquisitions.deregister(this);
        } else if (isAsking()) {
            question = Question.NONE;
            onFailedQuestion(new TimeoutException("the answer was lost"));
        } else {
            ask(true);
        }
    }
}
