package io.github.lockboot;

import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Troubleshooting;

/** Checks that code runs under a {@link DistributedLock}. */
public final class LockAssert {

    private LockAssert() {}

    /**
     * Fails if no annotated method runs on this thread, or its lock is no longer held.
     *
     * @throws IllegalStateException if so
     */
    public static void assertLocked() {
        assertValid(LockContext.current());
    }

    /**
     * Fails if no annotated method runs under that lock on this thread, or it is no longer held.
     *
     * @param name the whole name, key included
     * @throws IllegalStateException if so
     */
    public static void assertLocked(String name) {
        assertValid(LockContext.current(name));
    }

    private static void assertValid(LockContext context) {
        if (!context.isValid()) {
            throw new IllegalStateException("lock '" + LockNames.printable(context.name())
                    + "' is no longer held, because it was lost: end the method; see " + Troubleshooting.PAGE
                    + "locklostexception");
        }
    }
}
