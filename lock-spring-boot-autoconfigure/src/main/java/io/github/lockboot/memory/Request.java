package io.github.lockboot.memory;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.LockOptions;
import org.jspecify.annotations.Nullable;

/**
 * One who wants a lock.
 *
 * @param registry through which it is asked for
 * @param thread that will own the hold; null if it will belong to whoever has it
 * @param options with nothing left open
 * @param deadline until when it waits
 * @param use what listeners are told of it, and of its hold
 * @param completed has the one told that a holder has completed, which ends the wait; null if it waits on
 * @param answer the hold, null when refused, or a failure; decided once, under the mutex, by whoever takes the request out of
 *     its slot
 */
record Request(
        MemoryLockRegistry registry,
        String name,
        @Nullable Thread thread,
        LockOptions options,
        long deadline,
        @Nullable Runnable completed,
        MemoryUse use,
        CompletableFuture<@Nullable MemoryHold> answer) {

    boolean isFrom(MemoryLockRegistry asking, Thread asker) {
        return registry == asking && thread == asker;
    }
}
