package io.github.lockboot.observability;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUse;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import org.jspecify.annotations.Nullable;

import static java.util.Objects.requireNonNull;

/**
 * Counts and times locks. Every meter is tagged {@code group} with the group of the lock, never with its name. All meters of a
 * group exist, at zero, from its first use.
 */
public final class LockMetrics implements LockRuntime.Listener {

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

    static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void requested(LockUse use) {
        of(use).waiting.incrementAndGet();
    }

    @Override
    public void acquired(LockUse use, Origin origin, Duration waited) {
        Meters meters = of(use);
        meters.endWait(Outcome.ACQUIRED, waited);
        requireNonNull(meters.origins.get(origin)).increment();
        meters.held.incrementAndGet();
    }

    @Override
    public void notAcquired(LockUse use, Duration waited) {
        of(use).endWait(Outcome.NOT_ACQUIRED, waited);
    }

    @Override
    public void abandoned(LockUse use, Duration waited) {
        of(use).endWait(Outcome.ABANDONED, waited);
    }

    @Override
    public void followed(LockUse use, Duration waited) {
        of(use).endWait(Outcome.FOLLOWED, waited);
    }

    @Override
    public void unavailable(LockUse use, Duration waited) {
        of(use).endWait(Outcome.UNAVAILABLE, waited);
    }

    @Override
    public void released(LockUse use, Duration held, boolean known) {
        Meters meters = of(use);
        meters.endHold(held);
        if (!known) {
            meters.count(LockMeter.RELEASE_UNKNOWN);
        }
    }

    @Override
    public void lost(LockUse use, Duration held, String reason) {
        Meters meters = of(use);
        meters.endHold(held);
        meters.count(LockMeter.LOST);
    }

    @Override
    public void stuck(LockUse use, Duration held) {
        of(use).count(LockMeter.STUCK);
    }

    @Override
    public void renewed(LockUse use) {
        of(use).renewed.increment();
    }

    @Override
    public void renewalFailed(LockUse use) {
        of(use).renewalFailed.increment();
    }

    /** How a wait ends, with the meter that counts it besides the timer. */
    private enum Outcome {
        ACQUIRED(null),
        NOT_ACQUIRED(LockMeter.NOT_ACQUIRED),
        ABANDONED(LockMeter.ABANDONED),
        FOLLOWED(null),
        UNAVAILABLE(LockMeter.UNAVAILABLE);

        private final @Nullable LockMeter meter;

        Outcome(@Nullable LockMeter meter) {
            this.meter = meter;
        }
    }

    /** The meters of one group. */
    private final class Meters {

        final String group;
        final AtomicInteger waiting = new AtomicInteger();
        final AtomicInteger held = new AtomicInteger();
        final Map<Outcome, Timer> waits = new EnumMap<>(Outcome.class);
        final Map<Origin, Counter> origins = new EnumMap<>(Origin.class);
        final Map<LockMeter, Counter> counters = new EnumMap<>(LockMeter.class);
        final Timer hold;
        final Counter renewed;
        final Counter renewalFailed;

        Meters(String group) {
            this.group = group;
            for (Outcome outcome : Outcome.values()) {
                waits.put(outcome, timer(LockMeter.WAIT, "outcome", text(outcome)));
            }
            for (Origin origin : Origin.values()) {
                origins.put(origin, counter(LockMeter.ACQUIRED, "origin", text(origin)));
            }
            for (LockMeter meter : LockMeter.UNTAGGED_COUNTERS) {
                counters.put(meter, counter(meter));
            }
            hold = timer(LockMeter.HOLD);
            renewed = counter(LockMeter.RENEWALS, "outcome", "renewed");
            renewalFailed = counter(LockMeter.RENEWALS, "outcome", "failed");
            gauge(LockMeter.WAITING, waiting);
            gauge(LockMeter.HELD, held);
        }

        void count(LockMeter meter) {
            requireNonNull(counters.get(meter)).increment();
        }

        void endWait(Outcome outcome, Duration waited) {
            waiting.decrementAndGet();
            requireNonNull(waits.get(outcome)).record(waited);
            if (outcome.meter != null) {
                count(outcome.meter);
            }
        }

        void endHold(Duration time) {
            held.decrementAndGet();
            hold.record(time);
        }

        private Timer timer(LockMeter meter, String... tags) {
            return Timer.builder(meter.meterName())
                    .description(meter.description())
                    .tags(all(tags))
                    .register(registry);
        }

        private Counter counter(LockMeter meter, String... tags) {
            return Counter.builder(meter.meterName())
                    .description(meter.description())
                    .tags(all(tags))
                    .register(registry);
        }

        private void gauge(LockMeter meter, AtomicInteger value) {
            Gauge.builder(meter.meterName(), value, AtomicInteger::get)
                    .description(meter.description())
                    .tags(all())
                    .register(registry);
        }

        private Tags all(String... more) {
            return Tags.of("group", group).and(more);
        }
    }
}
