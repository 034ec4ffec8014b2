package io.github.lockboot.autoconfigure;

import io.github.lockboot.observability.LockObservations;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for observations of locks, which are opt-in: {@code lock.observations.enabled=true}. */
@AutoConfiguration(
        after = LockAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnProperty("lock.observations.enabled")
@ConditionalOnBean(LockProperties.class)
@ConditionalOnSingleCandidate(ObservationRegistry.class)
public final class LockObservationAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LockObservations distributedLockObservations(ObservationRegistry registry) {
        return new LockObservations(registry);
    }
}
