package io.github.lockboot.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

import io.github.lockboot.DistributedLock;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.aop.InvalidLockDefinitionException.Finding;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.internal.Troubleshooting;
import org.apache.commons.logging.Log;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.PriorityOrdered;
import org.springframework.util.function.SingletonSupplier;

/**
 * Fails the start of an application with one list of all that is wrong with its {@link DistributedLock} methods, those
 * of lazy beans included. Warns of those of a child context that has no proxies.
 *
 * <p>It is the first post-processor of the factory, so that {@link LockedBeans} sees also the beans that others need.
 */
public final class DistributedLockValidator
        implements BeanFactoryPostProcessor,
                PriorityOrdered,
                SmartInitializingSingleton,
                ApplicationListener<ContextRefreshedEvent> {

    private static final Log log = Logs.of(DistributedLockValidator.class);

    private final DistributedLockAdvisor advisor;
    private final ConfigurableListableBeanFactory beanFactory;
    private final LockedBeans beans;
    private final Supplier<Map<String, LockOptions>> overrides;
    private final Set<String> groups = new TreeSet<>();
    private final NamelessKeys nameless = new NamelessKeys();

    /**
     * @param advisor finds and parses the annotations
     * @param beanFactory has the beans to check
     * @param overrides what {@code lock.locks} sets, by {@link LockOptions#group()}; called once, when all singletons
     *     exist
     */
    public DistributedLockValidator(
            DistributedLockAdvisor advisor,
            ConfigurableListableBeanFactory beanFactory,
            Supplier<Map<String, LockOptions>> overrides) {
        this.advisor = advisor;
        this.beanFactory = beanFactory;
        this.beans = new LockedBeans(advisor, beanFactory);
        this.overrides = SingletonSupplier.of(overrides);
    }

    /** {@return whether there are locked methods; known when all singletons exist} */
    public boolean hasLockedMethods() {
        return !groups.isEmpty();
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory own) {
        own.addBeanPostProcessor(beans);
    }

    /**
     * {@inheritDoc}
     *
     * @throws InvalidLockDefinitionException if anything is wrong with the annotations
     * @throws RuntimeException if there is no template for them
     */
    @Override
    public void afterSingletonsInstantiated() {
        Set<String> overridden = overrides.get().keySet();
        List<Finding> findings = new ArrayList<>();
        Set<Class<?>> seen = new HashSet<>();
        for (String beanName : beanFactory.getBeanDefinitionNames()) {
            Class<?> type = beans.typeOf(beanName);
            Set<Method> methods = type == null ? Set.of() : beans.methodsOf(type);
            if (type != null && !methods.isEmpty() && !beans.isReplaced(beanName, type)) {
                check(beanName, type, methods, seen.add(type), findings);
            }
        }
        InvalidLockDefinitionException.throwIfAny(findings);
        beans.checked();
        if (hasLockedMethods()) {
            advisor.getAdvice().template();
            nameless.warn();
        }
        for (String group : overridden) {
            if (!groups.contains(group)) {
                logUnused(group);
            }
        }
    }

    /** Code may use the group, which is not known before it runs. */
    private void logUnused(String group) {
        String unused = "lock.locks.[" + group + "] matches no @DistributedLock here";
        groups.stream()
                .filter(used -> lettersOf(used).equals(lettersOf(group)) || used.endsWith("." + group))
                .findFirst()
                .ifPresentOrElse(
                        used -> log.warn(unused + "; did you mean lock.locks.[" + used + "]?"),
                        () -> log.info(unused + ", so it is only for LockOptions.withGroup(\"" + group
                                + "\") or a LeaderElection"));
    }

    private static String lettersOf(String text) {
        return text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}]", "");
    }

    private void check(String beanName, Class<?> type, Set<Method> methods, boolean first, List<Finding> findings) {
        Object bean = beanFactory.getSingleton(beanName);
        boolean interfaceProxy = bean != null && Proxy.isProxyClass(bean.getClass());
        for (Method method : methods) {
            LockedMethod locked = new LockedMethod(method, type, findings);
            if (first || bean != null) {
                ProxyReach.check(locked, beanName, beanFactory.getMergedBeanDefinition(beanName), interfaceProxy);
            }
            if (first) {
                checkDefinitions(locked);
            }
        }
        beans.checkCircle(beanName, type, findings);
        if (beans.isBare(bean, type)) {
            new LockedMethod(methods.iterator().next(), type, findings)
                    .add(
                            "is never locked, because bean '" + beanName
                                    + "' was created before proxies were available",
                            "do not inject it into a BeanPostProcessor or BeanFactoryPostProcessor");
        }
    }

    private void checkDefinitions(LockedMethod locked) {
        MethodLocks locks;
        try {
            locks = advisor.getAdvice().locksOf(locked.method(), locked.targetClass());
        } catch (InvalidLockDefinitionException invalid) {
            locked.findings().addAll(invalid.getFindings());
            return;
        }
        nameless.add(locked, locks.definitions());
        for (LockDefinition definition : locks.definitions()) {
            groups.add(Objects.requireNonNull(definition.options().group()));
            if (definition.isOfDefaultRegistry()) {
                checkInRegistry(locked, definition);
            }
        }
    }

    private void checkInRegistry(LockedMethod locked, LockDefinition definition) {
        LockOptions asked = definition.options();
        LockOptions first = overrides.get().getOrDefault(asked.group(), LockOptions.defaults());
        Duration wait = first.waitTime();
        if (definition.isOfJob() && (first.permits() != null || wait != null && !wait.isZero())) {
            locked.add(
                    "is a job for one instance, and lock.locks.[" + asked.group() + "]"
                            + (first.permits() != null ? ".permits" : ".wait-time") + " lets several run each tick",
                    "remove that property");
        }
        try {
            if (advisor.getAdvice().template().registry() instanceof LockRuntime registry) {
                registry.check(asked);
            }
        } catch (IllegalArgumentException refusal) {
            locked.add("has options that its registry refuses", String.valueOf(refusal.getMessage()));
        }
    }

    /**
     * A context also publishes its events to its ancestors. A context with a validator of its own needs nothing here.
     */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() instanceof ConfigurableApplicationContext context
                && context.getBeanFactory() != beanFactory
                && context.getBean(DistributedLockValidator.class) == this) {
            LockedBeans descendants = new LockedBeans(advisor, context.getBeanFactory());
            for (String beanName : context.getBeanDefinitionNames()) {
                Class<?> type = descendants.typeOf(beanName);
                if (type != null && descendants.isBare(context.getBeanFactory().getSingleton(beanName), type)) {
                    descendants.methodsOf(type).stream().findFirst().ifPresent(method -> warn(method, type, beanName));
                }
            }
        }
    }

    private static void warn(Method method, Class<?> type, String beanName) {
        log.warn("@DistributedLock has no effect on " + new LockedMethod(method, type) + ", because bean '" + beanName
                + "' is in a child context without LockAutoConfiguration. Import it there, or move the bean to the parent"
                + " context; see " + Troubleshooting.PAGE + "a-bean-of-a-child-context-is-not-locked");
    }
}
