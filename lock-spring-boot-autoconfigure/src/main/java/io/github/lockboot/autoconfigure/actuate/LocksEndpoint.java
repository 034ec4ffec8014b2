package io.github.lockboot.autoconfigure.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

import io.github.lockboot.DistributedLock.Mode;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.leader.LeaderElection;
import io.github.lockboot.redis.RedisLockRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * Shows the locks that this instance holds or waits for, the roles for which it campaigns, and the last call of each
 * job here. It sends no command to the store, but listens to the registries: it does not know uses that began before it
 * was added.
 */
@Endpoint(id = "locks")
class LocksEndpoint implements LockRuntime.Listener, ScheduledLock.Listener {

    private final Map<LockUse, Step> uses = new ConcurrentHashMap<>();
    private final Map<String, ScheduledLock.Run> jobs = new ConcurrentSkipListMap<>();
    private final boolean namesShown;
    private final InstantSource clock;
    private final ListableBeanFactory beans;

    LocksEndpoint(boolean namesShown, InstantSource clock, ListableBeanFactory beans) {
        this.namesShown = namesShown;
        this.clock = clock;
        this.beans = beans;
    }

    /** A use that waits or holds since a point in time. */
    private record Step(LockUse use, boolean held, Instant since) {}

    @Override
    public void requested(LockUse use) {
        uses.put(use, new Step(use, false, clock.instant()));
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        // Its end may have been reported first.
        uses.computeIfPresent(use, (same, waiting) -> new Step(use, true, clock.instant()));
    }

    @Override
    public void ended(LockUse use, Outcome outcome, Duration time) {
        uses.remove(use);
    }

    @Override
    public void jobEnded(ScheduledLock.Run run) {
        jobs.put(run.job(), run);
    }

    /**
     * The locks held and the locks waited for, each in order of age, the roles for which this instance campaigns, and
     * the last call of each job.
     *
     * @param sessions what the ids of each registry on Redis begin with, by the name of its bean
     */
    record Locks(
            List<Held> held,
            List<Waiting> waiting,
            List<Leader> leaders,
            List<ScheduledLock.Run> jobs,
            Map<String, String> sessions) {}

    /** Whether this instance leads, since when and with which token. */
    record Leader(
            String role,
            boolean leader,
            @Nullable Instant since,
            @Nullable Long fencingToken) {}

    /**
     * @param registry the name of its bean; null if there is none
     * @param group null if the lock has none
     * @param name a digest of the lock's name, or the name itself
     * @param permits how many may hold the lock at a time; null when not limited
     * @param thread null for a lease
     * @param holderId the id of the holder in the store
     * @param queue number of waiters in this instance
     */
    record Held(
            @Nullable String registry,
            @Nullable String group,
            String name,
            Mode mode,
            @Nullable Integer permits,
            @Nullable String thread,
            Instant since,
            @Nullable String holderId,
            long fencingToken,
            Duration remainingLease,
            long queue) {}

    /** @param position place among the waiters of this instance, from 1 */
    record Waiting(
            @Nullable String registry,
            @Nullable String group,
            String name,
            Mode mode,
            @Nullable Integer permits,
            @Nullable String thread,
            Instant since,
            long position) {}

    @ReadOperation
    Locks locks() {
        List<Step> steps =
                uses.values().stream().sorted(Comparator.comparing(Step::since)).toList();
        Map<LockRegistry, String> registries = registries();
        Map<List<Object>, Long> queues = new HashMap<>();
        List<Waiting> waiting = new ArrayList<>();
        steps.stream().filter(step -> !step.held).forEach(step -> {
            LockUse use = step.use;
            long position = queues.merge(List.of(use.registry(), use.name()), 1L, Long::sum);
            waiting.add(new Waiting(
                    registries.get(use.registry()),
                    use.group(),
                    LockStateEndpoint.shown(use.name(), namesShown),
                    use.mode(),
                    use.permits(),
                    threadOf(use),
                    step.since,
                    position));
        });
        List<Held> held = steps.stream()
                .filter(Step::held)
                .map(step -> new Held(
                        registries.get(step.use.registry()),
                        step.use.group(),
                        LockStateEndpoint.shown(step.use.name(), namesShown),
                        step.use.mode(),
                        step.use.permits(),
                        threadOf(step.use),
                        step.since,
                        step.use.holderId(),
                        step.use.fencingToken(),
                        step.use.remainingLease(),
                        queues.getOrDefault(List.of(step.use.registry(), step.use.name()), 0L)))
                .toList();
        return new Locks(held, waiting, leaders(), List.copyOf(jobs.values()), sessions());
    }

    private Map<String, String> sessions() {
        Map<String, String> sessions = new TreeMap<>();
        BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, RedisLockRegistry.class)
                .forEach((name, registry) ->
                        sessions.put(name, registry.inspector().session()));
        return sessions;
    }

    private Map<LockRegistry, String> registries() {
        IdentityHashMap<LockRegistry, String> names = new IdentityHashMap<>();
        BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, LockRegistry.class)
                .forEach((name, registry) -> names.put(registry, name));
        return names;
    }

    private List<Leader> leaders() {
        List<Leader> leaders = new ArrayList<>();
        for (LeaderElection election : beans.getBeanProvider(LeaderElection.class)) {
            OptionalLong token = election.fencingToken();
            leaders.add(new Leader(
                    election.role(),
                    token.isPresent(),
                    election.since().orElse(null),
                    token.isPresent() ? token.getAsLong() : null));
        }
        return leaders;
    }

    private static @Nullable String threadOf(LockUse use) {
        Thread thread = use.thread();
        return thread == null ? null : thread.getName();
    }
}
