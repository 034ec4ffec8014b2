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
 * Observes uses of locks, below what the requesting thread observes at the time. While a locked body runs, its hold is the
 * current observation of the thread, so what the body observes is a child of the hold.
 */
public final class LockObservations implements LockRuntime.Listener {

    private static final String NONE = "none";

    private final ObservationRegistry registry;
    private final Map<LockUse, Steps> underWay = new ConcurrentHashMap<>();

    /** @param registry where the observations are told */
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
        Steps steps = underWay.get(use);
        Observation hold = steps == null ? null : steps.hold();
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
        Steps steps = underWay.get(use);
        Observation hold = steps == null ? null : steps.hold();
        if (hold != null) {
            hold.event(Observation.Event.of("lock.stuck", "lock held beyond its maximal time"));
        }
    }

    private void end(LockUse use, String outcome) {
        Steps steps = underWay.remove(use);
        if (steps != null) {
            steps.end(outcome);
        }
    }

    /** One use. Its end may come while its beginning is being told. */
    private final class Steps {

        private final String name;
        private final Observation execution;
        private final Observation wait;
        private @Nullable Observation hold;
        private boolean ended;

        Steps(LockUse use) {
            name = use.group() != null ? use.group() : NONE;
            execution = make(LockObservation.EXECUTION).start();
            wait = make(LockObservation.WAIT).parentObservation(execution).start();
        }

        private Observation make(LockObservation kind) {
            return kind.observation(registry).lowCardinalityKeyValue(Key.NAME.asString(), name);
        }

        synchronized void acquired(String origin) {
            if (!ended) {
                endWait("acquired", origin);
                hold = make(LockObservation.HOLD).parentObservation(execution).start();
            }
        }

        synchronized @Nullable Observation hold() {
            return ended ? null : hold;
        }

        synchronized void end(String outcome) {
            ended = true;
            if (hold != null) {
                hold.lowCardinalityKeyValue(Key.OUTCOME.asString(), outcome).stop();
            } else {
                endWait(outcome, NONE);
            }
            execution.lowCardinalityKeyValue(Key.OUTCOME.asString(), outcome).stop();
        }

        private void endWait(String outcome, String origin) {
            wait.lowCardinalityKeyValue(Key.OUTCOME.asString(), outcome)
                    .lowCardinalityKeyValue(Key.ORIGIN.asString(), origin)
                    .stop();
        }
    }
}
