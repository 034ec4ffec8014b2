package io.github.lockboot.autoconfigure;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextClosedEvent;

/** Locks in the memory of this process, for tests. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "lock.type", havingValue = "memory")
class MemoryLockConfiguration {

    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    MemoryLockRegistry lockbootLockRegistry(LockProperties properties) {
        Logs.of(MemoryLockRegistry.class)
                .warn("Locks are in the memory of this process (lock.type=memory): for tests only");
        return new MemoryLockRegistry(properties.options(), properties.overrides(), properties.maxHolders());
    }

    /** Ends all waits as soon as the context of a registry begins to close, as with locks on Redis. */
    @Bean
    @Lazy(false)
    ApplicationListener<ContextClosedEvent> lockbootLockShutdown(ApplicationContext context) {
        return event -> {
            if (event.getApplicationContext() == context) {
                context.getBeansOfType(MemoryLockRegistry.class).values().forEach(MemoryLockRegistry::stopGranting);
            }
        };
    }
}
