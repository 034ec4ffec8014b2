package io.github.lockboot.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.aop.CommitCheck;
import io.github.lockboot.aop.DistributedLockAdvisor;
import io.github.lockboot.aop.DistributedLockValidator;
import io.github.lockboot.aop.LockProxyRegistrar;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Auto-configuration for distributed locks: on the application's Redis, with {@code lock.redis.*} on a Redis for locks
 * only, or with {@code lock.type=memory} in this process.
 *
 * <p>If there are several connection factories, the one qualified as {@code distributedLock} is used, or else the
 * primary one.
 *
 * <p>A {@link LockRegistry} bean of the application replaces the auto-configured one. If there are several, the
 * template and the annotation use the primary one. To define an additional registry, for example on another Redis, use
 * {@code @Bean(defaultCandidate = false)} and a {@code @Qualifier}: it is then injected only where that qualifier is
 * given. The same applies to its connection factory and to a {@link LockTemplate} that uses it.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
        })
@ConditionalOnProperty(name = "lock.enabled", matchIfMissing = true)
@EnableConfigurationProperties(LockProperties.class)
@ImportRuntimeHints(LockRuntimeHints.class)
// In this order: the second has a condition on the first.
@Import({
    MemoryLockConfiguration.class,
    RedisLockConfiguration.class,
    LockProxyRegistrar.class,
    CacheFlightConfiguration.class
})
public final class LockAutoConfiguration {

    LockAutoConfiguration() {}

    /** The name of the bean that is configured by the properties. */
    private static final String REGISTRY = "lockbootLockRegistry";

    private static final String MARK_ONE =
            "annotate one of them with @Primary, or the others with a @Qualifier and @Bean(defaultCandidate = false)";

    /** The advisors of {@code @Transactional}, {@code @Cacheable} and the annotations of JCache. */
    private static final List<String> BELONG_AFTER_LOCKS = List.of(
            "org.springframework.transaction.config.internalTransactionAdvisor",
            "org.springframework.cache.config.internalCacheAdvisor",
            "org.springframework.cache.config.internalJCacheAdvisor");

    @Bean
    @ConditionalOnMissingBean
    LockTemplate lockbootLockTemplate(ObjectProvider<LockRegistry> registries, BeanFactory beans) {
        LockRegistry single = single(registries, "LockRegistry", MARK_ONE);
        if (single != null) {
            return new LockTemplate(single);
        }
        throw beans.containsBean(REGISTRY)
                ? new LockStartupException(
                        "Distributed locks need a LockRegistry bean, but bean '" + REGISTRY + "' is not one",
                        "give that bean another name, or define a LockRegistry bean")
                : new LockStartupException(
                        "Distributed locks need Spring Data Redis, which is not on the class path",
                        "add spring-boot-starter-data-redis, define a LockRegistry bean, set lock.type=memory in tests,"
                                + " or set lock.enabled=false");
    }

    /**
     * {@return the only or the primary bean; null if there is none}
     *
     * @param action what to do if there are several
     */
    static <T> @Nullable T single(ObjectProvider<T> beans, String type, String action) {
        T single = beans.getIfUnique();
        if (single == null && beans.stream().findAny().isPresent()) {
            throw new LockStartupException(
                    "Distributed locks found several " + type + " beans, but none of them is primary", action);
        }
        return single;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DistributedLockAdvisor lockbootLockAdvisor(
            ConfigurableListableBeanFactory beanFactory,
            ObjectProvider<LockTemplate> template,
            ObjectProvider<LockProperties> properties,
            Environment environment) {
        PropertyCheck.rejectMistaken(environment); // before binding, whose error message would be less helpful
        return new DistributedLockAdvisor(
                beanFactory,
                () -> Objects.requireNonNull(single(template, "LockTemplate", MARK_ONE)),
                () -> order(properties.getObject().aop().order(), beanFactory));
    }

    /** The default order is before transactions and caches, even if the application has given these an order. */
    private static int order(int order, ConfigurableListableBeanFactory beanFactory) {
        int least = order;
        for (String name : order == DistributedLockAdvisor.DEFAULT_ORDER ? BELONG_AFTER_LOCKS : List.<String>of()) {
            if (beanFactory.containsBean(name)
                    && !beanFactory.isCurrentlyInCreation(name)
                    && beanFactory.getBean(name) instanceof Ordered after
                    && after.getOrder() <= least) {
                least = Math.max(after.getOrder(), Ordered.HIGHEST_PRECEDENCE + 1) - 1;
            }
        }
        return least;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static DistributedLockValidator lockbootLockValidator(
            DistributedLockAdvisor advisor,
            ConfigurableListableBeanFactory beanFactory,
            ObjectProvider<LockProperties> properties) {
        return new DistributedLockValidator(
                advisor,
                beanFactory,
                () -> hasRegistry(beanFactory) ? properties.getObject().overrides() : Map.of());
    }

    /**
     * Whether the default registry is configured by the properties. A registry of the application has its own options.
     */
    static boolean hasRegistry(ListableBeanFactory beans) {
        boolean local = beans.getBeanNamesForType(LockRegistry.class, true, false).length > 0;
        return !local
                        && beans instanceof HierarchicalBeanFactory child
                        && child.getParentBeanFactory() instanceof ListableBeanFactory parent
                ? hasRegistry(parent)
                : beans.containsBeanDefinition(REGISTRY);
    }

    /**
     * Adds all {@link LockListener} beans to all registries. <strong>In a parent context, a listener is also called
     * after its own context is closed</strong>: a registry has no way to remove it. Runs after all singletons exist, so
     * that a listener may use locks itself.
     */
    @Bean
    static SmartInitializingSingleton lockbootLockListenerRegistrar(ApplicationContext context) {
        return () -> {
            List<LockListener> listeners =
                    context.getBeanProvider(LockListener.class).orderedStream().toList();
            BeanFactoryUtils.beansOfTypeIncludingAncestors(context, LockRegistry.class)
                    .values()
                    .forEach(registry -> listeners.forEach(registry::addListener));
        };
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.transaction.TransactionExecutionListener")
    static class Transactions {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static CommitCheck lockbootCommitCheck() {
            return new CommitCheck();
        }
    }
}
