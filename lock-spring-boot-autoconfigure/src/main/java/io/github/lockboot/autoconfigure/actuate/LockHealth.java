package io.github.lockboot.autoconfigure.actuate;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.github.lockboot.redis.RedisLockInspector.Notification;
import io.github.lockboot.redis.RedisLockRegistry;

/** Checks whether locks are available, for the health indicators of both Spring Boot lines. */
final class LockHealth {

    private final Collection<RedisLockRegistry> registries;

    LockHealth(Collection<RedisLockRegistry> registries) {
        this.registries = registries;
    }

    /**
     * Asks Redis through every registry.
     *
     * @return details of the health
     * @throws io.github.lockboot.LockUnavailableException if Redis does not answer one of the registries
     */
    Map<String, Object> check() {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("notification", text(Notification.UNUSED));
        for (RedisLockRegistry registry : registries) {
            Notification notification = registry.inspector().check();
            if (notification == Notification.CUT) {
                details.put("degraded", "the channel is not subscribed: waiters only poll");
            }
            if (notification != Notification.UNUSED) {
                details.put("notification", text(notification));
            }
        }
        return details;
    }

    private static String text(Notification notification) {
        return notification.name().toLowerCase(Locale.ROOT);
    }
}
