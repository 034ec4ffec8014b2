package io.github.lockboot;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

/**
 * A {@link NamedLock} or {@link Lease} of this library, with listeners for code that runs under it, and a release in two steps.
 * Not for applications.
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
     * @param stay how long the lock stays taken, as with {@link Lease#closeAfter}; zero for not at all
     * @return waits until the release is answered, and throws what those methods throw then
     */
    Runnable release(Duration stay);

    /** Whether one command may take both: they are of one registry, and this one is exclusive and not in use there. */
    default boolean canJoin(LockScope first) {
        return false;
    }

    /**
     * Runs an action on this thread, and sends together what it asks about locks of this registry.
     *
     * @return false if that cannot be; then the action has not run
     */
    default boolean together(Runnable asking) {
        return false;
    }

    /**
     * Begins to ask once whether the lock is free for the current thread.
     *
     * @param interruptible whether an interrupt ends the wait for the answer; if not, the flag is set again
     * @return waits for the answer, and returns null or fails with {@link LockNotAcquiredException}
     */
    default Callable<@Nullable Lease> attempt(boolean interruptible) {
        throw new UnsupportedOperationException();
    }

    /** Asks once whether the lock is free. {@return fails with {@link LockNotAcquiredException} if not} */
    default CompletableFuture<Lease> attemptAsync() {
        throw new UnsupportedOperationException();
    }
}
