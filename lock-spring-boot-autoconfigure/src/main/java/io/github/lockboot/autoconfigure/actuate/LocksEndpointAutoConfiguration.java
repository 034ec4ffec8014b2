package io.github.lockboot.autoconfigure.actuate;

import java.time.InstantSource;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the actuator endpoints {@code locks}, of this instance, and {@code lock}, of Redis. */
@AutoConfiguration(after = LockAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnProperty(name = "lock.enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(LockRegistry.class)
public final class LocksEndpointAutoConfiguration {

    LocksEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnAvailableEndpoint
    LocksEndpoint lockbootLocksEndpoint(
            @Value("${lock.log-keys:false}") boolean namesShown, ListableBeanFactory beans) {
        return new LocksEndpoint(namesShown, InstantSource.system(), beans);
    }

    @Bean
    @ConditionalOnAvailableEndpoint
    LockStateEndpoint lockbootLockEndpoint(
            ApplicationContext beans,
            @Value("${lock.log-keys:false}") boolean namesShown,
            @Value("${lock.endpoint.force-release:false}") boolean forceRelease) {
        return new LockStateEndpoint(beans, namesShown, forceRelease);
    }
}
