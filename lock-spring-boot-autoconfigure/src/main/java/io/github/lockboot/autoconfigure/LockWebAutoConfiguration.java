package io.github.lockboot.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigureOrder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;

/**
 * Auto-configuration for the answers of Spring MVC and WebFlux to requests that end without a lock. It is the last one,
 * so that an advice of any other comes first.
 */
@AutoConfiguration(after = LockAutoConfiguration.class)
@AutoConfigureOrder(Ordered.LOWEST_PRECEDENCE)
@ConditionalOnWebApplication
@ConditionalOnClass(name = "org.springframework.http.ProblemDetail")
@ConditionalOnBean(LockProperties.class)
public final class LockWebAutoConfiguration {

    LockWebAutoConfiguration() {}

    @Bean
    @ConditionalOnProperty(name = "lock.web.problem-details", matchIfMissing = true)
    LockProblemAdvice lockbootLockProblemAdvice(ApplicationContext messages, LockProperties properties) {
        return new LockProblemAdvice(messages, properties.logKeys());
    }
}
