package io.github.lockboot.redis;

import java.time.Duration;

import io.github.lockboot.LockOptions;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** The description of a registry, on one line. */
record Summary(String kindOfRedis, String keyPrefix, LockOptions defaults) {

    /** @param servers product and version, or empty if not known */
    String with(String servers) {
        return (servers.isEmpty() ? "Redis" : LockNames.printable(servers)) + " (" + kindOfRedis
                + "): key prefix '" + LockNames.printable(keyPrefix) + "', ttl " + text(defaults.ttl())
                + (Boolean.TRUE.equals(defaults.renew()) ? ", renewed" : ", not renewed") + ", wait time "
                + text(defaults.waitTime());
    }

    private static String text(@Nullable Duration duration) {
        return duration == null
                ? "-"
                : duration.toMillis() % 1000 == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }
}
