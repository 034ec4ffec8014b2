package io.github.lockboot.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.github.lockboot.engine.Grant.LeaseState;
import io.github.lockboot.engine.Grant.Moment;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.LockStore.Permit;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import org.jspecify.annotations.Nullable;

/**
 * The life of one acquisition id in the store. All waiters of this JVM for one name queue in the store under one id.
 *
 * <pre>
 *   asked for by ask, or by the      GRANTED, or            unlock,
 *   unlock of its predecessor        a pushed grant         drop, abandon           answered, failed
 *   ─────────────────────▶ WAITING ───────────────▶ GRANTED ────────────────▶ ENDING ────────────────▶ ENDED
 *                             │             leave, drop, abandon                ▲
 *                             └─────────────────────────────────────────────────┘
 * </pre>
 *
 * <ul>
 *   <li>WAITING: the store may have the id in its queue, and may have granted it the lock. At most one question is
 *       under way; if none is, the next is scheduled. A pushed grant is a hint that may be lost, so it asks again every
 *       poll interval. If leases have to be acknowledged, it is no more than a hint.
 *   <li>GRANTED: the store has given the lock to the id. The grant knows until when that is certain, and the renewer
 *       renews it. It has one hold after the other, or it lingers: it has no hold and is kept for a while, for a caller
 *       that comes back.
 *   <li>ENDING: the id never asks again. The command that has the store forget it is under way; it gives away what was
 *       granted. Drop sends none.
 *   <li>ENDED: if the command failed, or something was thrown before, it is repeated elsewhere until the store answers.
 *       A question or a renewal may still be under way, and may run in the store after the end. If its answer shows the
 *       id alive, the id is ended once more. It is forgotten here when no question is under way any more.
 * </ul>
 *
 * <p>In words: ask; if queued, wait for a push or the next poll; if granted, tell the queue, which serves its waiters
 * one after another under this grant; linger, if the terms say so, until its time is over or another JVM waits; then
 * end. An id is used once. Methods are called with the mutex of the queue held, unless they say otherwise, and none
 * blocks.
 */
final class Acquisition {

    private enum State {
        WAITING,
        GRANTED,
        ENDING,
        ENDED
    }

    /** The question under way, or what the answer to the last one has shown if it came after the end was sent. */
    private enum Question {
        NONE,
        ASKED,
        /** To be asked again as soon as it is answered. */
        ASKED_AND_AGAIN,
        /** It came late and shows that the store still knows the id. */
        ANSWERED_ALIVE,
        /** It failed late, so the store may still know the id. */
        ANSWERED_UNKNOWN
    }

    /** What a question that failed means for the waiters. */
    enum Outage {
        NEVER_ANSWERED,
        BRIEF,
        LASTING
    }

    /**
     * A place in the queue in the store, by the newest answer: when that was asked for, and the newest token at the
     * time.
     */
    private record Place(Moment askedAt, long newestToken) {}

    /** Commands that failed, one after the other: questions, or the newest renewal. */
    private record Failing(@Nullable Throwable last, int times, long since) {}

    /**
     * What the commands for the id have shown so far. A new answer makes a new one, so that no part of it outlives what
     * it was true with.
     *
     * @param mayBeKnown whether the store may know the id
     * @param answered whether the waiters have had an answer of the store, under this id or an earlier one
     * @param refused whether the newest answer is that the lock is taken
     * @param place null if the id is not known to be queued
     * @param failing null if the newest command was answered
     */
    private record Findings(
            boolean mayBeKnown,
            boolean answered,
            boolean refused,
            @Nullable Place place,
            @Nullable Failing failing) {

        Findings asked() {
            return mayBeKnown ? this : new Findings(true, answered, refused, place, failing);
        }

        Findings queued(Place at) {
            return new Findings(mayBeKnown, true, true, at, null);
        }

        Findings busy(boolean enqueued) {
            return new Findings(mayBeKnown && enqueued, true, true, place, null);
        }

        Findings granted() {
            return new Findings(mayBeKnown, true, refused, place, null);
        }

        Findings failed(@Nullable Throwable failure, long now) {
            Failing more = failing == null
                    ? new Failing(failure, 1, now)
                    : new Failing(failure, failing.times + 1, failing.since);
            return new Findings(mayBeKnown, answered, refused, place, more);
        }

        Findings knownOnlyIf(boolean may) {
            return new Findings(may, answered, refused, place, failing);
        }

        Findings renewed() {
            return failing == null ? this : new Findings(mayBeKnown, answered, refused, place, null);
        }
    }

    /**
     * What messages have said while it waited.
     *
     * @param othersWait whether a hint overtook the answer or the message that grants the lock
     * @param grant a grant that overtook the answer QUEUED
     */
    private record Messages(boolean othersWait, @Nullable Push grant) {}

    static final String RAN_OUT = "its lease ran out";

    /**
     * A wait without limit fails only after so many failures in a row: one or two may come from a pause of this
     * process.
     */
    private static final int FAILURES_ENDURED = 3;

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    final String id;
    final Terms terms;
    private final LocalQueue queue;
    private final LockEngine engine;
    private final EngineContext context;
    private final LockStore store;
    private final @Nullable Transfer transfer;
    private final Renewer.Slot renewal = new Renewer.Slot(this);

    private State state = State.WAITING;
    private Question question = Question.NONE;
    private @Nullable PollSchedule schedule;
    private Findings findings;

    /** Null until the first message. */
    private @Nullable Messages messages;

    private @Nullable Grant grant;
    private boolean downgraded;

    /** By the newest answer that another has the lock; null before the first one. */
    private Reply.@Nullable Taken taken;

    private long takenAt;

    /**
     * Whether it ended without a command, because the store had given the lock, or the place in the queue, to another.
     */
    private boolean dropped;

    /** Done when the unlock that queued this id has been answered, also if only a repeated one was. */
    private CompletableFuture<Void> predecessorAnswered = DONE;

    /**
     * @param answered whether the waiters have had an answer of the store, under an earlier id: then they endure
     *     failures
     * @param transfer what it takes over; null if it acquires the lock
     */
    Acquisition(LockEngine engine, LocalQueue queue, Terms terms, boolean answered, @Nullable Transfer transfer) {
        this.engine = engine;
        this.context = engine.context();
        this.store = engine.store;
        this.queue = queue;
        this.terms = terms;
        this.transfer = transfer;
        this.findings = new Findings(false, answered, false, null, null);
        this.id = engine.nextId();
        engine.register(this);
    }

    boolean isOf(LocalQueue other) {
        return queue == other;
    }

    void onEvent(Runnable action) {
        queue.onEvent(action);
    }

    // --- waiting: questions and answers -----------------------------------------------------------------------

    /** The one before it ended with this failure: it is unknown whether another has the lock. */
    void failedBefore(Throwable failure) {
        findings = findings.failed(failure, context.nanoTime());
    }

    /** Asks the store for the lock; {@code enqueue} to be queued if it is not free. */
    void ask(boolean enqueue) {
        cancelPoll();
        onAsked();
        Moment sentAt = context.now();
        question(enqueue).whenComplete((reply, failure) -> onEvent(() -> onAnswer(reply, failure, sentAt, enqueue)));
    }

    private CompletableFuture<Reply> question(boolean enqueue) {
        return transfer == null
                ? store.acquire(queue.name(), id, terms, enqueue)
                : store.transfer(queue.name(), transfer.id(), transfer.grantNumber(), id, terms.ttlMillis());
    }

    private void onAsked() {
        question = Question.ASKED;
        findings = findings.asked();
    }

    /** Asks again now, or as soon as the question under way is answered. */
    void askSoon() {
        if (state == State.WAITING && isAsking()) {
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
        return question == Question.ASKED || question == Question.ASKED_AND_AGAIN;
    }

    /**
     * Whether the waiters have had an answer of the store. Alongside others that have the lock, an earlier id's says
     * nothing.
     */
    boolean isAnswered() {
        return terms.kind() == LockKind.EXCLUSIVE ? findings.answered : isRefused();
    }

    /** Whether the waiters know that they cannot have the lock now. */
    boolean isTaken() {
        return isAnswered() && findings.failing == null;
    }

    /** Whether the store refused it when that was asked last. */
    boolean isRefused() {
        return findings.refused && findings.failing == null;
    }

    /** Why the last question failed, or has no answer yet. */
    @Nullable
    Throwable lastFailure() {
        return findings.failing == null ? store.client().whyUnanswered() : findings.failing.last;
    }

    private void onAnswer(@Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, boolean enqueued) {
        boolean again = question == Question.ASKED_AND_AGAIN;
        question = Question.NONE;
        if (reply != null) {
            context.answered();
        }
        if (hasEnded()) {
            onLateAnswer(reply);
        } else if (reply instanceof Reply.Granted granted) {
            onGranted(granted, sentAt);
        } else if (state == State.GRANTED) {
            return; // granted by a push in the meantime: this answer is older, or none
        } else if (reply instanceof Reply.Queued queued) {
            onQueued(queued, sentAt, again);
        } else if (reply instanceof Reply.Busy busy) {
            onTaken(busy);
            onBusy(enqueued);
        } else if (reply == Reply.Plain.NOT_HOLDER && transfer != null) {
            queue.notTransferred();
        } else if (reply == Reply.Plain.NOT_HOLDER) {
            ask(true); // the unlock that was to queue this id came too late for that
        } else {
            onFailure(failure == null ? null : Futures.unwrap(failure));
        }
    }

    private void onGranted(Reply.Granted answer, Moment sentAt) {
        Grant known = grant;
        if (known == null) {
            if (findings.place != null && messages == null) {
                engine.verifyChannel(); // the grant of a queued id is pushed
            }
            long token = transfer == null ? answer.token() : transfer.token();
            begin(new Grant(terms, answer.grantNumber(), token, answer.leaseMillis(), sentAt, false), answer.waiters());
        } else if (answer.grantNumber() == known.grantNumber()) {
            known.prolong(answer.leaseMillis(), sentAt);
        } else if (answer.grantNumber() > known.grantNumber()) { // else it is older than the push that granted it
            queue.lost(this, "its lease ran out and the lock was granted again");
            engine.unanswered.repeatEnd(() -> store.unlock(queue.name(), id, answer.grantNumber()));
        }
    }

    private void onQueued(Reply.Queued queued, Moment sentAt, boolean again) {
        findings = findings.queued(new Place(sentAt, queued.grantNumber()));
        onTaken(queued);
        Messages before = messages;
        if (before != null && before.grant != null) {
            messages = new Messages(before.othersWait, null);
            onPush(before.grant);
        }
        if (state == State.WAITING && queue.refused(this) && !isAsking()) {
            if (again) {
                ask(true);
            } else {
                polls().inQueue(queued, engine.isNotified());
            }
        }
    }

    private void onTaken(Reply.Taken answer) {
        taken = answer;
        takenAt = context.nanoTime();
    }

    /** {@return who has the lock, and what is left of the lease; null if no answer says it} */
    Waiter.@Nullable Refused refusal() {
        Reply.Taken newest = taken;
        if (newest == null || newest.holderId() == null) {
            return null;
        }
        Duration left = Duration.ofMillis(newest.leftMillis()).minusNanos(context.nanoTime() - takenAt);
        return new Waiter.Refused(0, newest.holderId(), left.isNegative() ? Duration.ZERO : left);
    }

    /** No push will come: the id is not queued. */
    private void onBusy(boolean enqueued) {
        findings = findings.busy(enqueued);
        if (queue.refused(this)) {
            if (enqueued) {
                polls().unaided();
            } else {
                ask(true);
            }
        }
    }

    /**
     * A refusal is no reason to forget the id: it may have answered a second copy, of which the first took the lock.
     */
    private void onFailure(@Nullable Throwable failure) {
        long now = context.nanoTime();
        findings = findings.failed(failure, now);
        Failing current = Objects.requireNonNull(findings.failing);
        StoreFailure kind = store.client().failureOf(failure);
        boolean unacknowledged = failure instanceof StoreFailure.NotAcknowledgedException;
        boolean neverAnswered = unacknowledged || !findings.answered && kind != StoreFailure.NOT_NOW;
        boolean lasting = current.times >= FAILURES_ENDURED
                && now - current.since >= TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
        if (neverAnswered) {
            findings = findings.knownOnlyIf(unacknowledged || kind == StoreFailure.UNKNOWN || current.times > 1);
        }
        Outage outage = neverAnswered ? Outage.NEVER_ANSWERED : lasting ? Outage.LASTING : Outage.BRIEF;
        if (queue.failed(this, failure, outage)) {
            polls().unaided();
        }
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
        Messages before = messages == null ? new Messages(false, null) : messages;
        messages = before;
        if (state == State.GRANTED && push.isHint()) {
            queue.othersWait(this);
        } else if (state == State.WAITING && push.isHint()) {
            messages = new Messages(true, before.grant);
            askSoon(); // the lock is ours already and its grant is on its way or was missed, or it becomes free earlier
        } else if (state == State.WAITING) {
            onGrantPushed(push, before);
        }
    }

    private void onGrantPushed(Push push, Messages before) {
        Place known = findings.place;
        if (known == null) {
            // It overtook the answer QUEUED, which shows whether it is new.
            messages = new Messages(before.othersWait, push);
        } else if (push.grantNumber() > known.newestToken) {
            long lease = TimeUnit.MILLISECONDS.toNanos(push.leaseMillis());
            long left = known.askedAt.deadline(push.leaseMillis()) - context.nanoTime();
            boolean mayCount = terms.renew() && !store.client().acknowledges();
            if (mayCount && left >= lease / 3) {
                begin(
                        new Grant(terms, push.grantNumber(), push.token(), push.leaseMillis(), known.askedAt, true),
                        push.waiters());
            } else {
                askSoon();
            }
        }
    }

    // --- granted ----------------------------------------------------------------------------------------------

    private void begin(Grant granted, long othersWaiting) {
        cancelPoll();
        findings = findings.granted();
        grant = granted;
        state = State.GRANTED;
        queue.granted(this, messages != null && messages.othersWait || othersWaiting > 0);
    }

    boolean isGranted() {
        return state == State.GRANTED;
    }

    Grant grant() {
        if (grant == null) {
            throw new IllegalStateException(id + " has not been granted");
        }
        return grant;
    }

    /** Whether it can pass the lock to the waiter. */
    boolean canServe(Waiter next) {
        return next.request().terms().equals(terms) && canServeAnother();
    }

    /** A lease that is not renewed is not shared: the next one is promised a whole one. */
    private boolean canServeAnother() {
        return terms.renew()
                && !downgraded
                && grant().canServeAnother(context.nanoTime())
                && grant().leaseAt(context.now()) == LeaseState.RUNNING;
    }

    boolean mayLinger() {
        return terms.lingerNanos() > 0
                && transfer == null
                && !grant().countsHandOvers()
                && canServeAnother()
                && engine.isNotified()
                && !context.isClosing();
    }

    Renewer.Slot renewal() {
        return renewal;
    }

    boolean shouldRenew() {
        return state == State.GRANTED && queue.shouldRenew(this);
    }

    void ranOut() {
        if (state == State.GRANTED) {
            queue.lost(this, whyRanOut());
        }
    }

    String whyRanOut() {
        Throwable failure = renewalFailure();
        return failure == null ? RAN_OUT : RAN_OUT + ", and its renewal failed: " + Failures.reasonOf(failure);
    }

    /**
     * Why the newest renewal failed, if it did before the lease ran out: after a pause of this process it fails later.
     */
    private @Nullable Throwable renewalFailure() {
        return grant == null || findings.failing == null ? null : findings.failing.last;
    }

    /** {@return what is renewed by the command that renews this lease} */
    List<Acquisition> renewedTogether() {
        return queue.renewedTogether(this);
    }

    /** Sends one renewal for all that are renewed together. Called without the mutex. */
    static void renew(List<Acquisition> together) {
        Acquisition first = together.get(0);
        if (first.terms.kind() == LockKind.LIMITED) {
            renewPermits(first, together);
        } else {
            first.renew(first.terms.ttlMillis(), first.renewal.askedAt());
        }
    }

    /** Extends a lease that is not renewed. {@return the answer of the store, once it counts here} */
    CompletableFuture<Reply> extend(long millis) {
        return renew(millis, context.now());
    }

    private CompletableFuture<Reply> renew(long millis, Moment sentAt) {
        return store.renew(queue.name(), id, grant().grantNumber(), millis, late -> onRenewal(late, null, sentAt))
                .whenComplete((reply, failure) -> onRenewal(reply, failure, sentAt));
    }

    private static void renewPermits(Acquisition first, List<Acquisition> together) {
        Moment sentAt = first.renewal.askedAt();
        List<Permit> permits = together.stream()
                .map(each -> new Permit(each.id, each.grant().grantNumber(), each.terms.ttlMillis()))
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
        if (state == State.GRANTED && reply instanceof Reply.Renewed renewed) {
            findings = findings.renewed();
            grant().prolong(renewed.leaseMillis(), sentAt);
            engine.renewer.renewed(renewal, sentAt);
            queue.notify(this, UseNotifier::renewed);
            if (renewed.waiters() > 0) {
                queue.othersWait(this);
            }
        } else if (state == State.GRANTED && reply == Reply.Plain.NOT_HOLDER) {
            loseIfNotHolder(reply);
        } else if (hasEnded()) {
            onLateRenewal(reply);
        } else if (reply == null) {
            if (state == State.GRANTED && grant().leaseAt(context.now()) != LeaseState.OVER) {
                findings = findings.failed(failure, context.nanoTime());
            }
            engine.renewer.failed(renewal, sentAt, isSilence(failure));
            queue.notify(this, UseNotifier::renewalFailed);
        }
    }

    /** Whether the store may still answer. */
    private static boolean isSilence(@Nullable Throwable failure) {
        return failure != null && Futures.unwrap(failure) instanceof TimeoutException;
    }

    /** Whether it may be held for readers only. */
    boolean isDowngraded() {
        return downgraded;
    }

    /** Makes a shared hold of an exclusive one. Repeated until the store has answered. */
    void downgrade() {
        downgraded = true;
        String name = queue.name();
        long grantNumber = grant().grantNumber();
        long lastToken = grant().lastToken();
        engine.unanswered.repeat(() -> store.downgrade(name, id, grantNumber, lastToken)
                .whenComplete((reply, failure) -> onEvent(() -> loseIfNotHolder(reply))));
    }

    private void loseIfNotHolder(@Nullable Reply reply) {
        if (state == State.GRANTED && reply == Reply.Plain.NOT_HOLDER) {
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
     * Gives the lock back, or leaves it taken for the time that a holder has asked for. With a next id queues that one,
     * in the same step if the lock is given back.
     */
    CompletableFuture<Hold.Release> unlock(@Nullable Acquisition next) {
        long token = lastToken();
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
        return send(() -> store.unlock(queue.name(), id, token, next.id, next.terms), next);
    }

    /** Leaves its hold to another process, which takes it over. The store knows it by another id then. */
    CompletableFuture<Hold.Release> handOver(Transfer to) {
        end();
        return store.transfer(queue.name(), id, to.grantNumber(), to.id(), terms.ttlMillis())
                .handle((reply, failure) -> {
                    if (reply == null) {
                        endAgain();
                    }
                    onEvent(() -> onEnded(reply != null));
                    return reply == null
                            ? Hold.Release.UNKNOWN
                            : reply == Reply.Plain.NOT_HOLDER ? Hold.Release.LOST : Hold.Release.RELEASED;
                });
    }

    private CompletableFuture<Reply> giveBack() {
        long kept = grant().keptFor(context.nanoTime());
        return kept > 0
                ? store.keep(
                        queue.name(),
                        id,
                        grant().grantNumber(),
                        TimeUnit.NANOSECONDS.toMillis(kept) + 2) // both clocks cut off what is less than a millisecond
                : store.unlock(queue.name(), id, lastToken());
    }

    /** The last token that was used under this grant, also before it was taken over. */
    private long lastToken() {
        long last = grant().lastToken();
        return transfer == null ? last : Math.max(last, transfer.token());
    }

    /**
     * Ends an id that has not been granted the lock here. One that takes over a hold tells the token that was used
     * before.
     */
    private CompletableFuture<Reply> cancel() {
        return transfer == null ? store.cancel(queue.name(), id) : store.unlock(queue.name(), id, transfer.token());
    }

    /** The unlock that was to queue this id is answered. */
    private void onPredecessorUnlocked(
            @Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, CompletableFuture<Void> endAnswered) {
        predecessorAnswered = endAnswered;
        if (state == State.WAITING
                && reply instanceof Reply.Granted
                && store.client().acknowledges()) {
            ask(true); // only an answer to a question is acknowledged
        } else {
            onAnswer(reply, failure, sentAt, true);
        }
    }

    /**
     * Leaves the queue in the store, for no waiter is left. A lock granted by then is given away.
     *
     * @return completes when the store has answered or the command has failed
     */
    CompletableFuture<?> leave() {
        if (!findings.mayBeKnown) {
            drop();
            return DONE;
        }
        end();
        if (!predecessorAnswered.isDone()) {
            predecessorAnswered.thenRun(
                    this::endAgain); // a copy of the predecessor's unlock that runs later queues this id again
        }
        return send(this::cancel, null);
    }

    /**
     * Ends without a command: the store does not know the id, or has given the lock, or the place in the queue, to
     * another. If it is unknown whether a renewal has run, the store may have prolonged the lease, and is asked to
     * forget the id.
     */
    void drop() {
        end();
        dropped = true;
        Throwable failure = renewalFailure();
        if (failure != null && store.client().failureOf(failure) == StoreFailure.UNKNOWN) {
            endAgain();
        }
        onEnded(false);
    }

    /** Ends in whatever state it is: the store is asked to forget the id until it answers. */
    void abandon() {
        end();
        predecessorAnswered.thenRun(this::endAgain);
        onEnded(false);
    }

    private void end() {
        state = State.ENDING;
        cancelPoll();
        if (grant != null) {
            engine.noteToken(grant.lastToken());
        }
    }

    private CompletableFuture<Hold.Release> send(Supplier<CompletableFuture<Reply>> end, @Nullable Acquisition next) {
        Moment sentAt = context.now();
        long epoch = store.client().epoch();
        return end.get().handle((reply, failure) -> {
            CompletableFuture<Void> endAnswered = reply == null ? endAgain() : DONE;
            onEvent(() -> {
                onEnded(reply == Reply.Plain.NOT_HOLDER || reply == Reply.Plain.UNKNOWN);
                if (next != null) {
                    next.onPredecessorUnlocked(reply, failure, sentAt, endAnswered);
                }
            });
            return reply == null ? Hold.Release.UNKNOWN : releaseOf(reply, epoch, sentAt);
        });
    }

    /**
     * NOT_HOLDER to a command that may have been sent twice answers our own second copy; after the deadline, by either
     * clock, it may only tell that the command came late, unless the lease had expired by wall clock already when the
     * command was sent.
     */
    private Hold.Release releaseOf(Reply reply, long epochSentIn, Moment sentAt) {
        if (reply != Reply.Plain.NOT_HOLDER || grant == null) {
            return Hold.Release.RELEASED;
        }
        if (store.client().mayHaveRepeatedSince(epochSentIn)) {
            return Hold.Release.RELEASED; // to the second copy of the command
        }
        LeaseState lease = grant.leaseAt(context.now());
        if (lease == LeaseState.OVER) {
            return Hold.Release.RELEASED; // the command may have come after the lease, which was not lost early
        }
        if (lease == LeaseState.EXPIRED_BY_WALL_CLOCK && grant.leaseAt(sentAt) == LeaseState.RUNNING) {
            return Hold.Release.RELEASED; // as above
        }
        return Hold.Release.LOST;
    }

    /** In the store, the question and the end may have run in either order, or the question not yet. */
    private void onLateAnswer(@Nullable Reply reply) {
        boolean alive = reply instanceof Reply.Granted || reply instanceof Reply.Queued;
        question = reply == null ? Question.ANSWERED_UNKNOWN : alive ? Question.ANSWERED_ALIVE : Question.NONE;
        if (state == State.ENDED) {
            onEnded(true);
        }
    }

    /** The store may have prolonged a lease that has ended here. */
    private void onLateRenewal(@Nullable Reply reply) {
        if (state == State.ENDED && (reply instanceof Reply.Renewed || reply == null && dropped)) {
            endAgain();
        }
    }

    /**
     * @param unknownId whether the store did not know the id, so that what a late answer showed came to life after the
     *     end
     */
    private void onEnded(boolean unknownId) {
        state = State.ENDED;
        if (question == Question.ANSWERED_UNKNOWN) {
            predecessorAnswered.thenRun(this::endAgain); // not before: the end may have been sent with a next id
        } else if (question == Question.ANSWERED_ALIVE && unknownId) {
            endAgain();
        }
        if (!isAsking()) {
            engine.deregister(this);
        }
    }

    /**
     * Ends the id again until the store answers: as it was given back if it was granted, else as a waiter leaves.
     * However many others are repeated, a lock that is to stay taken is: the end of its lease may come before that
     * time.
     */
    private CompletableFuture<Void> endAgain() {
        if (grant != null && grant.keptFor(context.nanoTime()) > 0) {
            return engine.unanswered.repeat(this::giveBack);
        }
        return engine.unanswered.repeatEnd(grant != null ? this::giveBack : this::cancel);
    }

    // --- time of day ------------------------------------------------------------------------------------------

    /** Called once a second, without the mutex. */
    void checkTimeOfDay(Moment now) {
        if (state == State.GRANTED && grant().leaseAt(now) == LeaseState.EXPIRED_BY_WALL_CLOCK) {
            onEvent(() -> engine.renewer.ranOutByTimeOfDay(renewal));
        }
    }
}
