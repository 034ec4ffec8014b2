package io.github.lockboot.observability;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.LockUse;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;

import static java.util.Objects.requireNonNull;

/**
 * Counts and times locks. Every meter is tagged {@code group} with the group of the lock, never with its name. All meters of a
 * group exist, at zero, from its first use.
 */
public final class LockMetrics implements LockOutcomeListener {

    private final MeterRegistry registry;
    private final Map<String, Meters> groups = new ConcurrentHashMap<>();

    /** @param registry where the meters are registered */
    public LockMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    private Meters of(LockUse use) {
        String group = groupOf(use);
        Meters known = groups.get(group);
        return known != null ? known : groups.computeIfAbsent(group, Meters::new);
    }

    static String groupOf(LockUse use) {
        String group = use.group();
        return group != null ? group : "none";
    }

    static String text(Enum<?> tag) {
        return tag.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void requested(LockUse use) {
        of(use).waiting.incrementAndGet();
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        Meters meters = of(use);
        meters.end(Outcome.ACQUIRED, waited);
        requireNonNull(meters.acquired.get(origin)).increment();
        meters.held.incrementAndGet();
    }

    @Override
    public void ended(LockUse use, Outcome outcome, Duration time) {
        of(use).end(outcome, time);
    }

    @Override
    public void released(LockUse use, Duration held, boolean known) {
        Meters meters = of(use);
        meters.end(Outcome.RELEASED, held);
        if (!known) {
            meters.releaseUnknown.increment();
        }
    }

    @Override
    public void stuck(LockUse use, Duration held) {
        of(use).stuck.increment();
    }

    @Override
    public void renewed(LockUse use) {
        of(use).renewed.increment();
    }

    @Override
    public void renewalFailed(LockUse use) {
        of(use).renewalFailed.increment();
    }

    /** The meters of one group. */
    private final class Meters {

        final Tags group;
        final AtomicInteger waiting = new AtomicInteger();
        final AtomicInteger held = new AtomicInteger();
        final Map<Outcome, Timer> times = new EnumMap<>(Outcome.class);
        final Map<Outcome, Counter> ends = new EnumMap<>(Outcome.class);
        final Map<Origin, Counter> acquired = new EnumMap<>(Origin.class);
        final Counter stuck;
        final Counter renewed;
        final Counter renewalFailed;
        final Counter releaseUnknown;

        Meters(String group) {
            this.group = Tags.of("group", group);
            Timer hold = timer("lock.hold", "Time for which a lock was held, its release included", this.group);
            for (Outcome outcome : Outcome.values()) {
                times.put(outcome, outcome.endsWait() ? wait(outcome) : hold);
            }
            for (Origin origin : Origin.values()) {
                Tags tags = Tags.of("origin", text(origin));
                acquired.put(origin, counter("lock.acquired", "Locks acquired, by where they came from", tags));
            }
            ends.put(
                    Outcome.NOT_ACQUIRED,
                    counter("lock.not.acquired", "Waits that ended because another held the lock"));
            ends.put(Outcome.ABANDONED, counter("lock.abandoned", "Waits that were interrupted or cancelled"));
            ends.put(
                    Outcome.UNAVAILABLE, counter("lock.unavailable", "Waits that ended because Redis was unavailable"));
            ends.put(Outcome.LOST, counter("lock.lost", "Holds that were lost before they were released"));
            stuck = counter("lock.stuck", "Holds that exceeded their maximum time");
            renewed = renewals("renewed");
            renewalFailed = renewals("failed");
            releaseUnknown = counter("lock.release.unknown", "Releases that Redis did not confirm in time");
            gauge("lock.held", "Locks held by this instance", held);
            gauge("lock.waiting", "Threads and futures of this instance that wait for a lock", waiting);
        }

        void end(Outcome outcome, Duration time) {
            (outcome.endsWait() ? waiting : held).decrementAndGet();
            requireNonNull(times.get(outcome)).record(time);
            Counter ended = ends.get(outcome);
            if (ended != null) {
                ended.increment();
            }
        }

        private Timer wait(Outcome outcome) {
            Tags tags = group.and("outcome", text(outcome));
            return timer("lock.wait", "Time from the request for a lock to its outcome", tags);
        }

        private Counter renewals(String outcome) {
            return counter("lock.renewals", "Renewals of leases, by outcome", Tags.of("outcome", outcome));
        }

        private Timer timer(String name, String description, Tags tags) {
            return Timer.builder(name).description(description).tags(tags).register(registry);
        }

        private Counter counter(String name, String description, Tags... tags) {
            Tags all = tags.length == 0 ? group : group.and(tags[0]);
            return Counter.builder(name).description(description).tags(all).register(registry);
        }

        private void gauge(String name, String description, AtomicInteger value) {
            Gauge.builder(name, value, AtomicInteger::get)
                    .description(description)
                    .tags(group)
                    .register(registry);
        }
    }
}
