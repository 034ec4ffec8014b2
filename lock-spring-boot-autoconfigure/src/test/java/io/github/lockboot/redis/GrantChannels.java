package io.github.lockboot.redis;

import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.redis.RedisLockInspector.Notification;

/** What tests await of a registry's channel. */
public final class GrantChannels {

    private GrantChannels() {}

    /** {@return whether the channel is live; false while Redis cannot be asked} */
    public static boolean isLive(RedisLockRegistry registry) {
        try {
            return registry.inspector().check() == Notification.LIVE;
        } catch (LockUnavailableException unavailable) {
            return false;
        }
    }
}
