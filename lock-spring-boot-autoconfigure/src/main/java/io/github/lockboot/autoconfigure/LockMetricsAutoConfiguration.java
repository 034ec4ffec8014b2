package io.github.lockboot.autoconfigure;

import io.github.lockboot.observability.LockMetrics;
import io.github.lockboot.observability.LockObservation;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for metrics of locks. */
@AutoConfiguration(
        after = LockAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnProperty(name = "lock.enabled", matchIfMissing = true)
@ConditionalOnSingleCandidate(MeterRegistry.class)
public final class LockMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LockMetrics distributedLockMetrics(MeterRegistry registry) {
        return new LockMetrics(registry);
    }

    /** Spring Boot would also time the observations, although these metrics measure the same. */
    @Bean
    @ConditionalOnProperty("lock.observations.enabled")
    static MeterFilter distributedLockObservationMeterFilter() {
        return MeterFilter.denyNameStartsWith(LockObservation.EXECUTION.getName());
    }
}
