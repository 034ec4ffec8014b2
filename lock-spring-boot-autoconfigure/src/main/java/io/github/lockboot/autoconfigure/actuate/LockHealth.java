package io.github.lockboot.autoconfigure.actuate;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.github.lockboot.redis.RedisLockInspector.Notification;
import io.github.lockboot.redis.RedisLockRegistry;

/** Checks whether locks are available, for the health indicators of both Spring Boot lines. */
final class LockHealth {

    private LockHealth() {}

    /**
     * Asks Redis through every registry.
     *
     * @return details of the health
     * @throws io.github.lockboot.LockUnavailableException if Redis does not answer one of the registries
     */
    static Map<String, Object> check(Collection<RedisLockRegistry> registries) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("notification", "unused");
        for (RedisLockRegistry registry : registries) {
            Notification notification = registry.inspector().check();
            if (notification != Notification.UNUSED) {
                details.put("notification", notification.name().toLowerCase(Locale.ROOT));
            }
            if (notification == Notification.CUT) {
                details.put("degraded", "the channel is not subscribed: waiters only poll");
            }
        }
        return details;
    }
}
