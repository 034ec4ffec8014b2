package io.github.lockboot.autoconfigure.actuate;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.github.lockboot.autoconfigure.LockAutoConfiguration;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.redis.RedisLockInspector.Notification;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration for the health of locks, on Spring Boot 3 and 4, which have the same types in other packages.
 * Spring Boot makes the name of the component from that of the bean. A contributor of the application with that name
 * replaces it.
 */
@AutoConfiguration(after = LockAutoConfiguration.class)
@ConditionalOnBean(RedisLockRegistry.class)
public final class LockHealthAutoConfiguration {

    LockHealthAutoConfiguration() {}

    private static final String MESSAGE = "Locks are unavailable";

    /**
     * Sends a command to Redis through every registry.
     *
     * @return details of the health
     * @throws io.github.lockboot.LockUnavailableException if Redis does not answer one of the registries
     */
    static Map<String, Object> check(ListableBeanFactory beans) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("notification", "unused");
        for (RedisLockRegistry registry : beans.getBeanProvider(RedisLockRegistry.class)) {
            Notification notification = registry.inspector().check();
            if (notification != Notification.UNUSED && !details.containsKey("degraded")) {
                details.put("notification", notification.name().toLowerCase(Locale.ROOT));
            }
            if (notification == Notification.CUT) {
                details.put("degraded", "the channel is not subscribed: waiters only poll");
            }
        }
        Map<String, Boolean> leaders = new TreeMap<>();
        for (LeaderElection election : beans.getBeanProvider(LeaderElection.class)) {
            leaders.put(election.role(), election.isLeader());
        }
        if (!leaders.isEmpty()) {
            details.put("leaders", leaders);
        }
        return details;
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator")
    static class Boot3 {

        @Bean
        @org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator("lock")
        @ConditionalOnMissingBean(name = {"lockHealthIndicator", "lockHealthContributor"})
        org.springframework.boot.actuate.health.HealthIndicator lockHealthIndicator(ListableBeanFactory beans) {
            return new org.springframework.boot.actuate.health.AbstractHealthIndicator(MESSAGE) {
                @Override
                protected void doHealthCheck(org.springframework.boot.actuate.health.Health.Builder builder) {
                    builder.up().withDetails(check(beans));
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator")
    static class Boot4 {

        @Bean
        @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator("lock")
        @ConditionalOnMissingBean(name = {"lockHealthIndicator", "lockHealthContributor"})
        org.springframework.boot.health.contributor.HealthIndicator lockHealthIndicator(ListableBeanFactory beans) {
            return new org.springframework.boot.health.contributor.AbstractHealthIndicator(MESSAGE) {
                @Override
                protected void doHealthCheck(org.springframework.boot.health.contributor.Health.Builder builder) {
                    builder.up().withDetails(check(beans));
                }
            };
        }
    }
}
