package io.github.lockboot.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/** Logs a warning that locking is disabled. */
@AutoConfiguration
@ConditionalOnProperty(name = "lock.enabled", havingValue = "false")
final class DisabledLockAutoConfiguration {

    private static final Log log = LogFactory.getLog(DisabledLockAutoConfiguration.class);

    DisabledLockAutoConfiguration() {
        log.warn("lock.enabled=false: methods with @DistributedLock and @ScheduledLock run without a lock");
    }
}
