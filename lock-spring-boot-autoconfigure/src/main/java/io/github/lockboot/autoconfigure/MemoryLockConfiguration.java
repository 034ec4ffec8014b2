package io.github.lockboot.autoconfigure;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Locks of this process alone, for tests. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "lock.type", havingValue = "memory")
class MemoryLockConfiguration {

    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    MemoryLockRegistry distributedLockRegistry(LockProperties properties) {
        LogFactory.getLog(MemoryLockRegistry.class)
                .warn("Locks are in the memory of this process (lock.type=memory): for tests only");
        return new MemoryLockRegistry(properties.options());
    }
}
