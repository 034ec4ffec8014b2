package io.github.lockboot.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;

import io.github.lockboot.LockOptions;
import io.github.lockboot.autoconfigure.LockProperties.StartupCheck;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry.Finding;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.SmartLifecycle;

/**
 * Looks at the real Redis once per start. To warn, it does so beside the application a second after all of that has started; to fail, before
 * the web server takes requests.
 */
class LockStartupCheck implements SmartLifecycle {

    private static final Log log = LogFactory.getLog(LockStartupCheck.class);

    /** Before it looks beside the application, so that it takes nothing from the rest of the start. */
    private static final long PAUSE_MILLIS = 1_000;

    private final LockProperties properties;
    private final Supplier<List<LockOptions>> used;
    private final Supplier<Collection<RedisLockRegistry>> registries;
    private final Supplier<Collection<RedisLockRegistry>> madeRegistries;
    private volatile @Nullable Thread looking;
    private volatile boolean running;

    /**
     * @param used what annotated methods ask for
     * @param registries all, made for this if they are lazy
     * @param madeRegistries those that have been made
     */
    LockStartupCheck(
            LockProperties properties,
            Supplier<List<LockOptions>> used,
            Supplier<Collection<RedisLockRegistry>> registries,
            Supplier<Collection<RedisLockRegistry>> madeRegistries) {
        this.properties = properties;
        this.used = used;
        this.registries = registries;
        this.madeRegistries = madeRegistries;
    }

    @Override
    public void start() {
        running = true;
        if (properties.startupCheck() == StartupCheck.FAIL) {
            failOrWarn(findings());
        } else if (properties.startupCheck() == StartupCheck.WARN) {
            Thread thread = new Thread(this::lookAndWarn, "lock-startup-check");
            thread.setDaemon(true);
            looking = thread;
            thread.start();
        } else {
            introduce();
        }
    }

    private void lookAndWarn() {
        try {
            Thread.sleep(PAUSE_MILLIS);
            List<Finding> findings = findings();
            if (running) {
                introduce();
                findings.forEach(LockStartupCheck::warn);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException failure) {
            if (running) {
                log.warn("The start-up check of locks failed", failure);
            }
        }
    }

    private void failOrWarn(List<Finding> findings) {
        introduce();
        List<Finding> certain = findings.stream().filter(Finding::certain).toList();
        if (!certain.isEmpty()) {
            throw new UnfitForLocksException(certain);
        }
        findings.forEach(LockStartupCheck::warn);
    }

    /** One line for each registry, after Redis has told its version if it is asked at all. */
    private void introduce() {
        madeRegistries.get().forEach(registry -> log.info("Distributed locks on " + registry));
    }

    private static void warn(Finding finding) {
        log.warn(finding);
    }

    private List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        checkLeases(findings);
        registries.get().forEach(registry -> findings.addAll(registry.check()));
        return findings;
    }

    /** {@code lock.ttl} itself was looked at when it was bound. */
    private void checkLeases(List<Finding> findings) {
        Duration timeout = properties.commandTimeout();
        TreeMap<String, Duration> shortest = new TreeMap<>();
        for (LockOptions options : used.get()) {
            Duration ttl = options.ttl();
            String group = options.group();
            if (ttl != null && group != null && ttl.compareTo(timeout) <= 0) {
                shortest.merge(group, ttl, (one, other) -> one.compareTo(other) < 0 ? one : other);
            }
        }
        shortest.forEach((group, ttl) -> findings.add(new Finding(
                true,
                "The ttl of " + group + " (" + text(ttl) + ") is not more than lock.redis.command-timeout ("
                        + text(timeout) + "), so one slow command outlasts a lease",
                "raise " + LockProperties.propertyOf(group) + ".ttl or the annotation's, or lower"
                        + " lock.redis.command-timeout")));
    }

    private static String text(Duration duration) {
        return DurationStyle.SIMPLE.print(duration);
    }

    @Override
    public void stop() {
        running = false;
        Thread thread = looking;
        if (thread != null) {
            thread.interrupt();
        }
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
