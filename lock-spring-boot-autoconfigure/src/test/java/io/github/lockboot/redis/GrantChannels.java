package io.github.lockboot.redis;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.redis.RedisLockInspector.Notification;

/** What tests await of a registry's channel. */
public final class GrantChannels {

    private GrantChannels() {}

    /**
     * Opens the channel of a registry. A release passes over who waits before it is live, as at the start of an
     * application.
     *
     * @return the registry, whose channel is live
     */
    public static RedisLockRegistry open(RedisLockRegistry registry) {
        if (!isLive(registry)) {
            CompletableFuture<?> connection = registry.connect();
            Actor.await("it has connected or failed to", connection::isDone); // the channel goes on trying
            Actor.await("its channel is live", () -> isLive(registry));
        }
        return registry;
    }

    /** {@return whether the channel is live; false while Redis cannot be asked} */
    public static boolean isLive(RedisLockRegistry registry) {
        try {
            return registry.inspector().check() == Notification.LIVE;
        } catch (LockUnavailableException unavailable) {
            return false;
        }
    }
}
