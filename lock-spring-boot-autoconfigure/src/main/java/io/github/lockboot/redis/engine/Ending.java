package io.github.lockboot.redis.engine;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.redis.protocol.Reply;
import org.jspecify.annotations.Nullable;

/**
 * How an acquisition id ends in Redis: by {@code unlock}, {@code complete} or {@code cancel}, sent once, and settled until Redis
 * answers if that outcome is unknown, or if a late answer shows the id alive. Like its {@link Acquisition} it is used with the
 * mutex of the queue held, and nothing blocks.
 */
final class Ending {

    private static final CompletableFuture<Void> SETTLED = CompletableFuture.completedFuture(null);

    private final LockEngine engine;
    private final Acquisition acquisition;
    private final String name;
    private final String id;
    private volatile boolean unknown;
    private boolean answered;
    private boolean seenAlive;
    private boolean unsure;
    private CompletableFuture<Void> predecessorSettled = SETTLED;

    Ending(LockEngine engine, Acquisition acquisition) {
        this.engine = engine;
        this.acquisition = acquisition;
        this.name = acquisition.queue().name();
        this.id = acquisition.id;
    }

    /**
     * Gives the lock back, and with a next id queues that one in the same step.
     *
     * @return whether the lock was still ours, once that is known
     */
    CompletableFuture<Boolean> unlock(long lastToken, @Nullable Acquisition next) {
        Moment sentAt = engine.now();
        long epoch = engine.store().epoch();
        CompletableFuture<Reply> answer = next == null
                ? engine.store().unlock(name, id, lastToken)
                : engine.store().unlock(name, id, lastToken, next.id, next.terms.ttlMillis());
        return answer.handle((reply, failure) -> {
            unknown = reply == null;
            CompletableFuture<Void> settled = unknown ? settle() : SETTLED;
            acquisition.queue().onEvent(() -> {
                onAnswer(reply instanceof Reply.NotOwner);
                if (next != null) {
                    next.onPredecessorUnlocked(reply, failure, sentAt, settled);
                }
            });
            return isIntact(reply, epoch);
        });
    }

    /**
     * Gives the lock back to nobody: all who wait in Redis leave the queue, and those of them who follow are told.
     *
     * @return whether the lock was still ours, once that is known
     */
    CompletableFuture<Boolean> complete(long lastToken) {
        long epoch = engine.store().epoch();
        return engine.store().complete(name, id, lastToken).handle((reply, failure) -> {
            unknown = reply == null;
            if (unknown) {
                settle();
            }
            acquisition.queue().onEvent(() -> onAnswer(reply instanceof Reply.NotOwner));
            return isIntact(reply, epoch);
        });
    }

    /**
     * Leaves the queue in Redis; a lock granted by then is given away.
     *
     * @return completes when Redis has answered, or has not
     */
    CompletableFuture<Void> cancel() {
        // A copy of the predecessor's unlock that runs later queues this id anew.
        if (!predecessorSettled.isDone()) {
            predecessorSettled.thenRun(this::settle);
        }
        return engine.store().cancel(name, id).handle((reply, failure) -> {
            if (reply == null) {
                settle();
            }
            acquisition.queue().onEvent(() -> onAnswer(reply instanceof Reply.Unknown));
            return null;
        });
    }

    /** Whatever has been sent, Redis is told until it answers. */
    void abandon() {
        predecessorSettled.thenRun(this::settle);
        onAnswer(false);
    }

    /** Redis need not be told: it does not know the id, or has given the lock to another. */
    void drop() {
        onAnswer(false);
    }

    /** The unlock that queued this id has been answered, or is being settled. */
    void setPredecessorSettled(CompletableFuture<Void> settled) {
        predecessorSettled = settled;
    }

    boolean isPredecessorSettled() {
        return predecessorSettled.isDone();
    }

    /** Whether Redis did not answer when the lock was given back. May be read without the mutex. */
    boolean isUnknown() {
        return unknown;
    }

    boolean isAnswered() {
        return answered;
    }

    /** The end was sent before this answer came; in Redis they may have run in either order, or the question not yet. */
    void onLateAnswer(@Nullable Reply reply) {
        seenAlive = reply instanceof Reply.Owner || reply instanceof Reply.Queued;
        unsure = reply == null;
        if (unsure && answered) {
            predecessorSettled.thenRun(this::settle);
        } else if (seenAlive && answered) {
            settle();
        }
        if (answered) {
            engine.deregister(acquisition);
        }
    }

    /** Has the id ended until Redis says so: by unlock once it was granted, else by cancel. */
    CompletableFuture<Void> settle() {
        return acquisition.hasOwned()
                ? engine.settler().unlock(name, id, acquisition.grant().lastToken())
                : engine.settler().cancel(name, id);
    }

    /** @param inVain whether Redis did not know the id, so that what an earlier answer showed came to life after the end */
    private void onAnswer(boolean inVain) {
        answered = true;
        if (unsure) {
            predecessorSettled.thenRun(this::settle); // not before: the end may have been sent with a next id
        } else if (inVain && seenAlive) {
            settle();
        }
        if (!acquisition.isAsking()) {
            engine.deregister(acquisition);
        }
    }

    /**
     * NOT_OWNER to a command that may have been sent twice answers our own second copy; after the deadline it may only tell that
     * the command came late.
     */
    private boolean isIntact(@Nullable Reply reply, long epochSentIn) {
        return !(reply instanceof Reply.NotOwner)
                || epochSentIn != engine.store().epoch()
                || acquisition.grant().isOver(engine.nanoTime());
    }
}
