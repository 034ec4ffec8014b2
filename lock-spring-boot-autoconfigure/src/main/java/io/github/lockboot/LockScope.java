package io.github.lockboot;

import org.jspecify.annotations.Nullable;

/** A {@link NamedLock} or {@link Lease} of this library, with listeners for code that runs under it. Not for applications. */
public interface LockScope {

    /**
     * Calls {@link LockListener#entering}, if the lock is held.
     *
     * @return what to run on this thread afterwards; null for nothing
     */
    @Nullable
    Runnable enter();
}
