package io.github.lockboot.internal;

import org.jspecify.annotations.Nullable;

/** Beans of the application that are mocks: methods that never return null do so. */
public final class Mocks {

    /** The problem with a mock of a registry. */
    public static final String NO_LOCK = "LockRegistry gave no lock";

    private Mocks() {}

    /**
     * {@return what a bean returned}
     *
     * @throws IllegalStateException with the problem, if it returned null
     */
    public static <T> T nonNull(@Nullable T returned, String problem) {
        if (returned == null) {
            throw new IllegalStateException(
                    problem + ", as a mock does that is not told what to return: set lock.type=memory in"
                            + " the test instead, or have the mock return one; see " + Troubleshooting.PAGE
                            + "it-compiles-and-does-not-lock");
        }
        return returned;
    }
}
