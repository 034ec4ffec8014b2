package io.github.lockboot;

import org.jspecify.annotations.Nullable;

/**
 * A {@link NamedLock} or {@link Lease} of this library, which runs actions within what listeners set up around them. Not for
 * applications.
 */
public interface LockScope {

    /**
     * Runs an action as part of the hold, on the calling thread, after {@link LockListener#entering}. Neither takes nor releases the
     * lock; without a hold it just runs.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param action what runs
     * @return what the action returns
     * @throws E what the action throws
     */
    <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E;

    /**
     * As {@link #call(Body)}, where the hold may be that of another library.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param hold a lock or lease
     * @param action what runs
     * @return what the action returns
     * @throws E what the action throws
     */
    static <T extends @Nullable Object, E extends Throwable> T call(Object hold, Body<T, E> action) throws E {
        return hold instanceof LockScope scope ? scope.call(action) : action.run();
    }

    /**
     * What runs under a hold.
     *
     * @param <T> what it returns
     * @param <E> what it throws
     */
    @FunctionalInterface
    interface Body<T extends @Nullable Object, E extends Throwable> {

        /**
         * Runs.
         *
         * @return what the caller gets
         * @throws E what the caller gets, too
         */
        T run() throws E;
    }
}
