package io.github.lockboot.autoconfigure;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks on the application's Redis. A factory that was qualified for them is theirs, so its connections are used; from
 * any other only the settings are.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnProperty(name = "lock.type", havingValue = "redis", matchIfMissing = true)
class RedisLockConfiguration {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(LockRegistry.class)
    RedisLockRegistry distributedLockRegistry(
            LockProperties properties,
            @Qualifier("distributedLock") ObjectProvider<RedisConnectionFactory> qualified,
            ObjectProvider<RedisConnectionFactory> connectionFactories) {
        RedisConnectionFactory chosen = qualified.getIfUnique();
        RedisLockRegistry.Builder registry = chosen != null
                ? RedisLockRegistry.builder(chosen).sharingConnections()
                : RedisLockRegistry.builder(single(connectionFactories));
        return registry.keyPrefix(properties.keyPrefix())
                .defaults(properties.options())
                .retryInterval(properties.retry().interval())
                .retryMinInterval(properties.retry().minInterval())
                .commandTimeout(properties.commandTimeout())
                .localHandoffLimit(properties.localHandoffLimit())
                .maxWaiters(properties.maxWaiters())
                .build();
    }

    private static RedisConnectionFactory single(ObjectProvider<RedisConnectionFactory> connectionFactories) {
        RedisConnectionFactory single = connectionFactories.getIfUnique();
        if (single != null) {
            return single;
        }
        throw connectionFactories.stream().findAny().isPresent()
                ? new NoRegistryForLocksException(
                        "Distributed locks found several RedisConnectionFactory beans and none of them is primary",
                        "annotate the one for locks with @Qualifier(\"distributedLock\"), or one of them with @Primary")
                : new NoRegistryForLocksException(
                        "Distributed locks need a RedisConnectionFactory bean and there is none",
                        "add spring-boot-starter-data-redis, define the bean or a LockRegistry bean,"
                                + " or set lock.enabled=false");
    }
}
