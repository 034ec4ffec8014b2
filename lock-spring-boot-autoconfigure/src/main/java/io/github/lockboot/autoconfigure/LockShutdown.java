package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.lockboot.redis.RedisLockRegistry;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Ends locks with the application. As soon as the context begins to close, all waits end, because waiting requests would delay
 * the shutdown of the web server. After the web server and executors have stopped, and before connection factories do, the
 * locks still held have the grace period to be released.
 *
 * <p>A context that is stopped without being closed keeps its locks.
 */
class LockShutdown implements ApplicationListener<ContextClosedEvent>, SmartLifecycle {

    /** Starts after connection factories (0) and before the web server and executors, and stops in reverse order. */
    static final int PHASE = 1_024;

    private final ApplicationContext context;
    private final Supplier<Collection<RedisLockRegistry>> registries;
    private final Duration gracePeriod;
    private volatile boolean closing;
    private volatile boolean running;

    /** @param registries the registries that exist when it is called */
    LockShutdown(ApplicationContext context, Supplier<Collection<RedisLockRegistry>> registries, Duration gracePeriod) {
        this.context = context;
        this.registries = registries;
        this.gracePeriod = gracePeriod;
    }

    /** A context publishes the event to its parents, too. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (event.getApplicationContext() == context) {
            closing = true;
            registries.get().forEach(RedisLockRegistry::stopGranting);
        }
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public void stop(Runnable callback) {
        stop();
        if (!closing) {
            callback.run();
            return;
        }
        CompletableFuture<?>[] drained = registries.get().stream()
                .map(registry -> registry.drain(gracePeriod))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(drained).whenComplete((none, failure) -> callback.run());
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
