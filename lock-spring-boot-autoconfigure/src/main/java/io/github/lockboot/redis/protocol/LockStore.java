package io.github.lockboot.redis.protocol;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * Where the locks are kept: one method for each question, asked for one acquisition id. An id is used for one acquisition only, and each
 * question may be asked twice, late, or in vain. No method blocks. If a future fails, the question may have been answered, may be answered
 * later, or never.
 */
public interface LockStore {

    /** The longest lease of a grant that a message tells. */
    long CLAIM_LEASE_MILLIS = 6_000;

    /** The number of tokens that belong to one grant, its own included. */
    long TOKENS_PER_GRANT = 65_536;

    /** Takes or renews the lock, or queues the id: {@code OWNER}, {@code QUEUED} or {@code BUSY}. */
    CompletableFuture<Reply> acquire(String name, String id, long ttlMillis, boolean enqueue);

    /** Releases the lock, which the next id in the queue gets: {@code RELEASED}, {@code HANDED_OVER} or {@code NOT_OWNER}. */
    CompletableFuture<Reply> unlock(String name, String id, long lastToken);

    /** As {@link #unlock(String, String, long)}, and queues another id: {@code OWNER}, {@code QUEUED} or {@code NOT_OWNER}. */
    CompletableFuture<Reply> unlock(String name, String id, long lastToken, String nextId, long nextTtlMillis);

    /** Prolongs the lease of the grant with this token: {@code RENEWED} or {@code NOT_OWNER}. */
    CompletableFuture<Reply> renew(String name, String id, long token, long ttlMillis);

    /** Leaves the queue, or gives away what was granted meanwhile: {@code LEFT}, {@code GIVEN_AWAY} or {@code UNKNOWN}. */
    CompletableFuture<Reply> cancel(String name, String id);

    /** Releases the lock and empties the queue: {@code COMPLETED} or {@code NOT_OWNER}. */
    CompletableFuture<Reply> complete(String name, String id, long lastToken);

    /** Changes nothing: {@code FREE}, {@code HELD} or {@code FOREIGN}. */
    CompletableFuture<Reply> inspect(String name);

    /** {@return the name of the lock that a message is about; null if its key is no lock of this store} */
    @Nullable
    String nameOf(String key);

    /** {@return a number that changes whenever questions under way may have been asked twice} */
    long epoch();
}
