package io.github.lockboot.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import io.github.lockboot.engine.LockRequest.Terms;
import org.jspecify.annotations.Nullable;

/**
 * The store of locks. An id is used for one acquisition only. A request may arrive twice, late, or never. No method
 * blocks. If a future fails, the request may have been answered, or may be answered later.
 *
 * <p>A store keeps three promises, on which the engine builds all others:
 *
 * <ul>
 *   <li>Each request is one step: nobody sees half of it.
 *   <li>A request that arrives twice, or after the end of its id, grants nothing and releases nothing that another
 *       holds.
 *   <li>Grant numbers of a name only grow, also if the store has lost its data.
 * </ul>
 */
public interface LockStore {

    /** The number of the format in which the store keeps a lock. */
    int FORMAT = 1;

    /**
     * The claim lease: the longest lease of a grant by a push. A waiter that has died delays the next ones by no more
     * than this. The first renewal extends the lease to the whole ttl, so a short hold needs no command for that.
     */
    long CLAIM_LEASE_MILLIS = 6_000;

    /** The number of tokens of an exclusive grant, including the first. */
    long TOKENS_PER_GRANT = 65_536;

    /** The number of tokens of a grant of a permit: while it is held, others are granted, with larger tokens. */
    long TOKENS_PER_PERMIT = 64;

    /** What sends the requests, and what a caller has to know of it. By default, it sends each request once. */
    interface Client {

        /**
         * {@return whether a lease counts only once replicas, or a file, have it} Then only the answers to
         * {@link #acquire} and {@link #renew} count: they come once that is so, or fail. Any other news of a grant is
         * only a reason to ask.
         */
        default boolean acknowledges() {
            return false;
        }

        /**
         * {@return whether requests wait for the first connection} Until it is made, or has failed, no request expires.
         */
        default boolean isConnecting() {
            return false;
        }

        /** {@return whether a command that failed in this way has run} */
        default StoreFailure failureOf(@Nullable Throwable failure) {
            return StoreFailure.UNKNOWN;
        }

        /** {@return why a request has no answer yet} */
        default Throwable whyUnanswered() {
            return isConnecting()
                    ? new StoreFailure.NotConnectedException("the connection is still being made", null)
                    : new TimeoutException("there was no answer yet");
        }

        /**
         * {@return whether it announces that another has changed a lock, once after each renewal} Announcements may be
         * lost, come late or without a change.
         */
        default boolean announcesChanges() {
            return false;
        }

        /** {@return a number that changes whenever requests under way may have been sent twice} */
        default long epoch() {
            return 0;
        }

        /**
         * {@return whether a request that was sent in this epoch may have been sent twice} If not, its reply is the one
         * to the first copy.
         */
        default boolean mayHaveRepeatedSince(long epoch) {
            return epoch() != epoch;
        }
    }

    /** A hold: the id that has it, the number of its grant, and the last token used under the id. */
    record Held(String id, long grantNumber, long lastToken) {}

    /**
     * Takes or renews the lock, or queues the id. {@code GRANTED}, if the client {@link Client#acknowledges} only once
     * that is acknowledged, {@code QUEUED} or {@code BUSY}.
     *
     * <p>If there is a hold that is to be taken over, the id gets it instead, with a new lease, also a shorter one; if
     * the id has it already, its lease is extended. If the id itself is the one that has it, the lease stays as it is,
     * and on shared terms an exclusive hold becomes a shared one, under which waiting readers are admitted.
     * {@code GRANTED}, as above and also if all this is so already, or {@code NOT_HOLDER}.
     *
     * @param held the hold that is taken over, or the id's own that becomes shared; null if there is none
     */
    CompletableFuture<Reply> acquire(String name, String id, Terms terms, boolean enqueue, @Nullable Held held);

    /** What a release does besides, in the same step. */
    sealed interface Next {

        /** Before the release, it queues the next id, on the same or other terms. */
        record Queued(String id, Terms terms) implements Next {}

        /**
         * The lock stays taken for the given time, whatever the lease was, without an id that any command could renew
         * or release; by readers, as one holder until the latest of their times. An id with another grant number stays
         * as it is.
         */
        record Kept(long grantNumber, long millis) implements Next {}
    }

    /**
     * Ends an id: it releases the lock, which is granted to the first waiters that may hold it now, or leaves the
     * queue. {@code GRANTED_NEXT}, or {@code RELEASED} if there are none; {@code GRANTED} or {@code QUEUED} for a next
     * id; {@code KEPT}; or {@code NOT_HOLDER}, also if it was in the queue.
     *
     * @param lastToken the last token used under the id; 0 if none was
     */
    CompletableFuture<Reply> release(String name, String id, long lastToken, @Nullable Next next);

    /** What an id has been granted, and the ttl for which its lease is to go on. */
    record Grant(String id, long grantNumber, long ttlMillis) {}

    /**
     * Extends the lease of a grant, or of several permits of the lock. {@code RENEWED}, if the client
     * {@link Client#acknowledges} only once that is acknowledged, or {@code NOT_HOLDER}; for several grants,
     * {@link Reply.All} with such a reply for each.
     *
     * @param late gets the reply if it comes after the future has failed; a reply is as true then
     */
    CompletableFuture<Reply> renew(String name, List<Grant> grants, Consumer<Reply> late);

    /** Changes nothing. {@code SHOWN}. */
    CompletableFuture<Reply> show(String name);

    /** {@return the name of the lock with this key; null if it is not a key of this store} */
    @Nullable
    String nameOf(String key);

    /** {@return what messages call this store} */
    String displayName();

    /** {@return what sends the requests} */
    Client client();
}
