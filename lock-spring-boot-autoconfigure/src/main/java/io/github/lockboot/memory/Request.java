package io.github.lockboot.memory;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.LockOptions;
import io.github.lockboot.registry.UseNotifier;
import org.jspecify.annotations.Nullable;

/**
 * A request for a lock.
 *
 * @param name the name of the lock
 * @param registry the identity of the registry that was asked
 * @param thread the thread that will own the hold; null for a lease
 * @param options with nothing left open
 * @param start when it was made
 * @param deadline until when it waits
 * @param follows whether the wait also ends when a holder completes
 * @param use notifies listeners of the request and its hold
 * @param answer the hold, or null if a holder has completed, or the failure; completed under the mutex, once the request is in no
 *     slot any more
 */
record Request(
        String name,
        Object registry,
        @Nullable Thread thread,
        LockOptions options,
        long start,
        long deadline,
        boolean follows,
        UseNotifier use,
        CompletableFuture<@Nullable Hold> answer) {

    boolean isFrom(Object askedRegistry, Thread asker) {
        return registry == askedRegistry && thread == asker;
    }
}
