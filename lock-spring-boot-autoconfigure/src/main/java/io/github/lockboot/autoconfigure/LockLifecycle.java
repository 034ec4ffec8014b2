package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.autoconfigure.LockProperties.StartupCheck;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.redis.Finding;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ApplicationContextEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Connects an application that uses locks before it takes requests, checks once per startup whether Redis is suitable for locks, and
 * ends locks with the application. It covers registries defined by the application as well.
 *
 * <p>Without Redis the start goes on as soon as connecting has failed. While Redis does not answer, it waits for at most two seconds.
 *
 * <p>In WARN mode the check runs on its own thread one second after startup; in FAIL mode before the web server accepts
 * requests. A Redis that refuses to acknowledge grants, although they have to be, fails the startup in both.
 *
 * <p>As soon as the context begins to close, all waits end, because waiting requests would delay the shutdown of the web server.
 * After the web server and executors have stopped, and before connection factories do, the locks still held have the grace
 * period to be released. A context that is stopped without being closed keeps its locks.
 */
class LockLifecycle implements ApplicationListener<ApplicationContextEvent>, SmartLifecycle {

    /** Starts after connection factories (0) and before the web server and executors, and stops in reverse order. */
    private static final int PHASE = 1_024;

    private static final long LONGEST_CONNECT_SECONDS = 2;

    private static final Log log = LogFactory.getLog(LockLifecycle.class);

    private final ConfigurableApplicationContext context;
    private final LockProperties properties;
    private final Supplier<List<LockOptions>> used;
    private volatile boolean running;
    private volatile boolean closing;

    /** @param used the options of annotated methods */
    LockLifecycle(ConfigurableApplicationContext context, LockProperties properties, Supplier<List<LockOptions>> used) {
        this.context = context;
        this.properties = properties;
        this.used = used;
    }

    /** A context publishes its events to its parents, too. */
    @Override
    public void onApplicationEvent(ApplicationContextEvent event) {
        if (event.getApplicationContext() != context) {
            return;
        }
        if (event instanceof ContextClosedEvent) {
            closing = true;
            running = true; // a context that was stopped before is to be stopped once more, which waits for its locks
            registriesToClose().forEach(RedisLockRegistry::stopGranting);
        } else if (event instanceof ContextRefreshedEvent) {
            if (properties.startupCheck() == StartupCheck.WARN) {
                Thread later = Threads.daemons("lock-startup-check").newThread(() -> {
                    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
                    warn();
                });
                later.start();
            } else if (properties.startupCheck() == StartupCheck.OFF) {
                report(List.of());
            } // FAIL: start() has checked
        }
    }

    @Override
    public void start() {
        running = true;
        if (properties.redis().connectAtStartup() && isAnyLockUsed()) {
            connect();
        }
        if (properties.startupCheck() == StartupCheck.FAIL) {
            Set<Finding> findings = findings();
            List<Finding> certain = findings.stream().filter(Finding::certain).toList();
            certain.forEach(findings::remove);
            report(findings);
            if (!certain.isEmpty()) {
                throw new LockStartupException(certain);
            }
        } else if (properties.startupCheck() == StartupCheck.WARN
                && properties.redis().acknowledge() != Acknowledge.NONE) {
            registriesToCheck()
                    .flatMap(registry -> registry.checkAcknowledged().stream())
                    .forEach(refused -> {
                        throw new LockStartupException(refused.problem(), refused.action());
                    });
        }
    }

    /** Code that only asks the context for a registry is not known before it runs. */
    private boolean isAnyLockUsed() {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        boolean any = !used.get().isEmpty();
        for (Class<?> type : List.of(LockRegistry.class, LockTemplate.class)) {
            for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(context, type, false, false)) {
                any |= beans.getDependentBeans(name).length > 0;
            }
        }
        return any;
    }

    /** Connects the registries of parent contexts, too. A failure is left to the check, and to the first lock. */
    private void connect() {
        try {
            CompletableFuture.allOf(registries(name -> isToBeChecked(name) || !context.containsLocalBean(name))
                            .map(RedisLockRegistry::connect)
                            .toArray(CompletableFuture<?>[]::new))
                    .get(LONGEST_CONNECT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException | RuntimeException notConnected) {
            log.debug("Locks are not connected yet", notConnected);
        }
    }

    private void warn() {
        try {
            Set<Finding> findings = closing ? Set.of() : findings();
            if (!closing) {
                report(findings);
            }
        } catch (RuntimeException failure) {
            if (!closing) {
                log.warn("The startup check of locks failed", failure);
            }
        }
    }

    /** Logs one line for each registry, with the version of Redis if a check has read it. */
    private void report(Iterable<Finding> findings) {
        registriesToCheck().forEach(registry -> log.info("Distributed locks on " + registry));
        findings.forEach(log::warn);
    }

    private Set<Finding> findings() {
        Set<Finding> findings = new LinkedHashSet<>();
        Duration timeout = properties.redis().commandTimeout();
        // The property lock.ttl itself is validated when it is bound. A registry of the application has its own
        // timeout.
        for (LockOptions options : LockAutoConfiguration.hasRegistry(context) ? used.get() : List.<LockOptions>of()) {
            Duration ttl = options.ttl();
            String group = options.group();
            if (ttl != null && group != null && ttl.compareTo(timeout) <= 0) {
                String problem = "The ttl of " + group + " (" + PropertyCheck.text(ttl)
                        + ") is not more than lock.redis.command-timeout (" + PropertyCheck.text(timeout)
                        + "), so one slow command outlasts a lease";
                String action = "raise " + LockProperties.propertyOf(group)
                        + ".ttl or the annotation's, or lower lock.redis.command-timeout";
                findings.add(new Finding(true, problem, action));
            }
        }
        registriesToCheck().forEach(registry -> findings.addAll(registry.check()));
        return findings;
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public void stop(Runnable callback) {
        stop();
        Stream<RedisLockRegistry> held = closing ? registriesToClose() : Stream.empty();
        CompletableFuture.allOf(held.map(this::drain).toArray(CompletableFuture<?>[]::new))
                .whenComplete((none, failure) -> callback.run());
    }

    private CompletableFuture<Void> drain(RedisLockRegistry registry) {
        if (registry.inspector().inUse() > 0
                && !properties.shutdownGracePeriod().isZero()) {
            log.info("The shutdown waits up to " + PropertyCheck.text(properties.shutdownGracePeriod())
                    + " for locks to be released (lock.shutdown-grace-period)");
        }
        return registry.drain(properties.shutdownGracePeriod());
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** The parent context checks its own. */
    private Stream<RedisLockRegistry> registriesToCheck() {
        return registries(this::isToBeChecked);
    }

    /** Without a check a lazy registry stays as it is. */
    private boolean isToBeChecked(String name) {
        return context.containsLocalBean(name)
                && (properties.startupCheck() != StartupCheck.OFF
                        || context.getBeanFactory().containsSingleton(name));
    }

    /** The registries that exist, except those that the context must not close. */
    private Stream<RedisLockRegistry> registriesToClose() {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        return registries(name -> beans.containsSingleton(name)
                && beans.containsBeanDefinition(name)
                && !"".equals(beans.getBeanDefinition(name).getDestroyMethodName()));
    }

    private Stream<RedisLockRegistry> registries(Predicate<String> which) {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                        context, RedisLockRegistry.class, false, false))
                .filter(which)
                .map(name -> context.getBean(name, RedisLockRegistry.class));
    }
}
