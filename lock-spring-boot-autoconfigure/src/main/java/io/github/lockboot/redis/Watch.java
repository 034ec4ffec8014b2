package io.github.lockboot.redis;

import io.github.lockboot.LockScope.Body;
import org.jspecify.annotations.Nullable;

/** What listeners are told of one use of a lock. Nothing, unless there are any. */
interface Watch {

    /** Of a use that nobody listens to. */
    Watch NONE = new Watch() {};

    default void acquired(Hold hold) {}

    default void notAcquired() {}

    default void abandoned() {}

    default void followed() {}

    default void unavailable() {}

    /** Runs the action with what listeners put around it. */
    default <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        return action.run();
    }

    default void released(boolean known) {}

    // --- on the listeners' thread, without blocking the caller's -------------------------------------------------

    default void lost(String reason) {}

    default void stuck() {}

    default void renewed() {}

    default void renewalFailed() {}
}
