package io.github.lockboot.redis.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

import io.github.lockboot.Lease;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Sees who believes that they hold what, and with which tokens. */
final class SimulationWitness {

    private record Held(String who, Lease lease) {}

    private final boolean clockIsTrue;
    private final Map<String, List<Held>> held = new HashMap<>();
    private final Map<String, Long> newest = new HashMap<>();
    private final Set<String> tokens = new HashSet<>();
    private final Set<String> completed = new HashSet<>();

    private @Nullable Throwable swallowed;

    /** @param clockIsTrue whether the clock of Redis is never set, so that holds exclude each other */
    SimulationWitness(boolean clockIsTrue) {
        this.clockIsTrue = clockIsTrue;
    }

    /** The callback, whose failure shows at the next check: a future would swallow it. */
    <T> BiConsumer<T, Throwable> watched(BiConsumer<T, Throwable> callback) {
        return (result, failure) -> {
            try {
                callback.accept(result, failure);
            } catch (AssertionError | RuntimeException found) {
                swallowed = found;
            }
        };
    }

    void acquired(String who, Lease lease) {
        held.computeIfAbsent(lease.name(), n -> new ArrayList<>()).add(new Held(who, lease));
        assertThat(tokens.add(lease.name() + " " + lease.fencingToken()))
                .as("token %d of %s is given once", lease.fencingToken(), lease.name())
                .isTrue();
        Long before = newest.put(lease.name(), lease.fencingToken());
        if (before != null && clockIsTrue && lease.isValid()) {
            assertThat(lease.fencingToken()).as("token of %s", lease.name()).isGreaterThan(before);
        }
    }

    /** A stranger has the lock now. */
    void takenByStranger(String name) {
        if (clockIsTrue) {
            assertThat(held.getOrDefault(name, List.of()))
                    .as("who believes in a hold of %s beside a stranger", name)
                    .noneMatch(each -> each.lease.isValid());
        }
    }

    /** A holder ends its hold for all who follow. */
    void completed(Lease lease) {
        released(lease);
        completed.add(lease.name());
    }

    /** Somebody was told that there is no more to wait for. */
    void followed(String name) {
        assertThat(completed).as("what holders have completed").contains(name);
    }

    void released(Lease lease) {
        held.get(lease.name()).removeIf(each -> each.lease == lease);
    }

    /** Nobody believes in a hold beside another's. */
    void check() {
        if (swallowed != null) {
            throw new AssertionError(swallowed.getMessage(), swallowed);
        }
        if (clockIsTrue) {
            held.values().forEach(SimulationWitness::checkOne);
        }
    }

    private static void checkOne(List<Held> holders) {
        Held believer = null;
        for (Iterator<Held> each = holders.iterator(); each.hasNext(); ) {
            Held next = each.next();
            if (next.lease.isValid()) {
                if (believer != null) {
                    throw new AssertionError("two hold at once: " + believer + " and " + next);
                }
                believer = next;
            }
        }
    }
}
