package io.github.lockboot.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.github.lockboot.internal.Logs;
import io.github.lockboot.redis.RedisLockRegistry;
import org.apache.commons.logging.Log;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Starts locks with the application, by {@link LockStartup}, and ends them with it, including those of registries that
 * the application defines.
 *
 * <p>As soon as the context begins to close, all waits end, because waiting requests would delay the shutdown of the
 * web server. After the web server and executors have stopped, and before connection factories do, the locks still held
 * have the grace period to be released. A context that is stopped without being closed keeps its locks. When it is
 * started again, locks connect again.
 */
class LockLifecycle implements ApplicationListener<ContextClosedEvent>, SmartLifecycle {

    /** Starts after connection factories (0) and before the web server and executors, and stops in reverse order. */
    private static final int PHASE = 1_024;

    private static final Log log = Logs.of(LockLifecycle.class);

    private final ConfigurableApplicationContext context;
    private final LockProperties properties;
    private final BooleanSupplier lockedMethods;
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean running;
    private boolean started;

    /** @param lockedMethods whether there are annotated methods */
    LockLifecycle(ConfigurableApplicationContext context, LockProperties properties, BooleanSupplier lockedMethods) {
        this.context = context;
        this.properties = properties;
        this.lockedMethods = lockedMethods;
    }

    /** A context also publishes its events to its parents. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() == context) {
            closing.set(true);
            running = true; // a context that was stopped before is to be stopped once more, which waits for its locks
            registriesToClose().forEach(RedisLockRegistry::stopGranting);
        }
    }

    @Override
    public void start() {
        running = true;
        LockStartup startup = new LockStartup(context, properties, lockedMethods.getAsBoolean(), closing);
        if (started) {
            startup.runAgain();
        } else {
            started = true;
            startup.run();
        }
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public void stop(Runnable callback) {
        stop();
        Stream<RedisLockRegistry> held = closing.get() ? registriesToClose() : Stream.empty();
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

    /** The registries that exist, except those that the context must not close. */
    private Stream<RedisLockRegistry> registriesToClose() {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        return Stream.of(LockStartup.names(context))
                .filter(name -> beans.containsSingleton(name)
                        && beans.containsBeanDefinition(name)
                        && !"".equals(beans.getBeanDefinition(name).getDestroyMethodName()))
                .map(name -> context.getBean(name, RedisLockRegistry.class));
    }
}
