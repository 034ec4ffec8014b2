package io.github.lockboot.internal;

import org.jspecify.annotations.Nullable;

/** Checks for beans that are mocks, whose methods return null where they otherwise never do. */
public final class Mocks {

    /** The problem with a mock of a registry. */
    public static final String NO_LOCK = "LockRegistry returned no lock";

    private Mocks() {}

    /**
     * {@return what a bean returned}
     *
     * @throws IllegalStateException with the problem, if it returned null
     */
    public static <T> T nonNull(@Nullable T returned, String problem) {
        if (returned == null) {
            throw new IllegalStateException(problem + ", as a mock does that is not stubbed: set lock.type=memory in"
                    + " the test, or stub the mock; see " + Troubleshooting.PAGE
                    + "it-compiles-and-does-not-lock");
        }
        return returned;
    }
}
