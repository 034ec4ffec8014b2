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
 * Ends locks with the application. As soon as it begins to close, before anything else stops, nobody waits any more: requests
 * that did would hold up the web server. After the web server and the executors have stopped, and before
 * connection factories do, what is still held has a while to be released.
 *
 * <p>A context that is only stopped, to be started again, keeps its locks.
 */
class LockShutdown implements ApplicationListener<ContextClosedEvent>, SmartLifecycle {

    /** After connection factories (0) at the start, before web server and executors; the other way round at the stop. */
    static final int PHASE = 1_024;

    private final ApplicationContext context;
    private final Supplier<Collection<RedisLockRegistry>> registries;
    private final Duration gracePeriod;
    private volatile boolean closing;
    private volatile boolean running;

    /** @param registries those that have been made by then */
    LockShutdown(ApplicationContext context, Supplier<Collection<RedisLockRegistry>> registries, Duration gracePeriod) {
        this.context = context;
        this.registries = registries;
        this.gracePeriod = gracePeriod;
    }

    /** Contexts tell their parents, too. */
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
