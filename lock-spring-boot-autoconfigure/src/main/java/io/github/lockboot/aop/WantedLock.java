package io.github.lockboot.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRegistry;

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

    LockRegistry registry() {
        return spec.template().get().registry();
    }

    /** Whether each of them may still be waited for in a call that began to wait then. */
    static boolean mayWait(List<WantedLock> wanted, long startNanos) {
        return wanted.stream().noneMatch(next -> next.waitLeft(startNanos).isZero());
    }

    /** How much of the wait time is left for a call that began to wait then. */
    Duration waitLeft(long startNanos) {
        return waitLeft(registry().configured(spec.options()), startNanos);
    }

    private Duration waitLeft(LockOptions options, long startNanos) {
        Duration whole = Objects.requireNonNullElseGet(
                options.waitTime(), () -> spec.template().get().waitTime());
        Duration left = whole.minusNanos(System.nanoTime() - startNanos);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** The options for a lease that waits no longer than this call may. */
    LockOptions optionsFor(long startNanos) {
        LockOptions options = registry().configured(spec.options());
        return options.withWaitTime(waitLeft(options, startNanos));
    }
}
