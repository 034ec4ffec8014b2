package io.github.lockboot.observability;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Observes uses of locks, as children of the current observation of the requesting thread: {@code lock.execution}, from
 * the request to the release or the end of an unsuccessful wait, and as its children {@code lock.execution.wait}, from
 * the request to its outcome, and {@code lock.execution.hold}, from the grant to the release. While code runs under a
 * lock, the hold is the current observation of the thread, so what that code observes is a child of the hold.
 *
 * <p>The key values are of low cardinality, and none holds the name of a lock: {@code lock.group}, the group or
 * {@code none}; {@code lock.outcome}, of a wait {@code acquired}, {@code not_acquired}, {@code abandoned} or
 * {@code unavailable}, of a hold {@code released} or {@code lost}, of the execution the last of these;
 * {@code lock.origin} of a wait, {@code local}, {@code asked} or {@code granted} if acquired, else {@code none};
 * {@code error.type}, the outcome if it is neither {@code acquired} nor {@code released}, else {@code none}.
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
            underWay.put(use, new Steps(LockMetrics.groupOf(use)));
        }
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        Steps steps = underWay.get(use);
        if (steps != null) {
            steps.acquired(origin);
        }
    }

    @Override
    public void ended(LockUse use, Outcome outcome, Duration time) {
        Steps steps = underWay.remove(use);
        if (steps != null) {
            steps.end(outcome);
        }
    }

    @Override
    public @Nullable Runnable entering(LockUse use) {
        Observation hold = holdOf(use);
        return hold == null ? null : hold.openScope()::close;
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

    /** The observations of one use. Its end may be reported while another thread still reports its beginning. */
    private final class Steps {

        private final String group;
        private final Observation execution;
        private final Observation wait;
        private @Nullable Observation hold;
        private boolean ended;

        Steps(String group) {
            this.group = group;
            execution = create("lock.execution", "lock").start();
            wait = create("lock.execution.wait", "lock wait")
                    .parentObservation(execution)
                    .start();
        }

        private Observation create(String name, String contextualName) {
            return Observation.createNotStarted(name, registry)
                    .contextualName(contextualName + " " + group)
                    .lowCardinalityKeyValue("lock.group", group);
        }

        synchronized void acquired(Origin origin) {
            if (!ended) {
                stop(wait.lowCardinalityKeyValue("lock.origin", LockMetrics.text(origin)), Outcome.ACQUIRED);
                hold = create("lock.execution.hold", "lock hold")
                        .parentObservation(execution)
                        .start();
            }
        }

        synchronized @Nullable Observation hold() {
            return ended ? null : hold;
        }

        synchronized void end(Outcome outcome) {
            ended = true;
            stop(hold != null ? hold : wait.lowCardinalityKeyValue("lock.origin", "none"), outcome);
            stop(execution, outcome);
        }

        private static void stop(Observation observation, Outcome outcome) {
            String text = LockMetrics.text(outcome);
            boolean well = outcome == Outcome.ACQUIRED || outcome == Outcome.RELEASED;
            observation
                    .lowCardinalityKeyValue("lock.outcome", text)
                    .lowCardinalityKeyValue("error.type", well ? "none" : text)
                    .stop();
        }
    }
}
