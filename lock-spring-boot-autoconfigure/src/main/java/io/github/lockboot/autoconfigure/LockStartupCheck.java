package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.lockboot.LockOptions;
import io.github.lockboot.autoconfigure.LockProperties.StartupCheck;
import io.github.lockboot.redis.Finding;
import io.github.lockboot.redis.RedisLockRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.SmartLifecycle;

/**
 * Checks once per startup whether Redis is suitable for locks. In WARN mode the check runs on its own thread one second after
 * startup; in FAIL mode before the web server accepts requests.
 */
class LockStartupCheck implements SmartLifecycle {

    private static final Log log = LogFactory.getLog(LockStartupCheck.class);

    private final LockProperties properties;
    private final Supplier<List<LockOptions>> used;
    private final Supplier<Collection<RedisLockRegistry>> registries;
    private volatile boolean running;

    /**
     * @param used the options of annotated methods
     * @param registries the registries to check
     */
    LockStartupCheck(
            LockProperties properties,
            Supplier<List<LockOptions>> used,
            Supplier<Collection<RedisLockRegistry>> registries) {
        this.properties = properties;
        this.used = used;
        this.registries = registries;
    }

    @Override
    public void start() {
        running = true;
        switch (properties.startupCheck()) {
            case WARN ->
                CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, LockStartupCheck::runOnDaemon)
                        .execute(this::warn);
            case FAIL -> failOrWarn();
            case OFF -> report(List.of());
        }
    }

    private static void runOnDaemon(Runnable check) {
        Thread thread = new Thread(check, "lock-startup-check");
        thread.setDaemon(true);
        thread.start();
    }

    private void warn() {
        try {
            List<Finding> findings = running ? findings() : List.of();
            if (running) {
                report(findings);
            }
        } catch (RuntimeException failure) {
            if (running) {
                log.warn("The startup check of locks failed", failure);
            }
        }
    }

    private void failOrWarn() {
        List<Finding> findings = findings();
        List<Finding> certain = findings.stream().filter(Finding::certain).toList();
        report(certain.isEmpty() ? findings : List.of());
        if (!certain.isEmpty()) {
            throw new RedisNotSuitableException(certain);
        }
    }

    /** Logs one line for each registry, with the version of Redis if the check has asked for it. */
    private void report(List<Finding> findings) {
        registries.get().forEach(registry -> log.info("Distributed locks on " + registry));
        findings.forEach(log::warn);
    }

    private List<Finding> findings() {
        Set<Finding> findings = new LinkedHashSet<>();
        // The property lock.ttl itself is validated when it is bound.
        for (LockOptions options : used.get()) {
            Duration ttl = options.ttl();
            String group = options.group();
            if (ttl != null && group != null && ttl.compareTo(properties.commandTimeout()) <= 0) {
                findings.add(shortLease(group, ttl));
            }
        }
        registries.get().forEach(registry -> findings.addAll(registry.check()));
        return List.copyOf(findings);
    }

    private Finding shortLease(String group, Duration ttl) {
        String problem = "The ttl of " + group + " (" + text(ttl) + ") is not more than lock.redis.command-timeout ("
                + text(properties.commandTimeout()) + "), so one slow command outlasts a lease";
        String action = "raise " + LockProperties.propertyOf(group) + ".ttl or the annotation's, or lower"
                + " lock.redis.command-timeout";
        return new Finding(true, problem, action);
    }

    private static String text(Duration duration) {
        return DurationStyle.SIMPLE.print(duration);
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return properties.startupCheck() == StartupCheck.FAIL ? LockShutdown.PHASE : DEFAULT_PHASE;
    }
}
