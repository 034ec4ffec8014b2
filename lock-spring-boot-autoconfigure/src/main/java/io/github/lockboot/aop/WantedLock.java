package io.github.lockboot.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockTemplate;
import io.github.lockboot.NamedLock;

/** A lock that a call needs. */
record WantedLock(String name, LockSpec spec) {

    /** The same for all methods of the fleet. Of two alike the one comes first that is kept beyond the call. */
    private static final Comparator<WantedLock> GLOBAL_ORDER = Comparator.comparing(WantedLock::name)
            .thenComparing(wanted -> wanted.spec.registry())
            .thenComparing(wanted -> wanted.spec.keep() == null);

    /** In the order in which they must be taken, each once. */
    static List<WantedLock> inOrder(List<WantedLock> wanted) {
        if (wanted.size() < 2) {
            return wanted;
        }
        List<WantedLock> ordered = new ArrayList<>(wanted.size());
        wanted.stream().sorted(GLOBAL_ORDER).forEach(next -> {
            if (ordered.isEmpty() || !next.isSameAs(ordered.get(ordered.size() - 1))) {
                ordered.add(next);
            }
        });
        return ordered;
    }

    private boolean isSameAs(WantedLock other) {
        return name.equals(other.name) && spec.registry().equals(other.spec.registry());
    }

    /** A handle with the wait time of the template where nothing else is said. */
    NamedLock lock() {
        LockTemplate template = spec.template().get();
        LockOptions options = spec.options();
        return template.registry()
                .get(name, options.waitTime() != null ? options : options.withWaitTime(template.waitTime()));
    }

    CompletableFuture<Lease> acquireAsync(long startNanos) {
        LockRegistry registry = spec.template().get().registry();
        NamedLock lock = lock();
        Duration left = waitLeft(lock, startNanos);
        return registry instanceof LockRuntime runtime
                ? runtime.acquireAsync(lock, left)
                : registry.acquireAsync(name, lock.options().withWaitTime(left));
    }

    /** Whether each of them may still be waited for in a call that began to wait then. */
    static boolean mayWait(List<WantedLock> wanted, long startNanos) {
        return wanted.stream()
                .noneMatch(next -> waitLeft(next.lock(), startNanos).isZero());
    }

    /** How much of the wait time is left for a call that began to wait then. */
    static Duration waitLeft(NamedLock lock, long startNanos) {
        Duration left = Objects.requireNonNull(lock.options().waitTime()).minusNanos(System.nanoTime() - startNanos);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
