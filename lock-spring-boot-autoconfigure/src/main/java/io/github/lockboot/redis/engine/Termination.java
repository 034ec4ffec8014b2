package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.lockboot.redis.engine.Grant.Moment;
import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The end of an acquisition id in Redis.
 *
 * <pre>
 *   unlock, complete, cancel             answered, or repeated until it is
 *   ────────────────────────▶ ENDING ────────────────────────────────────▶ ENDED ──┐ a late answer shows the id
 *   drop: nothing is sent; abandon: repeated until it is answered ─────────▶   ▲    │ alive, or may: ended again
 *                                                                              └────┘
 * </pre>
 *
 * <ul>
 *   <li>ENDING: the command that ends the id is under way. What was granted is given away with it.
 *   <li>ENDED: Redis has answered, or is asked again elsewhere until it does. A question or a renewal of the acquisition may
 *       still be under way, and may run in Redis after the end. If its answer shows the id alive, the id is ended once more. The
 *       id is forgotten here when no question is under way any more.
 * </ul>
 *
 * <p>Its methods are called with the mutex of the queue held, and none blocks. Answers arrive without the mutex.
 */
final class Termination {

    private enum State {
        ENDING,
        ENDED
    }

    /** What the answer to a question says that came after the end was sent. */
    private enum LateAnswer {
        NONE,
        NOT_ALIVE,
        ALIVE,
        UNKNOWN
    }

    private final Acquisitions acquisitions;
    private final LockStore store;
    private final String name;
    private final Acquisition ending;
    private final @Nullable Grant grant;
    private State state = State.ENDING;
    private boolean dropped;
    private boolean questionUnderWay;
    private LateAnswer lateAnswer = LateAnswer.NONE;
    private CompletableFuture<Void> predecessorSettled;
    private @Nullable CompletableFuture<Hold.Release> outcome;

    /**
     * @param grant what the id was granted, if it was
     * @param questionUnderWay whether it has asked, and was not answered
     * @param predecessorSettled done when the unlock that queued the id has been answered, or has been settled
     */
    Termination(
            Acquisitions acquisitions,
            String name,
            Acquisition ending,
            @Nullable Grant grant,
            boolean questionUnderWay,
            CompletableFuture<Void> predecessorSettled) {
        this.acquisitions = acquisitions;
        this.store = acquisitions.store();
        this.name = name;
        this.ending = ending;
        this.grant = grant;
        this.questionUnderWay = questionUnderWay;
        this.predecessorSettled = predecessorSettled;
    }

    /** Gives the lock back, and with a next id queues that one in the same step. */
    CompletableFuture<Hold.Release> unlock(@Nullable Acquisition next) {
        long token = lastToken();
        return next == null
                ? send(() -> store.unlock(name, ending.id, token), null)
                : send(
                        () -> store.unlock(
                                name, ending.id, token, next.id, next.terms.permits(), next.terms.ttlMillis()),
                        next);
    }

    /** Gives the lock back and empties the queue in Redis. */
    CompletableFuture<Hold.Release> complete() {
        return send(() -> store.complete(name, ending.id, lastToken()), null);
    }

    /** Leaves the queue in Redis; a lock granted by then is given away. */
    CompletableFuture<?> cancel() {
        if (!predecessorSettled.isDone()) {
            predecessorSettled.thenRun(
                    this::settle); // a copy of the predecessor's unlock that runs later queues this id again
        }
        return send(() -> store.cancel(name, ending.id), null);
    }

    private CompletableFuture<Hold.Release> send(Supplier<CompletableFuture<Reply>> end, @Nullable Acquisition next) {
        Moment sentAt = acquisitions.context().now();
        long epoch = store.client().epoch();
        CompletableFuture<Hold.Release> answered = end.get().handle((reply, failure) -> {
            CompletableFuture<Void> settled = reply == null ? settle() : CompletableFuture.completedFuture(null);
            ending.onEvent(() -> {
                onEndAnswered(reply == Reply.Plain.NOT_OWNER || reply == Reply.Plain.UNKNOWN);
                if (next != null) {
                    next.onPredecessorUnlocked(reply, failure, sentAt, settled);
                }
            });
            return reply == null ? Hold.Release.UNKNOWN : releaseOf(reply, epoch, sentAt);
        });
        outcome = answered;
        return answered;
    }

    /** The answer was lost with something that was thrown. */
    void onAnswerLost() {
        settle();
        if (outcome != null) {
            outcome.complete(Hold.Release.UNKNOWN);
        }
    }

    /**
     * NOT_OWNER to a command that may have been sent twice answers our own second copy; after the deadline, by either clock, it may
     * only tell that the command came late, unless the lease was in doubt already when the command was sent.
     */
    private Hold.Release releaseOf(Reply reply, long epochSentIn, Moment sentAt) {
        boolean lost = reply == Reply.Plain.NOT_OWNER
                && grant != null
                && epochSentIn == store.client().epoch()
                && !grant.isOver(acquisitions.context().nanoTime())
                && (grant.isInDoubt(sentAt.wallMillis())
                        || !grant.isInDoubt(acquisitions.context().wallMillis()));
        return lost ? Hold.Release.LOST : Hold.Release.RELEASED;
    }

    /** Sends nothing: Redis does not know the id, or has given the lock to another. */
    void drop() {
        dropped = true;
        onEndAnswered(false);
    }

    /** Whatever has been sent, Redis is asked until it answers. */
    void abandon() {
        predecessorSettled.thenRun(this::settle);
        onEndAnswered(false);
    }

    /**
     * A renewal is answered that was under way. Redis may have prolonged a lease that has ended here.
     *
     * @param certainly whether it has
     */
    void onLateRenewal(boolean certainly) {
        if (state == State.ENDED && (certainly || dropped)) {
            settle();
        }
    }

    /**
     * The question is answered that was under way. In Redis, question and end may have run in either order, or the question not yet.
     *
     * @param predecessor as at the beginning
     */
    void onLateAnswer(@Nullable Reply reply, CompletableFuture<Void> predecessor) {
        predecessorSettled = predecessor;
        questionUnderWay = false;
        if (reply == null) {
            lateAnswer = LateAnswer.UNKNOWN;
        } else {
            boolean alive = reply instanceof Reply.Owner || reply instanceof Reply.Queued;
            lateAnswer = alive ? LateAnswer.ALIVE : LateAnswer.NOT_ALIVE;
        }
        if (state == State.ENDED) {
            onEndAnswered(true);
        }
    }

    /** @param unknownId whether Redis did not know the id, so that what a late answer showed came to life after the end */
    private void onEndAnswered(boolean unknownId) {
        state = State.ENDED;
        if (lateAnswer == LateAnswer.UNKNOWN) {
            predecessorSettled.thenRun(this::settle); // not before: the end may have been sent with a next id
        } else if (lateAnswer == LateAnswer.ALIVE && unknownId) {
            settle();
        }
        if (!questionUnderWay) {
            acquisitions.deregister(ending);
        }
    }

    /** Ends the id again until Redis answers: by unlock if it was granted, else by cancel. */
    CompletableFuture<Void> settle() {
        return grant != null
                ? acquisitions.settleUnlock(name, ending.id, grant.lastToken())
                : acquisitions.settleCancel(name, ending.id);
    }

    private long lastToken() {
        return grant == null ? 0 : grant.lastToken();
    }
}
