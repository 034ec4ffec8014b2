package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockboot.redis.protocol.Push;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The life of one acquisition id in Redis: it asks, perhaps waits in the queue, owns, and is given back. Its methods are called
 * with the mutex of its {@link LocalQueue} held, and none blocks.
 *
 * <p>While it waits it asks again every poll interval, since a pushed grant is only a hint that may be lost. Once an end was
 * sent ({@code unlock} or {@code cancel}) the id never asks again; an answer that comes later and shows the id alive in Redis
 * has it ended once more.
 */
final class Acquisition {

    private enum State {
        WAITING,
        OWNED,
        ENDED
    }

    /** Out of reach for less than this many polls in a row is no reason to give up: it may have been our own pause. */
    private static final int FAILURES_ENDURED = 3;

    private static final int LOOKS_ENDURED = 2;

    private static final CompletableFuture<Void> SETTLED = CompletableFuture.completedFuture(null);

    final String id;
    final Terms terms;
    private final LocalQueue queue;
    private final LockEngine engine;
    private final Poll poll;
    private final Ending ending;

    /** The renewer's, under the mutex too. */
    Renewer.@Nullable Entry renewal;

    private State state = State.WAITING;
    private boolean asking;
    private boolean askAgain;
    private boolean mayBeKnown;
    private boolean answered;
    private boolean heard;
    private Moment queuedAskedAt;
    private long newestFence;
    private @Nullable Push earlyPush;
    private @Nullable Throwable lastFailure;
    private int failures;
    private long failingSince;
    private @Nullable Grant grant;
    private boolean grantedByPush;
    private boolean pushed;

    /** When something has to have happened: an answer, a poll. */
    private long overdueAt;

    private int looks;

    /**
     * @param answered whether those who wait have had an answer from Redis already, under an id before this one: then they
     *     endure failures
     */
    Acquisition(LockEngine engine, LocalQueue queue, Terms terms, boolean answered) {
        this.engine = engine;
        this.queue = queue;
        this.terms = terms;
        this.answered = answered;
        this.id = engine.nextId();
        this.queuedAskedAt = engine.now();
        this.poll = new Poll(engine, engine.pollInterval(terms), () -> queue.onEvent(this::askSoon));
        this.ending = new Ending(engine, this);
        engine.register(this);
    }

    LocalQueue queue() {
        return queue;
    }

    // --- asking -----------------------------------------------------------------------------------------------

    /** Asks Redis for the lock; {@code enqueue} to be queued if it is not free. */
    void ask(boolean enqueue) {
        poll.cancel();
        asking = true;
        askAgain = false;
        mayBeKnown = true;
        expectAnswer();
        Moment sentAt = engine.now();
        engine.store()
                .acquire(queue.name(), id, terms.ttlMillis(), enqueue)
                .whenComplete((reply, failure) -> queue.onEvent(() -> onAnswer(reply, failure, sentAt, enqueue)));
    }

    /** Asks again now, or as soon as the question under way is answered. */
    void askSoon() {
        if (state == State.WAITING && asking) {
            askAgain = true;
        } else if (state == State.WAITING) {
            ask(true);
        }
    }

    /** Whether a question is under way. */
    boolean isAsking() {
        return asking;
    }

    /** Whether Redis has answered those who wait. */
    boolean isAnswered() {
        return answered;
    }

    /** Whether another had the lock when Redis was asked last, under this id. */
    boolean isHeldElsewhere() {
        return state == State.WAITING && heard && lastFailure == null;
    }

    /** Why the last question failed; null if there is none that did. */
    @Nullable
    Throwable lastFailure() {
        return lastFailure;
    }

    private void onAnswer(@Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, boolean enqueued) {
        asking = false;
        if (state == State.ENDED) {
            ending.onLateAnswer(reply);
        } else if (reply instanceof Reply.Owner owner) {
            onOwner(owner, sentAt);
        } else if (state == State.OWNED) {
            return; // granted by a push in the meantime: this answer is older, or none
        } else if (reply instanceof Reply.Queued queued) {
            onQueued(queued, sentAt);
        } else if (reply instanceof Reply.Busy) {
            onBusy(enqueued);
        } else {
            onFailedQuestion(RedisFailure.unwrap(failure));
        }
    }

    private void onOwner(Reply.Owner owner, Moment sentAt) {
        if (grant == null && newestFence > 0 && !pushed) {
            engine.verifyChannel(); // the grant of one who is queued is told
        }
        if (grant == null) {
            own(owner.fence(), owner.leaseMillis(), owner.waiters(), sentAt);
        } else if (owner.fence() == grant.token()) {
            grant.prolong(owner.leaseMillis(), sentAt);
        } else if (owner.fence() > grant.token()) { // else the answer is older than the push that granted it
            queue.lost(this, "its lease ran out and the lock was granted again");
            engine.settler().unlock(queue.name(), id, owner.fence());
        }
    }

    private void onQueued(Reply.Queued queued, Moment sentAt) {
        heard();
        queuedAskedAt = sentAt;
        newestFence = queued.fence();
        Push early = earlyPush;
        earlyPush = null;
        if (early != null) {
            onPush(early);
        }
        if (state == State.WAITING && queue.stillWanted(this) && !asking) {
            if (askAgain) {
                ask(true);
            } else {
                expectPoll(poll.inQueue(queued));
            }
        }
    }

    /** Somebody else's, and no push will come: the id is not queued. */
    private void onBusy(boolean enqueued) {
        heard();
        mayBeKnown &= enqueued;
        if (queue.stillWanted(this)) {
            if (enqueued) {
                expectPoll(poll.unaided());
            } else {
                ask(true);
            }
        }
    }

    /** A refusal is no reason to forget the id: it may have answered a second copy, of which the first took the lock. */
    private void onFailedQuestion(@Nullable Throwable failure) {
        lastFailure = failure;
        RedisFailure kind = RedisFailure.of(failure);
        if (!answered && kind != RedisFailure.NOT_NOW) {
            mayBeKnown = kind == RedisFailure.UNKNOWN || failures > 0;
            queue.unavailable(failure);
            return;
        }
        long now = engine.nanoTime();
        if (failures++ == 0) {
            failingSince = now;
        }
        boolean longFailing = now - failingSince >= TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
        if (queue.endures(this, failure, longFailing && failures >= FAILURES_ENDURED)) {
            expectPoll(poll.unaided());
        }
    }

    private void heard() {
        answered = true;
        heard = true;
        failures = 0;
        lastFailure = null;
    }

    // --- pushes -----------------------------------------------------------------------------------------------

    void onPush(Push push) {
        if (!push.key().equals(engine.store().keyOf(queue.name())) || push.leaseMillis() > terms.ttlMillis()) {
            return; // no script of ours wrote it
        }
        pushed = true;
        if (state == State.OWNED && push.isHint()) {
            queue.othersWait();
        } else if (state == State.WAITING && push.isHint()) {
            askSoon(); // the lock is ours already: its grant was pushed and missed
        } else if (state == State.WAITING) {
            onGrantPushed(push);
        }
    }

    private void onGrantPushed(Push push) {
        if (newestFence == 0) {
            earlyPush = push; // overtook the QUEUED answer that tells whether it is new
        } else if (push.fence() > newestFence) {
            long lease = TimeUnit.MILLISECONDS.toNanos(push.leaseMillis());
            long left = queuedAskedAt.deadline(push.leaseMillis()) - engine.nanoTime();
            boolean whole = terms.renew() || push.leaseMillis() >= terms.ttlMillis();
            if (whole && left >= lease / 3) {
                grantedByPush = true;
                own(push.fence(), push.leaseMillis(), push.waiters(), queuedAskedAt);
            } else {
                askSoon();
            }
        }
    }

    // --- owning -----------------------------------------------------------------------------------------------

    private void own(long fence, long leaseMillis, long othersWaiting, Moment askedAt) {
        poll.cancel();
        heard();
        state = State.OWNED;
        Grant granted = new Grant(fence, leaseMillis, askedAt);
        grant = granted;
        queue.owned(this, granted, othersWaiting);
    }

    /** Whether Redis gave the lock unasked, when another gave it back. */
    boolean isGrantedByPush() {
        return grantedByPush;
    }

    boolean isOwned() {
        return state == State.OWNED;
    }

    /** Whether the outcome of its unlock is unknown. */
    boolean isUnlockUnanswered() {
        return ending.isUnknown();
    }

    boolean hasOwned() {
        return grant != null;
    }

    /** What Redis gave; there is one from when it owned the lock first. */
    Grant grant() {
        if (grant == null) {
            throw new IllegalStateException(id + " has not been granted");
        }
        return grant;
    }

    /** Whether it is held by nobody, but kept until after this time. */
    boolean isKeptBeyond(long nanoTime) {
        Hold hold = queue.holder();
        return hold != null && hold.acquisition() == this && hold.isKeptBeyond(nanoTime);
    }

    CompletableFuture<Reply> renew() {
        return engine.store().renew(queue.name(), id, grant().token(), terms.ttlMillis());
    }

    /** @return whether the answer left it owned, with a new lease */
    boolean onRenewal(@Nullable Reply reply, Moment sentAt) {
        if (state == State.OWNED && reply instanceof Reply.Renewed renewed) {
            grant().prolong(renewed.leaseMillis(), sentAt);
            if (renewed.waiters() > 0) {
                queue.othersWait();
            }
            return true;
        }
        if (state == State.OWNED && reply instanceof Reply.NotOwner) {
            queue.lost(this, "Redis no longer has it under this hold's token");
        } else if (ending.isAnswered() && reply instanceof Reply.Renewed) {
            ending.settle(); // it was lost here, and Redis has just prolonged it
        }
        return false;
    }

    // --- ending -----------------------------------------------------------------------------------------------

    /**
     * Gives the lock back, and with a next id queues that one in the same step.
     *
     * @return whether the lock was still ours, once that is known
     */
    CompletableFuture<Boolean> unlock(@Nullable Acquisition next) {
        end();
        if (next != null) {
            next.asking = true;
            next.mayBeKnown = true;
            next.expectAnswer();
        }
        return ending.unlock(grant().lastToken(), next);
    }

    void onPredecessorUnlocked(
            @Nullable Reply reply, @Nullable Throwable failure, Moment sentAt, CompletableFuture<Void> settled) {
        asking = false;
        ending.setPredecessorSettled(settled);
        if (state == State.ENDED) {
            ending.onLateAnswer(reply);
        } else if (reply instanceof Reply.Owner owner) {
            own(owner.fence(), owner.leaseMillis(), owner.waiters(), sentAt);
        } else if (reply instanceof Reply.Queued queued) {
            onQueued(queued, sentAt);
        } else if (reply instanceof Reply.NotOwner) {
            ask(true);
        } else {
            onFailedQuestion(RedisFailure.unwrap(failure));
        }
    }

    /**
     * Gives the lock back to nobody: all who wait in Redis leave the queue, and those of them who follow are told.
     *
     * @return whether the lock was still ours, once that is known
     */
    CompletableFuture<Boolean> complete() {
        end();
        return ending.complete(grant().lastToken());
    }

    /**
     * Nobody waits under this id any more because a holder has completed, which emptied the queue in Redis.
     *
     * @param token the last one of that holder: if it is older than our place in the queue, we have that still
     */
    void leaveCompleted(long token) {
        boolean gone = newestFence > 0 && token >= newestFence && !asking && failures == 0;
        if (gone && ending.isPredecessorSettled()) {
            drop();
        } else {
            leave();
        }
    }

    /**
     * Nobody waits under this id any more: leaves the queue in Redis; a lock granted by then is given away.
     *
     * @return completes when Redis has answered, or has not
     */
    CompletableFuture<Void> leave() {
        end();
        if (mayBeKnown) {
            return ending.cancel();
        }
        ending.drop();
        return SETTLED;
    }

    /** Ends without telling Redis, which does not know the id or has given the lock to another. */
    void drop() {
        end();
        ending.drop();
    }

    /** Ends in whatever state it is: Redis is told until it answers. */
    void abandon() {
        end();
        ending.abandon();
    }

    private void end() {
        state = State.ENDED;
        expectAnswer();
        poll.cancel();
        if (grant != null) {
            engine.noteToken(grant.lastToken());
        }
    }

    // --- what ought to have happened --------------------------------------------------------------------------

    private void expectAnswer() {
        expectPoll(0);
    }

    private void expectPoll(long delay) {
        overdueAt = engine.nanoTime() + delay + 2 * engine.commandTimeout();
        looks = 0;
    }

    /** Whether something ought to have happened that has not. May be asked without the mutex, to be asked again with it. */
    boolean isOverdue(long now) {
        return state == State.OWNED ? renewal == null : now - overdueAt > 0;
    }

    /**
     * Is looked at again and again while it is overdue: what should have happened, and was lost with something that was thrown, is
     * made to happen. Not at the first looks, which may come before all else when the process has stood still.
     */
    void lookAfter() {
        if (!isOverdue(engine.nanoTime()) || ++looks <= LOOKS_ENDURED) {
            return;
        }
        looks = 0;
        engine.log().overlooked(queue.name(), state + (asking ? ", asking" : ""));
        if (state == State.OWNED) {
            queue.keepRenewed(this);
        } else if (state == State.ENDED) {
            ending.settle();
            engine.deregister(this);
        } else if (asking) {
            asking = false;
            onFailedQuestion(new TimeoutException("no answer came to light"));
        } else {
            ask(true);
        }
    }
}
