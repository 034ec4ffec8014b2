package io.github.lockboot.autoconfigure;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.aop.DistributedLockValidator;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks on the Redis of {@code lock.redis.*}, or else on the application's. A connection factory that is qualified for
 * locks is used as it is; of any other, only the settings are used. Locks are here unless
 * {@link MemoryLockConfiguration} applies, so an empty {@code lock.type} is the default.
 */
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(OwnRedisProperties.class)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnMissingBean(value = MemoryLockConfiguration.class, search = SearchStrategy.CURRENT)
class RedisLockConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(LockRegistry.class)
    RedisLockRegistry lockbootLockRegistry(
            LockProperties properties,
            OwnRedis own,
            @Qualifier("distributedLock") ObjectProvider<RedisConnectionFactory> qualified,
            ObjectProvider<RedisConnectionFactory> connectionFactories) {
        RedisConnectionFactory ofLocks = own.factory();
        RedisConnectionFactory chosen = qualified.getIfUnique();
        if (ofLocks != null && chosen != null) {
            throw new LockStartupException(
                    "Distributed locks have a server of their own and a RedisConnectionFactory bean with"
                            + " @Qualifier(\"distributedLock\")",
                    "remove that bean, or lock.redis.* and the ConnectionDetails bean with that qualifier");
        }
        RedisLockRegistry.Builder registry = ofLocks != null
                ? RedisLockRegistry.builder(ofLocks).configuredBy(OwnRedis.PROPERTIES)
                : chosen != null
                        ? RedisLockRegistry.builder(chosen).sharingConnections()
                        : RedisLockRegistry.builder(single(connectionFactories));
        registry.keyPrefix(properties.keyPrefix())
                .defaults(properties.options())
                .overrides(properties.overrides())
                .retryInterval(properties.retry().interval())
                .retryMinInterval(properties.retry().minInterval())
                .commandTimeout(properties.redis().commandTimeout())
                .acknowledge(properties.redis().acknowledge())
                .localHandoffLimit(properties.localHandoffLimit())
                .maxWaiters(properties.maxWaiters())
                .maxHolders(properties.maxHolders())
                .logKeys(properties.logKeys());
        try {
            return registry.build();
        } catch (IllegalStateException refused) {
            throw new LockStartupException(refused);
        }
    }

    /** Not needed if the application defines the registry. */
    @Bean
    @Lazy
    OwnRedis lockbootOwnRedis(
            OwnRedisProperties properties,
            @Qualifier("distributedLock") ObjectProvider<ConnectionDetails> details,
            ApplicationContext context) {
        return new OwnRedis(properties, details.getIfUnique(), context);
    }

    @Bean
    @Lazy(false)
    LockLifecycle lockbootLockLifecycle(
            ConfigurableApplicationContext context, LockProperties properties, DistributedLockValidator validator) {
        return new LockLifecycle(context, properties, validator::hasLockedMethods);
    }

    private static RedisConnectionFactory single(ObjectProvider<RedisConnectionFactory> connectionFactories) {
        RedisConnectionFactory single = LockAutoConfiguration.single(
                connectionFactories,
                "RedisConnectionFactory",
                "annotate the one for locks with @Qualifier(\"distributedLock\"), or one of them with @Primary");
        if (single == null) {
            throw new LockStartupException(
                    "Distributed locks need a RedisConnectionFactory bean, but there is none",
                    "add spring-boot-starter-data-redis, set lock.redis.url, define the bean or a LockRegistry bean,"
                            + " or set lock.enabled=false");
        }
        return single;
    }
}
