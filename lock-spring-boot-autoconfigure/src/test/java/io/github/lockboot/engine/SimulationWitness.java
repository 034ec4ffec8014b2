package io.github.lockboot.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

import io.github.lockboot.Lease;
import io.github.lockboot.redis.protocol.Kind;
import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/** Sees who believes that they hold what, and with which tokens. */
final class SimulationWitness {

    private record Held(String who, Kind kind, Lease lease) {}

    private final boolean clockIsTrue;
    private final Map<String, List<Held>> held = new HashMap<>();
    private final Map<String, Long> newest = new HashMap<>();
    private final Map<String, Long> keptUntil = new HashMap<>();
    private final Map<String, Long> newestExclusive = new HashMap<>();
    private final Set<String> tokens = new HashSet<>();

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

    void acquired(String who, Kind kind, Lease lease) {
        String name = lease.name();
        long token = lease.fencingToken();
        held.computeIfAbsent(name, n -> new ArrayList<>()).add(new Held(who, kind, lease));
        if (!kind.isShared()) {
            assertThat(tokens.add(name + " " + token))
                    .as("token %d of %s is given once", token, name)
                    .isTrue();
        }
        if (clockIsTrue && lease.isValid()) {
            long least = kind.isShared() ? 0 : 1; // a reader has the token of the last writer
            assertThat(token)
                    .as("token of %s", name)
                    .isGreaterThanOrEqualTo(newestExclusive.getOrDefault(name, 0L) + least);
            if (kind.isExclusive()) {
                assertThat(token).as("token of %s", name).isGreaterThan(newest.getOrDefault(name, 0L));
            }
        }
        newest.merge(name, token, Math::max);
        if (kind.isExclusive()) {
            newestExclusive.merge(name, token, Math::max);
        }
    }

    /** It goes on with the token that another had, who has ended it. */
    void tookOver(String who, Kind kind, Lease lease) {
        String name = lease.name();
        held.computeIfAbsent(name, n -> new ArrayList<>()).add(new Held(who, kind, lease));
        if (clockIsTrue && lease.isValid() && kind.isExclusive()) {
            assertThat(lease.fencingToken())
                    .as("token of %s, taken over", name)
                    .isGreaterThanOrEqualTo(newest.getOrDefault(name, 0L));
        }
    }

    /** Nobody may have the lock before that time. */
    void kept(String name, long until) {
        keptUntil.put(name, until);
    }

    void acquiredAt(String name, long now) {
        assertThat(now).as("when %s is acquired", name).isGreaterThanOrEqualTo(keptUntil.getOrDefault(name, 0L));
    }

    /** From now on it may be held beside readers. */
    void downgraded(Lease lease) {
        held.get(lease.name()).replaceAll(each -> each.lease == lease ? new Held(each.who, Kind.SHARED, lease) : each);
    }

    /** A stranger has the lock now. */
    void takenByStranger(String name) {
        if (clockIsTrue) {
            assertThat(held.getOrDefault(name, List.of()))
                    .as("who believes in a hold of %s beside a stranger", name)
                    .noneMatch(each -> each.lease.isValid());
        }
    }

    void released(Lease lease) {
        held.get(lease.name()).removeIf(each -> each.lease == lease);
    }

    /** Nobody believes in a hold beside one that is not compatible. */
    void check() {
        if (swallowed != null) {
            throw new AssertionError(swallowed.getMessage(), swallowed);
        }
        if (clockIsTrue) {
            held.values().forEach(SimulationWitness::checkOne);
        }
    }

    private static void checkOne(List<Held> holders) {
        List<Held> believers = new ArrayList<>(0);
        int limit = Integer.MAX_VALUE;
        for (Held each : holders) {
            if (each.lease.isValid()) {
                believers.add(each);
                limit = Math.min(limit, each.kind.permits());
            }
        }
        boolean allShared = true;
        boolean allLimited = true;
        for (Held each : believers) {
            allShared &= each.kind.isShared();
            allLimited &= each.kind.permits() > 0;
        }
        if (believers.size() > 1 && !allShared && !(allLimited && believers.size() <= limit)) {
            throw new AssertionError("these hold at once: " + believers);
        }
    }
}
