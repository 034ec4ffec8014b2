package io.github.lockboot.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.autoconfigure.LockProperties.StartupCheck;
import io.github.lockboot.internal.Logs;
import io.github.lockboot.redis.Finding;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Connects an application that uses locks before it accepts requests, reports the problems found, and logs one line for
 * each registry. It includes registries that the application defines.
 *
 * <p>Without Redis, startup continues as soon as connecting has failed. While Redis does not answer, startup waits for
 * at most two seconds, and the report comes later. In FAIL mode it waits for the report, and every problem fails
 * startup. If Redis does not acknowledge grants as the properties demand, startup fails in WARN mode, too.
 */
class LockStartup {

    private static final long LONGEST_CONNECT_SECONDS = 2;

    private static final Log log = Logs.of(LockStartup.class);

    private final ConfigurableApplicationContext context;
    private final StartupCheck check;
    private final boolean connects;
    private final AtomicBoolean closing;

    /**
     * @param lockedMethods whether there are annotated methods
     * @param closing whether the context begins to close, after which nothing is reported
     */
    LockStartup(
            ConfigurableApplicationContext context,
            LockProperties properties,
            boolean lockedMethods,
            AtomicBoolean closing) {
        this.context = context;
        this.check = properties.startupCheck();
        this.connects = check == StartupCheck.FAIL
                || check == StartupCheck.WARN && properties.redis().acknowledge() != Acknowledge.NONE
                || properties.redis().connectAtStartup() && (lockedMethods || isAnyLockInjected());
        this.closing = closing;
    }

    /** Code that gets a registry from the context is not known before it runs. */
    private boolean isAnyLockInjected() {
        for (Class<?> type : List.of(LockRegistry.class, LockTemplate.class)) {
            for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(context, type, false, false)) {
                if (context.getBeanFactory().getDependentBeans(name).length > 0) {
                    return true;
                }
            }
        }
        return false;
    }

    void run() {
        if (!connects) {
            report(List.of(), null);
        } else if (check == StartupCheck.FAIL) {
            List<Finding> findings = connected().join();
            report(List.of(), null);
            if (!findings.isEmpty()) {
                throw new LockStartupException(findings);
            }
        } else {
            connect();
        }
    }

    /** After a stop, before which Redis was checked. Waits for nothing. */
    void runAgain() {
        if (connects) {
            toConnect()
                    .forEach(name ->
                            context.getBean(name, RedisLockRegistry.class).connect());
        }
    }

    private void connect() {
        List<Finding> findings = List.of();
        try {
            findings = connected().whenComplete(this::report).get(LONGEST_CONNECT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException notYet) {
            log.debug("Locks are not connected yet", notYet);
        } catch (RuntimeException notBegun) {
            report(null, notBegun);
        }
        for (Finding finding : findings) {
            if (finding.fatal()) {
                throw new LockStartupException(finding.problem(), finding.action());
            }
        }
    }

    /** Connects the registries of parent contexts, too. They check their own. */
    private CompletableFuture<List<Finding>> connected() {
        List<CompletableFuture<List<Finding>>> all = new ArrayList<>();
        for (String name : toConnect()) {
            RedisLockRegistry registry = context.getBean(name, RedisLockRegistry.class);
            all.add(
                    context.containsLocalBean(name) && check != StartupCheck.OFF
                            ? registry.check()
                            : registry.connect().handle((none, failure) -> List.of()));
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new))
                .thenApply(none -> all.stream()
                        .flatMap(each -> each.join().stream())
                        .distinct()
                        .toList());
    }

    private List<String> toConnect() {
        return Stream.of(names(context))
                .filter(name -> !context.containsLocalBean(name) || isToBeReported(name))
                .toList();
    }

    /** The line of a registry has the version of Redis if the check has read it. */
    private void report(@Nullable List<Finding> findings, @Nullable Throwable failure) {
        if (closing.get()) {
            return;
        }
        if (findings == null) {
            log.warn("The startup check of locks failed", failure);
            return;
        }
        for (String name : names(context)) {
            if (context.containsLocalBean(name) && isToBeReported(name)) {
                log.info("Distributed locks on "
                        + context.getBean(name, RedisLockRegistry.class).describe());
            }
        }
        for (Finding finding : findings) {
            log.warn(finding.toString());
        }
    }

    /** Where nothing connects or checks it, a lazy registry stays as it is. */
    private boolean isToBeReported(String name) {
        return check != StartupCheck.OFF && connects || context.getBeanFactory().containsSingleton(name);
    }

    /** {@return the names of the registries, including those of parent contexts} */
    static String[] names(ConfigurableApplicationContext context) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(context, RedisLockRegistry.class, false, false);
    }
}
