package io.github.lockboot.autoconfigure;

import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.observability.LockMdc;
import io.github.lockboot.observability.LockMetrics;
import io.github.lockboot.observability.LockObservations;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration for reports of locks: metrics and, on request, observations ({@code lock.observations.enabled})
 * and the logging context ({@code lock.mdc}).
 */
@AutoConfiguration(
        after = LockAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnProperty(name = "lock.enabled", matchIfMissing = true)
public final class LockObservabilityAutoConfiguration {

    LockObservabilityAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnSingleCandidate(MeterRegistry.class)
    static class Metrics {

        @Bean
        @ConditionalOnMissingBean
        LockMetrics lockbootLockMetrics(MeterRegistry registry) {
            return new LockMetrics(registry);
        }

        /** By the clock of each election, without a command. */
        @Bean
        @ConditionalOnBean(type = "io.github.lockboot.leader.LeaderElection")
        static SmartInitializingSingleton lockbootLeaderGauges(
                MeterRegistry registry, ObjectProvider<LeaderElection> elections) {
            return () -> elections.forEach(
                    election -> Gauge.builder("lock.leader", election, each -> each.isLeader() ? 1 : 0)
                            .description("Whether this instance leads")
                            .tag("role", election.role())
                            .register(registry));
        }

        /** Spring Boot would also time the observations, although these metrics measure the same. */
        @Bean
        @ConditionalOnProperty("lock.observations.enabled")
        static MeterFilter lockbootObservationMeterFilter() {
            return MeterFilter.denyNameStartsWith("lock.execution");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ObservationRegistry.class)
    @ConditionalOnProperty("lock.observations.enabled")
    @ConditionalOnSingleCandidate(ObservationRegistry.class)
    static class Observations {

        @Bean
        @ConditionalOnMissingBean
        LockObservations lockbootLockObservations(ObservationRegistry registry) {
            return new LockObservations(registry);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.slf4j.MDC")
    @ConditionalOnProperty("lock.mdc")
    static class LoggingContext {

        @Bean
        LockMdc lockbootLockMdc(LockProperties properties) {
            return new LockMdc(properties.logKeys());
        }
    }
}
