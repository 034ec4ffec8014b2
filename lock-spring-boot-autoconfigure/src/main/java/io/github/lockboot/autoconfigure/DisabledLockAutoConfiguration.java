package io.github.lockboot.autoconfigure;

import io.github.lockboot.internal.Logs;
import org.apache.commons.logging.Log;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/** Logs a warning that locking is disabled. */
@AutoConfiguration
@ConditionalOnProperty(name = "lock.enabled", havingValue = "false")
final class DisabledLockAutoConfiguration {

    private static final Log log = Logs.of(DisabledLockAutoConfiguration.class);

    DisabledLockAutoConfiguration() {
        log.warn("lock.enabled=false: methods with @DistributedLock and @ScheduledLock run without a lock");
    }
}
