package io.github.lockboot.internal;

import java.lang.reflect.Method;

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
            throw new IllegalStateException(problem + ", as an unstubbed mock does: set lock.type=memory in"
                    + " the test, or stub the mock; see " + Troubleshooting.PAGE
                    + "it-compiles-and-does-not-lock");
        }
        return returned;
    }

    /** {@return whether it is a mock or spy of Mockito, which may not be there} */
    public static boolean isMock(Object bean) {
        try {
            ClassLoader classes = bean.getClass().getClassLoader();
            Class<?> mockito = Class.forName("org.mockito.Mockito", true, classes);
            Object details = mockito.getMethod("mockingDetails", Object.class).invoke(null, bean);
            Method isMock =
                    Class.forName("org.mockito.MockingDetails", true, classes).getMethod("isMock");
            return Boolean.TRUE.equals(isMock.invoke(details));
        } catch (ReflectiveOperationException | LinkageError noMockito) {
            return false;
        }
    }
}
