package io.github.lockboot.autoconfigure;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.observability.LockEventPublisher;
import io.github.lockboot.observability.LockMdc;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Adds all {@link LockListener} beans to all registries, and defines two such beans. */
@Configuration(proxyBeanMethods = false)
class LockListenerConfiguration {

    /** Runs after all singletons exist, so that a listener may use locks itself. */
    @Bean
    static SmartInitializingSingleton distributedLockListenerRegistrar(ListableBeanFactory beanFactory) {
        return () -> beanFactory
                .getBeansOfType(LockRegistry.class)
                .values()
                .forEach(registry -> beanFactory
                        .getBeanProvider(LockListener.class)
                        .orderedStream()
                        .forEach(registry::addListener));
    }

    /** Listens to the registries only if the application listens to its events. */
    @Bean
    static LockEventPublisher distributedLockEventPublisher(ApplicationContext context) {
        return new LockEventPublisher(
                context, () -> context.getBeansOfType(LockRegistry.class).values());
    }

    /** A class of its own, because it cannot be loaded without SLF4J. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.slf4j.MDC")
    @ConditionalOnProperty("lock.mdc")
    static class Mdc {

        @Bean
        LockMdc distributedLockMdc(LockProperties properties) {
            return new LockMdc(properties.logKeys());
        }
    }
}
