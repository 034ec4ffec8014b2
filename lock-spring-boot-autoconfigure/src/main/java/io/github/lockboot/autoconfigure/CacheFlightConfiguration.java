package io.github.lockboot.autoconfigure;

import java.util.Set;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.autoconfigure.LockProperties.Cache.Unavailable;
import io.github.lockboot.cache.CacheFlights;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.cache.CacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.function.SingletonSupplier;

/** Caches whose loaders run once in all instances. */
@Configuration(proxyBeanMethods = false)
@Conditional(CacheFlightConfiguration.Wanted.class)
class CacheFlightConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CacheFlights lockbootCacheFlights(
            ObjectProvider<LockProperties> properties, ObjectProvider<LockTemplate> template) {
        return new CacheFlights(() -> settings(properties.getObject()), SingletonSupplier.of(template::getObject));
    }

    /** A caller waits for longer than the lease, so that somebody loads if the process that loads dies. */
    private static CacheFlights.Settings settings(LockProperties properties) {
        LockProperties.Cache cache = properties.cache();
        return new CacheFlights.Settings(
                Set.copyOf(cache.sync()),
                cache.unavailable() == Unavailable.LOAD,
                LockOptions.defaults()
                        .withGroup("cache")
                        .withWaitTime(properties.waitTime().plus(properties.ttl())));
    }

    /** Depends on the template, so that locks connect at the start. */
    @Bean
    static SmartInitializingSingleton lockbootCacheCheck(
            CacheFlights flights, LockTemplate template, ObjectProvider<CacheManager> managers) {
        return () -> {
            try {
                flights.check(managers.stream().toList());
            } catch (IllegalStateException refused) {
                throw new LockStartupException(refused);
            }
        };
    }

    /** The property is a text or a list. */
    static final class Wanted implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            return environment.containsProperty("lock.cache.sync")
                    || environment.containsProperty("lock.cache.sync[0]");
        }
    }
}
