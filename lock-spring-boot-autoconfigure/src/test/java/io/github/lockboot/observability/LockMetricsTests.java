package io.github.lockboot.observability;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.ScheduledLock;
import io.github.lockboot.memory.MemoryLockRegistry;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class LockMetricsTests {

    private static final LockOptions ORDERS =
            LockOptions.defaults().withGroup("order").withWaitTime(Duration.ZERO);

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    private final MemoryLockRegistry locks = new MemoryLockRegistry();

    @BeforeEach
    void listen() {
        locks.addListener(new LockMetrics(meters));
    }

    private double value(String meter, String... tags) {
        Meter found = meters.get(meter).tag("group", "order").tags(tags).meter();
        return found.measure().iterator().next().getValue();
    }

    @Test
    void aHoldIsCountedAndTimed() throws Exception {
        Lease lease = locks.acquire("order:1", ORDERS);
        assertThat(value("lock.held")).isEqualTo(1);
        assertThat(value("lock.waiting")).isZero();
        Actor.pass(Duration.ofMillis(200));
        lease.close();
        assertThat(value("lock.held")).isZero();
        assertThat(value("lock.acquired", "origin", "asked")).isEqualTo(1);
        assertThat(value("lock.acquired", "origin", "local")).isZero();
        assertThat(value("lock.wait", "outcome", "acquired")).isEqualTo(1);
        assertThat(value("lock.hold")).isEqualTo(1);
        assertThat(meters.get("lock.hold").timer().totalTime(TimeUnit.SECONDS)).isBetween(0.2, 20.0);
    }

    @Test
    void aWaitInVainIsCountedAndSeenWhileItLasts() throws Exception {
        Lease lease = locks.newInstance().acquire("order:1", ORDERS);
        CompletableFuture<Lease> waiting = locks.acquireAsync("order:1", ORDERS.withWaitTime(Duration.ofSeconds(1)));
        assertThat(value("lock.waiting")).isEqualTo(1);
        assertThat(waiting.handle((held, failure) -> failure).join()).isNotNull();
        assertThat(value("lock.waiting")).isZero();
        assertThat(value("lock.not.acquired")).isEqualTo(1);
        assertThat(value("lock.wait", "outcome", "not_acquired")).isEqualTo(1);
        assertThat(locks.tryAcquire("order:1", ORDERS)).isEqualTo(Optional.empty());
        assertThat(value("lock.not.acquired")).isEqualTo(2);
        lease.close();
    }

    @Test
    void aLossIsCountedAndTheLockNoLongerHeld() throws Exception {
        locks.acquire("order:1", ORDERS);
        locks.expire("order:1");
        Actor.await("it is told", () -> value("lock.lost") == 1);
        assertThat(value("lock.held")).isZero();
    }

    @Test
    void aClosedRegistryCountsAsUnavailable() {
        locks.close();
        assertThat(locks.acquireAsync("order:1", ORDERS)).failsWithin(Duration.ofSeconds(30));
        assertThat(value("lock.unavailable")).isEqualTo(1);
        assertThat(value("lock.waiting")).isZero();
    }

    @Test
    void theLongestHoldOfTheGroupIsSeenWhileItRuns() throws Exception {
        Lease first = locks.acquire("order:1", ORDERS);
        clock.addSeconds(40);
        Lease second = locks.acquire("order:2", ORDERS);
        clock.addSeconds(2);
        assertThat(value("lock.held.longest")).isEqualTo(42);
        assertThat(locks.tryAcquire("order:2", ORDERS)).isEmpty();
        first.close();
        assertThat(value("lock.held.longest")).isEqualTo(2);
        second.close();
        assertThat(value("lock.held.longest")).isZero();
    }

    @Test
    void aHoldThatIsLostIsNotTheLongest() throws Exception {
        locks.acquire("order:1", ORDERS);
        clock.addSeconds(1);
        locks.expire("order:1");
        Actor.await("it is told", () -> value("lock.lost") == 1);
        assertThat(value("lock.held.longest")).isZero();
    }

    /** It reports no end of its holds. */
    @Test
    void aRegistryThatWasClosedWithAHoldIsNeitherSeenNorKept() throws Exception {
        MemoryLockRegistry closed = new MemoryLockRegistry();
        LockMetrics metrics = new LockMetrics(meters);
        closed.addListener(metrics);
        closed.acquire("order:1", ORDERS.withTtl(Duration.ofSeconds(1)));
        clock.addSeconds(1);
        closed.close();
        Actor.await("its lease has ended", () -> value("lock.held.longest") == 0);
        WeakReference<MemoryLockRegistry> collected = new WeakReference<>(closed);
        closed = null;
        Actor.await("it is collected", () -> {
            System.gc();
            return collected.refersTo(null);
        });
        assertThat(metrics).isNotNull();
    }

    @Test
    void readersAndPermitsAreToldApartFromExclusiveHolds() throws Exception {
        Lease reader = locks.acquire("order:1", ORDERS.shared());
        Lease permit = locks.acquire("order:2", ORDERS.withPermits(5));
        assertThat(value("lock.held", "mode", "shared")).isEqualTo(1);
        assertThat(value("lock.held", "mode", "limited")).isEqualTo(1);
        assertThat(meters.find("lock.held").tag("mode", "exclusive").meter()).isNull();
        assertThat(locks.tryAcquire("order:1", ORDERS)).isEqualTo(Optional.empty());
        assertThat(value("lock.not.acquired", "mode", "exclusive")).isEqualTo(1);
        reader.close();
        permit.close();
        assertThat(value("lock.held", "mode", "shared")).isZero();
        assertThat(value("lock.held", "mode", "limited")).isZero();
    }

    @Test
    void callsOfAJobAreTimedByOutcomeAndOverrunsAreCounted() {
        LockMetrics metrics = new LockMetrics(meters);
        metrics.jobEnded(run(ScheduledLock.Outcome.SKIPPED, false));
        assertThat(meters.get("lock.job").timers()).hasSize(ScheduledLock.Outcome.values().length);
        metrics.jobEnded(run(ScheduledLock.Outcome.RAN, true));
        assertThat(meters.get("lock.job")
                        .tags("job.name", "nightly", "outcome", "ran")
                        .timer()
                        .totalTime(TimeUnit.SECONDS))
                .isEqualTo(20);
        assertThat(meters.get("lock.job").tags("outcome", "skipped").timer().count())
                .isEqualTo(1);
        assertThat(meters.get("lock.job").tags("outcome", "lost").timer().count())
                .isZero();
        assertThat(meters.get("lock.job.overrun")
                        .tag("job.name", "nightly")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    /**
     * A scrape would call ours {@code exported_job}, and what asks for {@code job} would get the name of the scrape.
     */
    @Test
    void noTagIsALabelThatPrometheusOrItsTargetsHave() {
        LockMetrics metrics = new LockMetrics(meters);
        locks.addListener(metrics);
        locks.acquireAsync("order:1", ORDERS).join().close();
        metrics.jobEnded(run(ScheduledLock.Outcome.RAN, true));
        assertThat(meters.getMeters().stream()
                        .flatMap(meter -> meter.getId().getTags().stream().map(Tag::getKey)))
                .isNotEmpty()
                .containsOnly("group", "mode", "outcome", "origin", "job.name");
    }

    private static ScheduledLock.Run run(ScheduledLock.Outcome outcome, boolean overran) {
        return new ScheduledLock.Run(
                "nightly", Instant.EPOCH, Duration.ofSeconds(20), "scheduling-1", outcome, overran);
    }

    /** A thousand keys must not make a thousand time series, nor tell who the customers are. */
    @Test
    void noTagHoldsAKeyWithOrWithoutAGroup() throws Exception {
        for (int i = 0; i < 10; i++) {
            locks.acquire("customer-" + i, ORDERS).close();
            locks.get("customer-" + i).lock();
        }
        assertThat(meters.getMeters().stream()
                        .flatMap(meter -> meter.getId().getTags().stream())
                        .filter(tag -> tag.getKey().equals("group"))
                        .map(Tag::getValue)
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrder("order", "none");
        assertThat(meters.getMeters())
                .noneMatch(meter -> meter.getId().toString().contains("customer"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            lock.wait            | TIMER   | Time from the request for a lock to its outcome
            lock.hold            | TIMER   | Time that a lock was held, including its release
            lock.acquired        | COUNTER | Acquired locks, by origin
            lock.not.acquired    | COUNTER | Waits that ended because another caller held the lock
            lock.abandoned       | COUNTER | Waits that were interrupted or cancelled
            lock.unavailable     | COUNTER | Waits that ended because the store was unavailable
            lock.lost            | COUNTER | Holds that were lost before they were released
            lock.stuck           | COUNTER | Holds that exceeded their maximum time
            lock.both.orders     | COUNTER | Pairs of lock groups acquired in opposite orders
            lock.renewals        | COUNTER | Renewals of leases, by outcome
            lock.release.unknown | COUNTER | Releases that the store did not confirm in time
            lock.held            | GAUGE   | Locks held by this instance
            lock.held.longest    | GAUGE   | Time that the longest hold of this instance has lasted
            lock.waiting         | GAUGE   | Threads and futures of this instance that wait for a lock
            """)
    void allMetersOfAGroupAreThereFromItsFirstUse(String name, Meter.Type type, String description) throws Exception {
        locks.acquire("order:1", ORDERS).close();
        assertThat(meters.get(name).tag("group", "order").meters())
                .isNotEmpty()
                .allSatisfy(found -> assertThat(found.getId().getType()).isEqualTo(type))
                .allSatisfy(found -> assertThat(found.getId().getDescription()).isEqualTo(description));
        assertThat(meters.getMeters().stream()
                        .map(meter -> meter.getId().getName())
                        .distinct())
                .hasSize(14);
    }
}
