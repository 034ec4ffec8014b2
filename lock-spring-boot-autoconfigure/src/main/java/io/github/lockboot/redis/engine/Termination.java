package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.redis.protocol.LockStore;
import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * The end of an acquisition id in Redis.
 *
 * <pre>
 *   unlock, complete, cancel          answered, or left to the settler
 *   ────────────────────────▶ SENT ────────────────────────────────────▶ ANSWERED ──┐ a late answer shows the id
 *   drop: nothing is sent; abandon: left to the settler ─────────────────▶   ▲      │ alive, or may: settled
 *                                                                            └──────┘
 * </pre>
 *
 * <ul>
 *   <li>SENT: the command that ends the id is sent, once. What was granted is given away with it.
 *   <li>ANSWERED: Redis has answered, or the settler repeats the end until it does. A question or a renewal of the acquisition may
 *       still be under way, and may run in Redis after the end. If its answer shows the id alive, the id is ended once more. The id is
 *       forgotten here when no question is under way any more.
 * </ul>
 *
 * <p>Used with the mutex of the queue held, and none of it blocks.
 */
final class Termination {

    private enum State {
        SENT,
        ANSWERED
    }

    /** What the answer to a question says that came after the end was sent. */
    private enum LateAnswer {
        NONE,
        NOT_ALIVE,
        ALIVE,
        UNKNOWN
    }

    private final Acquisitions acquisitions;
    private final Acquisition.Owner owner;
    private final Acquisition ending;
    private final @Nullable Grant grant;
    private State state = State.SENT;
    private boolean dropped;
    private boolean questionUnderWay;
    private LateAnswer lateAnswer = LateAnswer.NONE;
    private CompletableFuture<Void> predecessorSettled;

    /**
     * @param grant what the id was granted, if it was
     * @param questionUnderWay whether it has asked, and was not answered
     * @param predecessorSettled done when the unlock that queued the id has been answered, or has been settled
     */
    Termination(
            Acquisitions acquisitions,
            Acquisition.Owner owner,
            Acquisition ending,
            @Nullable Grant grant,
            boolean questionUnderWay,
            CompletableFuture<Void> predecessorSettled) {
        this.acquisitions = acquisitions;
        this.owner = owner;
        this.ending = ending;
        this.grant = grant;
        this.questionUnderWay = questionUnderWay;
        this.predecessorSettled = predecessorSettled;
    }

    /** Gives the lock back, and with a next id queues that one in the same step. */
    CompletableFuture<ReleaseOutcome> unlock(Grant held, @Nullable Acquisition next) {
        Moment sentAt = acquisitions.context().now();
        LockStore store = acquisitions.store();
        long epoch = store.epoch();
        CompletableFuture<Reply> sent = next == null
                ? store.unlock(owner.name(), ending.id, held.lastToken())
                : store.unlock(owner.name(), ending.id, held.lastToken(), next.id, next.terms.ttlMillis());
        return sent.handle((reply, failure) -> {
            CompletableFuture<Void> settled = reply == null ? settle() : CompletableFuture.completedFuture(null);
            owner.onEvent(() -> {
                answered(reply == Reply.Plain.NOT_OWNER);
                if (next != null) {
                    next.onPredecessorUnlocked(reply, failure, sentAt, settled);
                }
            });
            return outcomeOf(reply, epoch, held);
        });
    }

    /** Gives the lock back to nobody: all who wait in Redis leave the queue, and those of them who follow are told. */
    CompletableFuture<ReleaseOutcome> complete(Grant held) {
        LockStore store = acquisitions.store();
        long epoch = store.epoch();
        return store.complete(owner.name(), ending.id, held.lastToken()).handle((reply, failure) -> {
            if (reply == null) {
                settle();
            }
            owner.onEvent(() -> answered(reply == Reply.Plain.NOT_OWNER));
            return outcomeOf(reply, epoch, held);
        });
    }

    /**
     * NOT_OWNER to a command that may have been sent twice answers our own second copy; after the deadline, by either clock, it may
     * only tell that the command came late.
     */
    private ReleaseOutcome outcomeOf(@Nullable Reply reply, long epochSentIn, Grant held) {
        if (reply == null) {
            return ReleaseOutcome.UNKNOWN;
        }
        boolean lost = reply == Reply.Plain.NOT_OWNER
                && epochSentIn == acquisitions.store().epoch()
                && !held.isOver(acquisitions.context().nanoTime())
                && !held.isInDoubt(acquisitions.context().wallMillis());
        return lost ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED;
    }

    /**
     * Leaves the queue in Redis; a lock granted by then is given away.
     *
     * @return completes when Redis has answered or the command has failed
     */
    CompletableFuture<Void> cancel() {
        // A copy of the predecessor's unlock that runs later queues this id anew.
        if (!predecessorSettled.isDone()) {
            predecessorSettled.thenRun(this::settle);
        }
        return acquisitions.store().cancel(owner.name(), ending.id).handle((reply, failure) -> {
            if (reply == null) {
                settle();
            }
            owner.onEvent(() -> answered(reply == Reply.Plain.UNKNOWN));
            return null;
        });
    }

    /** Redis need not be told: it does not know the id, or has given the lock to another. */
    void drop() {
        dropped = true;
        answered(false);
    }

    /** Whatever has been sent: the settler tells Redis until it answers. */
    void abandon() {
        predecessorSettled.thenRun(this::settle);
        answered(false);
    }

    /**
     * A renewal is answered that was under way. Redis may have prolonged a lease that has ended here.
     *
     * @param certainly whether it has
     */
    void onLateRenewal(boolean certainly) {
        if (state == State.ANSWERED && (certainly || dropped)) {
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
        if (state == State.ANSWERED) {
            answered(true);
        }
    }

    /** @param inVain whether Redis did not know the id, so that what a late answer showed came to life after the end */
    private void answered(boolean inVain) {
        state = State.ANSWERED;
        if (lateAnswer == LateAnswer.UNKNOWN) {
            predecessorSettled.thenRun(this::settle); // not before: the end may have been sent with a next id
        } else if (lateAnswer == LateAnswer.ALIVE && inVain) {
            settle();
        }
        if (!questionUnderWay) {
            acquisitions.deregister(ending);
        }
    }

    /** Has the id ended until Redis says so: by unlock if it was granted, else by cancel. */
    CompletableFuture<Void> settle() {
        return grant != null
                ? acquisitions.settler().unlock(owner.name(), ending.id, grant.lastToken())
                : acquisitions.settler().cancel(owner.name(), ending.id);
    }
}
