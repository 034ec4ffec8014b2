package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * A {@link NamedLock} or {@link Lease} of this library, with listeners for code that runs under it, and a release in
 * two steps. Not for applications.
 */
public interface LockScope {

    /**
     * Calls {@link LockListener#entering}, if the lock is held.
     *
     * @return what to run on this thread afterwards; null for nothing
     */
    @Nullable
    Runnable enter();

    /**
     * Begins to release it: {@link NamedLock#unlock} or {@link Lease#close} without the wait.
     *
     * @param stay how long the lock is kept, as with {@link Lease#closeAfter}; zero for not at all
     * @return waits until the release is answered, and throws what those methods throw then
     */
    Runnable beginRelease(Duration stay);

    /** The scope of a {@link NamedLock}. */
    interface OfLock extends LockScope {

        /** {@return the wait time of the options of the lock} */
        Duration waitTime();

        /**
         * As {@link NamedLock#tryLock(long, java.util.concurrent.TimeUnit)}.
         *
         * @param wait how long to wait; zero or less tries once
         * @return null if the thread has the lock
         * @throws InterruptedException if interrupted before or during the wait
         */
        @Nullable
        LockNotAcquiredException tryAcquire(Duration wait) throws InterruptedException;

        /**
         * Requests the lock once for the current thread, as {@link NamedLock#tryLock()} does, without waiting for the
         * answer. Listeners are not notified of a refusal, because the caller requests the lock again.
         *
         * @param interruptible whether an interrupt ends the wait for the answer; if not, the flag is set again
         * @return waits for the answer on the same thread, and returns null or fails with
         *     {@link LockNotAcquiredException}
         */
        Callable<@Nullable Lease> attempt(boolean interruptible);

        /**
         * As {@link #attempt} for a lease that belongs to no thread. {@return fails with
         * {@link LockNotAcquiredException} on a refusal}
         */
        CompletableFuture<Lease> attemptAsync();
    }
}
