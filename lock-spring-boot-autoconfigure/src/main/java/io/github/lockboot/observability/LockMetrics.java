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
import io.micrometer.core.instrument.Timer;

import static java.util.Objects.requireNonNull;

/**
 * Counts and times locks. Every meter is tagged with the group of the lock as {@code name}, never with its name or key, and all
 * meters of a group are there, at zero, from its first use on.
 */
public final class LockMetrics implements LockRuntime.Listener {

    private final MeterRegistry registry;
    private final Map<String, Meters> groups = new ConcurrentHashMap<>();

    /** @param registry where the meters are */
    public LockMetrics(MeterRegistry registry) {
        this.registry = registry;
    }

    private Meters of(LockUse use) {
        String group = use.group() != null ? use.group() : LockMeter.NO_GROUP;
        Meters known = groups.get(group);
        return known != null ? known : groups.computeIfAbsent(group, Meters::new);
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
        Meters meters = of(use);
        meters.endWait(Outcome.NOT_ACQUIRED, waited);
        meters.notAcquired.increment();
    }

    @Override
    public void abandoned(LockUse use, Duration waited) {
        Meters meters = of(use);
        meters.endWait(Outcome.ABANDONED, waited);
        meters.abandoned.increment();
    }

    @Override
    public void followed(LockUse use, Duration waited) {
        of(use).endWait(Outcome.FOLLOWED, waited);
    }

    @Override
    public void unavailable(LockUse use, Duration waited) {
        Meters meters = of(use);
        meters.endWait(Outcome.UNAVAILABLE, waited);
        meters.unavailable.increment();
    }

    @Override
    public void released(LockUse use, Duration held, boolean known) {
        Meters meters = of(use);
        meters.endHold(held);
        if (!known) {
            meters.releaseUnknown.increment();
        }
    }

    @Override
    public void lost(LockUse use, Duration held, String reason) {
        Meters meters = of(use);
        meters.endHold(held);
        meters.lost.increment();
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

    /** How a wait ended. */
    private enum Outcome {
        ACQUIRED,
        NOT_ACQUIRED,
        ABANDONED,
        FOLLOWED,
        UNAVAILABLE
    }

    /** Those of one group. */
    private final class Meters {

        final AtomicInteger waiting = new AtomicInteger();
        final AtomicInteger held = new AtomicInteger();
        final Map<Outcome, Timer> waits = new EnumMap<>(Outcome.class);
        final Map<Origin, Counter> origins = new EnumMap<>(Origin.class);
        final Timer hold;
        final Counter notAcquired;
        final Counter abandoned;
        final Counter unavailable;
        final Counter lost;
        final Counter stuck;
        final Counter renewed;
        final Counter renewalFailed;
        final Counter releaseUnknown;

        Meters(String group) {
            for (Outcome outcome : Outcome.values()) {
                waits.put(outcome, timer(LockMeter.WAIT, group, "outcome", text(outcome)));
            }
            for (Origin origin : Origin.values()) {
                origins.put(origin, counter(LockMeter.ACQUIRED, group, "origin", text(origin)));
            }
            hold = timer(LockMeter.HOLD, group);
            notAcquired = counter(LockMeter.NOT_ACQUIRED, group);
            abandoned = counter(LockMeter.ABANDONED, group);
            unavailable = counter(LockMeter.UNAVAILABLE, group);
            lost = counter(LockMeter.LOST, group);
            stuck = counter(LockMeter.STUCK, group);
            renewed = counter(LockMeter.RENEWALS, group, "outcome", "renewed");
            renewalFailed = counter(LockMeter.RENEWALS, group, "outcome", "failed");
            releaseUnknown = counter(LockMeter.RELEASE_UNKNOWN, group);
            gauge(LockMeter.WAITING, group, waiting);
            gauge(LockMeter.HELD, group, held);
        }

        void endWait(Outcome outcome, Duration waited) {
            waiting.decrementAndGet();
            requireNonNull(waits.get(outcome)).record(waited);
        }

        void endHold(Duration time) {
            held.decrementAndGet();
            hold.record(time);
        }

        private Timer timer(LockMeter meter, String group, String... tags) {
            return Timer.builder(meter.meterName())
                    .description(meter.description())
                    .tag("name", group)
                    .tags(tags)
                    .register(registry);
        }

        private Counter counter(LockMeter meter, String group, String... tags) {
            return Counter.builder(meter.meterName())
                    .description(meter.description())
                    .tag("name", group)
                    .tags(tags)
                    .register(registry);
        }

        private void gauge(LockMeter meter, String group, AtomicInteger value) {
            Gauge.builder(meter.meterName(), value, AtomicInteger::get)
                    .description(meter.description())
                    .tag("name", group)
                    .register(registry);
        }
    }

    static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
