package io.github.lockboot.observability;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;
import io.github.lockboot.ScheduledLock;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;

/**
 * Counts and times locks. Every meter is tagged {@code group} with the group of the lock, never with its name, and
 * {@code mode}: {@code exclusive}, {@code shared} or, with permits, {@code limited}. All meters of a group and mode
 * exist, at zero, from its first use. Those of a job are tagged {@code job.name} instead: Prometheus gives each metric
 * the label {@code job} of its own.
 */
public final class LockMetrics implements LockRuntime.Listener, ScheduledLock.Listener {

    private record Kind(String group, String mode) {}

    private final MeterRegistry registry;
    private final Map<Kind, Meters> meters = new ConcurrentHashMap<>();

    /** @param registry where the meters are registered */
    public LockMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    private Meters of(LockUse use) {
        String mode = use.permits() != null ? "limited" : text(use.mode());
        return meters.computeIfAbsent(new Kind(groupOf(use), mode), Meters::new);
    }

    static String groupOf(LockUse use) {
        String group = use.group();
        return group != null ? group : "none";
    }

    static String text(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void requested(LockUse use) {
        of(use).waiting.incrementAndGet();
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        Meters meters = of(use);
        meters.end(Outcome.ACQUIRED, waited);
        meters.count(text(origin));
        meters.held.incrementAndGet();
        meters.since.put(use, registry.config().clock().monotonicTime());
    }

    @Override
    public void ended(LockUse use, Outcome outcome, Duration time) {
        Meters meters = of(use);
        meters.since.remove(use);
        meters.end(outcome, time);
    }

    @Override
    public void released(LockUse use, Duration held, boolean known) {
        ended(use, Outcome.RELEASED, held);
        if (!known) {
            of(use).count("unknown");
        }
    }

    @Override
    public void stuck(LockUse use, Duration held) {
        of(use).count("stuck");
    }

    @Override
    public void takenInBothOrders(LockUse use) {
        of(use).count("both_orders");
    }

    @Override
    public void renewed(LockUse use) {
        of(use).count("renewed");
    }

    @Override
    public void renewalFailed(LockUse use) {
        of(use).count("failed");
    }

    @Override
    public void jobEnded(ScheduledLock.Run run) {
        for (ScheduledLock.Outcome outcome : ScheduledLock.Outcome.values()) {
            Timer calls = Timer.builder("lock.job")
                    .description("Time from the call of a job to its outcome")
                    // Not passed on as an Enum, which would have the JVM load its type with this class.
                    .tags("job.name", run.job(), "outcome", outcome.name().toLowerCase(Locale.ROOT))
                    .register(registry);
            if (outcome == run.outcome()) {
                calls.record(run.took());
            }
        }
        Counter.builder("lock.job.overrun")
                .description("Runs of a job that had not ended when it was due again")
                .tag("job.name", run.job())
                .register(registry)
                .increment(run.overran() ? 1 : 0);
    }

    /** The meters of one group and mode. */
    private final class Meters {

        final Tags kind;
        final AtomicInteger waiting = new AtomicInteger();
        final AtomicInteger held = new AtomicInteger();

        /** When each hold began. Weakly, because a registry that is closed reports no end of its holds. */
        final Map<LockUse, Long> since = Collections.synchronizedMap(new WeakHashMap<>());

        final Map<Outcome, Timer> waits = new EnumMap<>(Outcome.class);
        final Timer hold;
        final Map<String, Counter> counters = new HashMap<>();

        Meters(Kind kind) {
            this.kind = Tags.of("group", kind.group, "mode", kind.mode);
            for (Outcome outcome : EnumSet.complementOf(EnumSet.of(Outcome.RELEASED, Outcome.LOST))) {
                Timer wait =
                        timer("lock.wait", "Time from the request for a lock to its outcome", "outcome", text(outcome));
                waits.put(outcome, wait);
            }
            hold = timer("lock.hold", "Time that a lock was held, including its release");
            for (Origin origin : Origin.values()) {
                counter(text(origin), "lock.acquired", "Acquired locks, by origin", "origin", text(origin));
            }
            counter("not_acquired", "lock.not.acquired", "Waits that ended because another caller held the lock");
            counter("abandoned", "lock.abandoned", "Waits that were interrupted or cancelled");
            counter("unavailable", "lock.unavailable", "Waits that ended because the store was unavailable");
            counter("lost", "lock.lost", "Holds that were lost before they were released");
            counter("stuck", "lock.stuck", "Holds that exceeded their maximum time");
            counter("both_orders", "lock.both.orders", "Pairs of lock groups acquired in opposite orders");
            counter("renewed", "lock.renewals", "Renewals of leases, by outcome", "outcome", "renewed");
            counter("failed", "lock.renewals", "Renewals of leases, by outcome", "outcome", "failed");
            counter("unknown", "lock.release.unknown", "Releases that the store did not confirm in time");
            gauge("lock.held", "Locks held by this instance", held);
            TimeGauge.builder("lock.held.longest", this, TimeUnit.NANOSECONDS, Meters::longest)
                    .description("Time that the longest hold of this instance has lasted")
                    .tags(this.kind)
                    .register(registry);
            gauge("lock.waiting", "Threads and futures of this instance that wait for a lock", waiting);
        }

        /** {@return the nanoseconds since the oldest hold began, whose lease is certain; 0 if there is none} */
        private long longest() {
            long now = registry.config().clock().monotonicTime();
            synchronized (since) {
                return since.entrySet().stream()
                        .filter(hold -> !hold.getKey().remainingLease().isZero())
                        .mapToLong(hold -> now - hold.getValue())
                        .max()
                        .orElse(0);
            }
        }

        void end(Outcome outcome, Duration time) {
            Timer wait = waits.get(outcome);
            (wait != null ? waiting : held).decrementAndGet();
            (wait != null ? wait : hold).record(time);
            count(text(outcome));
        }

        /** Not every outcome has a counter. */
        void count(String event) {
            Counter counter = counters.get(event);
            if (counter != null) {
                counter.increment();
            }
        }

        private Timer timer(String name, String description, String... tags) {
            return Timer.builder(name)
                    .description(description)
                    .tags(kind.and(tags))
                    .register(registry);
        }

        private void counter(String event, String name, String description, String... tags) {
            counters.put(
                    event,
                    Counter.builder(name)
                            .description(description)
                            .tags(kind.and(tags))
                            .register(registry));
        }

        private void gauge(String name, String description, AtomicInteger value) {
            Gauge.builder(name, value, AtomicInteger::get)
                    .description(description)
                    .tags(kind)
                    .register(registry);
        }
    }
}
