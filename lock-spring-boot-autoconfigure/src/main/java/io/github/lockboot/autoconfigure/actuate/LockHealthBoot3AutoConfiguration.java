package io.github.lockboot.autoconfigure.actuate;

import java.util.Map;

import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the health of locks on Spring Boot 3. */
@AutoConfiguration(after = LockAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnEnabledHealthIndicator.class)
@ConditionalOnBean(RedisLockRegistry.class)
public final class LockHealthBoot3AutoConfiguration {

    @Bean
    @ConditionalOnEnabledHealthIndicator("lock")
    @ConditionalOnMissingBean(name = "lockHealthIndicator")
    HealthIndicator lockHealthIndicator(ListableBeanFactory beanFactory) {
        Map<String, RedisLockRegistry> registries = beanFactory.getBeansOfType(RedisLockRegistry.class);
        return new AbstractHealthIndicator("Locks are unavailable") {
            @Override
            protected void doHealthCheck(Health.Builder builder) {
                builder.up().withDetails(LockHealth.check(registries.values()));
            }
        };
    }
}
