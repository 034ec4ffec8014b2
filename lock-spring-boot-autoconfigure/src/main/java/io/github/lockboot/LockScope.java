package io.github.lockboot;

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
     * @return waits until the release is answered, and throws what those methods throw then
     */
    Runnable release();

    /** Whether it has not been lost. If only the time of day says so, the next renewal decides. */
    default boolean canBeKept() {
        return false;
    }
}
