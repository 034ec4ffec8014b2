package io.github.lockboot.observability;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;
import io.github.lockboot.observability.LockObservation.Key;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Observes uses of locks, as children of the current observation of the requesting thread. While code runs under a lock, the
 * hold is the current observation of the thread, so what that code observes is a child of the hold.
 */
public final class LockObservations implements LockRuntime.Listener {

    private final ObservationRegistry registry;
    private final Map<LockUse, Steps> underWay = new ConcurrentHashMap<>();

    /** @param registry where the observations are reported */
    public LockObservations(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void requested(LockUse use) {
        if (!registry.isNoop()) {
            underWay.put(use, new Steps(use));
        }
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        Steps steps = underWay.get(use);
        if (steps != null) {
            steps.acquired(LockMetrics.text(origin));
        }
    }

    @Override
    public void notAcquired(LockUse use, Duration waited) {
        end(use, "not_acquired");
    }

    @Override
    public void abandoned(LockUse use, Duration waited) {
        end(use, "abandoned");
    }

    @Override
    public void followed(LockUse use, Duration waited) {
        end(use, "followed");
    }

    @Override
    public void unavailable(LockUse use, Duration waited) {
        end(use, "unavailable");
    }

    @Override
    public @Nullable Runnable entering(LockUse use) {
        Observation hold = holdOf(use);
        return hold == null ? null : hold.openScope()::close;
    }

    @Override
    public void released(LockUse use, Duration held, boolean known) {
        end(use, "released");
    }

    @Override
    public void lost(LockUse use, Duration held, String reason) {
        end(use, "lost");
    }

    @Override
    public void stuck(LockUse use, Duration held) {
        Observation hold = holdOf(use);
        if (hold != null) {
            hold.event(Observation.Event.of("lock.stuck", "lock held beyond its maximum time"));
        }
    }

    private @Nullable Observation holdOf(LockUse use) {
        Steps steps = underWay.get(use);
        return steps == null ? null : steps.hold();
    }

    private void end(LockUse use, String outcome) {
        Steps steps = underWay.remove(use);
        if (steps != null) {
            steps.end(outcome);
        }
    }

    /** The observations of one use. Its end may be reported while its beginning still is. */
    private final class Steps {

        private final String group;
        private final Observation execution;
        private final Observation wait;
        private @Nullable Observation hold;
        private boolean ended;

        Steps(LockUse use) {
            group = LockMetrics.groupOf(use);
            execution = create(LockObservation.EXECUTION).start();
            wait = create(LockObservation.WAIT).parentObservation(execution).start();
        }

        private Observation create(LockObservation kind) {
            return kind.observation(registry).lowCardinalityKeyValue(Key.GROUP.asString(), group);
        }

        synchronized void acquired(String origin) {
            if (!ended) {
                stop(wait.lowCardinalityKeyValue(Key.ORIGIN.asString(), origin), "acquired");
                hold = create(LockObservation.HOLD).parentObservation(execution).start();
            }
        }

        synchronized @Nullable Observation hold() {
            return ended ? null : hold;
        }

        synchronized void end(String outcome) {
            ended = true;
            stop(hold != null ? hold : wait.lowCardinalityKeyValue(Key.ORIGIN.asString(), "none"), outcome);
            stop(execution, outcome);
        }

        private static void stop(Observation observation, String outcome) {
            observation.lowCardinalityKeyValue(Key.OUTCOME.asString(), outcome).stop();
        }
    }
}
