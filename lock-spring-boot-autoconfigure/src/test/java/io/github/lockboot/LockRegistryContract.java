package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What every {@link LockRegistry} does. Two registries stand for two instances of an application. */
public abstract class LockRegistryContract {

    protected final String name = "contract " + UUID.randomUUID();

    protected abstract LockRegistry registry();

    /** Another one on the same locks. */
    protected abstract LockRegistry otherRegistry();

    /** Lets a time pass for both. */
    protected void pass(Duration time) {
        Actor.pass(time);
    }

    /** A lock of one holder. */
    @Nested
    class Exclusive extends NamedLockContract {

        Exclusive() {
            super(LockRegistryContract.this, EXCLUSIVE, EXCLUSIVE);
        }

        @Test
        void withoutOptionsThoseOfTheRegistryCount() throws Exception {
            try (Lease lease = registry().acquire(name)) {
                registry().tryAcquire(name + " 2").orElseThrow().close();
                assertThat(lease.remainingLease())
                        .isLessThanOrEqualTo(registry().get(name).options().ttl());
            }
            Actor.get(registry().acquireAsync(name)).close();
            assertFree();
        }

        @Test
        void aLockThatLingersStaysWithItsInstanceUntilAnotherWaits() throws Exception {
            LockOptions lingering = LockOptions.defaults().withLinger(Duration.ofMinutes(1));
            NamedLock lock = registry().get(name, lingering);
            NamedLock elsewhere = otherRegistry().get(name, lingering);
            awaitLingering(lock);
            long token = 0;
            for (int i = 0; i < 10; i++) {
                assertThat(lock.tryLock()).isTrue();
                assertThat(lock.fencingToken()).isGreaterThan(token);
                assertThat(lock.remainingLease()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(6));
                token = lock.fencingToken();
                lock.unlock();
            }
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(elsewhere.isLocked()).isTrue();
            assertThat(elsewhere.tryLock()).isFalse();
            Actor other = actor();
            other.run(() -> assertThat(elsewhere.tryLock(20, TimeUnit.SECONDS)).isTrue());
            long later = other.call(elsewhere::fencingToken);
            assertThat(later).isGreaterThan(token);
            assertThat(lock.tryLock()).isFalse();
            other.run(elsewhere::unlock);
            assertFree();
        }

        @Test
        void aLockThatLingersIsFreeWhenItsTimeIsOver() throws Exception {
            NamedLock lock = registry().get(name, LockOptions.defaults().withLinger(Duration.ofSeconds(2)));
            awaitLingering(lock);
            pass(Duration.ofSeconds(2));
            Actor.await("it is free", () -> !otherRegistry().get(name).isLocked());
            assertThat(otherRegistry().get(name).tryLock()).isTrue();
            otherRegistry().get(name).unlock();
        }

        @Test
        void aLockThatLingersDoesNotLingerForOtherOptions() throws Exception {
            awaitLingering(registry().get(name, LockOptions.defaults().withLinger(Duration.ofMinutes(1))));
            assertThat(registry().get(name).tryLock()).isTrue();
            registry().get(name).unlock();
            assertThat(otherRegistry().get(name).isLocked()).isFalse();
        }

        /** It does not linger before messages of other instances arrive. */
        private void awaitLingering(NamedLock lock) {
            Actor.await("it lingers", () -> {
                lock.lock();
                lock.unlock();
                return lock.isLocked();
            });
        }
    }

    /** The side of one writer. */
    @Nested
    @Tag("full")
    class WriteSide extends NamedLockContract {

        WriteSide() {
            super(LockRegistryContract.this, EXCLUSIVE, EXCLUSIVE);
        }

        @Override
        NamedLock get(LockRegistry registry, String name, LockOptions options) {
            return writeLock(registry, name, options);
        }
    }

    /** The side of many readers, whom a writer excludes. */
    @Nested
    class ReadSide extends NamedLockContract {

        ReadSide() {
            super(LockRegistryContract.this, SHARED, EXCLUSIVE);
        }
    }

    /** The only permit there is. */
    @Nested
    class OnePermit extends NamedLockContract {

        OnePermit() {
            super(LockRegistryContract.this, EXCLUSIVE.withPermits(1), EXCLUSIVE.withPermits(1));
        }
    }

    @Nested
    class ReadWrite extends ReadWriteContract {

        ReadWrite() {
            super(LockRegistryContract.this);
        }
    }

    @Nested
    class Permits extends PermitContract {

        Permits() {
            super(LockRegistryContract.this);
        }
    }

    @Nested
    class Refusals extends RefusalContract {

        Refusals() {
            super(LockRegistryContract.this);
        }
    }

    @Nested
    class HandOver extends HandOverContract {

        HandOver() {
            super(LockRegistryContract.this, EXCLUSIVE);
        }

        @Test
        void aSharedLeaseStaysWhereItIs() throws Exception {
            try (Lease lease = registry().acquire(name, SHARED)) {
                assertThatIllegalStateException()
                        .isThrownBy(lease::handOver)
                        .withMessageContaining(name)
                        .withMessageContaining("other readers");
                assertThat(lease.isValid()).isTrue();
            }
            assertFree();
        }
    }

    @Nested
    class HandOverOfThePermit extends HandOverContract {

        HandOverOfThePermit() {
            super(LockRegistryContract.this, EXCLUSIVE.withPermits(1));
        }
    }

    @Nested
    class Yield extends YieldContract {

        Yield() {
            super(LockRegistryContract.this, EXCLUSIVE);
        }
    }

    @Nested
    class YieldOfAReader extends YieldContract {

        YieldOfAReader() {
            super(LockRegistryContract.this, SHARED);
        }
    }

    @Nested
    class YieldOfAPermit extends YieldContract {

        YieldOfAPermit() {
            super(LockRegistryContract.this, EXCLUSIVE.withPermits(1));
        }
    }

    @Nested
    class Dropped extends DroppedLeaseContract {

        Dropped() {
            super(LockRegistryContract.this, EXCLUSIVE);
        }

        private void takeOverAndForget() throws Exception {
            Lease lease = registry().acquire(name, kind);
            assertThat(otherRegistry().takeOver(lease.handOver(), kind).isValid())
                    .isTrue();
        }

        @Test
        void soDoesOneThatWasTakenOver() throws Exception {
            listen();
            takeOverAndForget();
            awaitLoss("takeOverAndForget");
        }

        /** As long as its thread lives, that may release the lock. */
        @Test
        void aLeaseOfAThreadThatHasEndedIsNotKept() throws Exception {
            listen();
            Thread thread = new Thread(() -> {
                NamedLock lock = registry().get(name, kind);
                lock.lock();
                lock.asLease().onLost(lock::unlock);
            });
            thread.start();
            thread.join();
            Actor.await("it is lost", () -> {
                collectGarbage();
                return losses.equals(List.of("its thread ended without releasing it"));
            });
        }
    }

    @Nested
    class DroppedReader extends DroppedLeaseContract {

        DroppedReader() {
            super(LockRegistryContract.this, SHARED);
        }
    }

    @Nested
    class DroppedPermit extends DroppedLeaseContract {

        DroppedPermit() {
            super(LockRegistryContract.this, EXCLUSIVE.withPermits(2));
        }
    }

    @Nested
    class Flights extends TwoInstances {

        private final AtomicReference<String> cache = new AtomicReference<>();
        private final AtomicInteger loads = new AtomicInteger();
        private final CompletableFuture<Void> upstream = new CompletableFuture<>();

        Flights() {
            super(LockRegistryContract.this);
        }

        /** What is loaded takes as long as the test wants. */
        private String load() {
            int which = loads.incrementAndGet();
            upstream.join();
            cache.set("value " + which);
            return cache.get();
        }

        private String fly(LockRegistry registry, LockOptions options) {
            return template(registry).singleFlight(name, options, cache::get, this::load);
        }

        /** Callers of both instances, by turns; all wait, the first for upstream. */
        private List<CompletableFuture<String>> callers(int count) {
            List<CompletableFuture<String>> callers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                LockRegistry registry = i % 2 == 0 ? registry() : otherRegistry();
                Actor caller = actor();
                callers.add(caller.start(() -> fly(registry, LockOptions.defaults())));
                Actor.await("it waits", () -> loads.get() > 0 && caller.isWaiting());
            }
            return callers;
        }

        private void assertNobodyLeads() throws Exception {
            try (Lease lease = otherRegistry().acquire(name, EXCLUSIVE.withWaitTime(Duration.ofSeconds(5)))) {
                assertThat(lease.isValid()).isTrue();
            }
        }

        @Test
        void oneLoadsAndAllReadIt() throws Exception {
            List<CompletableFuture<String>> callers = callers(12);
            upstream.complete(null);
            for (CompletableFuture<String> caller : callers) {
                assertThat(Actor.get(caller)).isEqualTo("value 1");
            }
            assertThat(loads).hasValue(1);
            assertNobodyLeads();
        }

        @Test
        void whatIsCachedIsReadWhileAnotherLoads() throws Exception {
            List<CompletableFuture<String>> leader = callers(1);
            cache.set("older");
            assertThat(fly(otherRegistry(), LockOptions.defaults())).isEqualTo("older");
            upstream.complete(null);
            assertThat(Actor.get(leader.get(0))).isEqualTo("value 1");
        }

        @Test
        void whenTheLeaderFailsExactlyOneTakesOver() throws Exception {
            CompletableFuture<Void> failure = new CompletableFuture<>();
            Actor leader = actor();
            CompletableFuture<String> failing =
                    leader.start(() -> template(registry()).singleFlight(name, cache::get, () -> {
                        failure.join();
                        throw new IllegalStateException("upstream is down");
                    }));
            Actor.await("it leads", () -> lockElsewhereIsFlown());
            List<CompletableFuture<String>> others = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                LockRegistry registry = i % 2 == 0 ? registry() : otherRegistry();
                Actor caller = actor();
                others.add(caller.start(() -> fly(registry, LockOptions.defaults())));
                Actor.await("it waits", caller::isWaiting);
            }
            failure.complete(null);
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> Actor.get(failing))
                    .withMessage("upstream is down");
            Actor.await("another leads", () -> loads.get() == 1);
            upstream.complete(null);
            for (CompletableFuture<String> caller : others) {
                assertThat(Actor.get(caller)).isEqualTo("value 1");
            }
            assertThat(loads).hasValue(1);
            assertNobodyLeads();
        }

        private boolean lockElsewhereIsFlown() {
            return otherRegistry().get(name).isLocked();
        }

        @Test
        void whoFindsNothingCachedAfterwardsLeadsNext() throws Exception {
            List<CompletableFuture<String>> callers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                LockRegistry registry = i % 2 == 0 ? registry() : otherRegistry();
                Actor caller = actor();
                callers.add(caller.start(() -> template(registry).singleFlight(name, () -> null, this::load)));
                Actor.await("it waits", () -> loads.get() > 0 && caller.isWaiting());
            }
            upstream.complete(null);
            for (CompletableFuture<String> caller : callers) {
                assertThat(Actor.get(caller)).startsWith("value ");
            }
            assertThat(loads).hasValue(4);
            assertNobodyLeads();
        }

        @Test
        void theWaitIsBounded() throws Exception {
            List<CompletableFuture<String>> leader = callers(1);
            for (LockRegistry registry : List.of(registry(), otherRegistry())) {
                for (Duration wait : List.of(Duration.ZERO, Duration.ofMillis(60))) {
                    assertThatExceptionOfType(LockNotAcquiredException.class)
                            .isThrownBy(() -> fly(registry, EXCLUSIVE.withWaitTime(wait)))
                            .satisfies(told -> assertThat(told.getWaited()).isGreaterThanOrEqualTo(wait))
                            .satisfies(told -> assertThat(told.getLockName()).isEqualTo(name));
                }
            }
            upstream.complete(null);
            assertThat(Actor.get(leader.get(0))).isEqualTo("value 1");
        }

        @Test
        void anInterruptEndsTheWaitAndIsKept() throws Exception {
            List<CompletableFuture<String>> leader = callers(1);
            for (LockRegistry registry : List.of(registry(), otherRegistry())) {
                Actor caller = actor();
                CompletableFuture<Boolean> kept = caller.start(() -> {
                    try {
                        fly(registry, LockOptions.defaults());
                        return false;
                    } catch (LockNotAcquiredException interrupted) {
                        return interrupted.getCause() instanceof InterruptedException && Thread.interrupted();
                    }
                });
                Actor.await("it waits", caller::isWaiting);
                caller.interrupt();
                assertThat(Actor.get(kept)).isTrue();
            }
            upstream.complete(null);
            assertThat(Actor.get(leader.get(0))).isEqualTo("value 1");
            assertNobodyLeads();
        }

        @Test
        void aLeaderWhoseLeaseRanOutIsToldAndTheNextLeads() throws Exception {
            Actor leader = actor();
            CompletableFuture<String> late = leader.start(() -> fly(registry(), fixedLease(EXCLUSIVE)));
            Actor.await("it leads", () -> loads.get() == 1);
            CompletableFuture<String> next =
                    actor().start(() -> template(otherRegistry()).singleFlight(name, cache::get, () -> "next"));
            assertThat(Actor.get(next)).isEqualTo("next");
            upstream.complete(null);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Actor.get(late));
        }

        /**
         * The lock is that of the name, so code that is moved to flights name by name excludes what is not moved yet.
         */
        @Test
        void codeThatLocksTheNameAndFlightsOfTheNameLoadOnce() throws Exception {
            upstream.complete(null);
            List<CompletableFuture<String>> callers = new ArrayList<>();
            try (Lease lease = registry().acquire(name, EXCLUSIVE)) {
                assertThat(lease.isValid()).isTrue();
                for (int i = 0; i < 10; i++) {
                    LockRegistry registry = i % 4 < 2 ? registry() : otherRegistry();
                    boolean byHand = i % 2 == 0;
                    Actor caller = actor();
                    callers.add(caller.start(
                            () -> byHand ? loadUnderLock(registry) : fly(registry, LockOptions.defaults())));
                    Actor.await("it waits", caller::isWaiting);
                }
            }
            for (CompletableFuture<String> caller : callers) {
                assertThat(Actor.get(caller)).isEqualTo("value 1");
            }
            assertThat(loads).hasValue(1);
            assertNobodyLeads();
        }

        private String loadUnderLock(LockRegistry registry) {
            return template(registry).execute(name, () -> {
                String cached = cache.get();
                return cached != null ? cached : load();
            });
        }

        @Test
        void aFollowerThatGivesUpLeavesTheOthersTheirFlight() throws Exception {
            List<CompletableFuture<String>> callers = callers(3);
            for (LockRegistry registry : List.of(registry(), otherRegistry())) {
                CompletableFuture<String> cancelled = template(registry)
                        .singleFlightAsync(
                                name,
                                () -> CompletableFuture.completedFuture(cache.get()),
                                CompletableFuture<String>::new);
                cancelled.cancel(false);
            }
            upstream.complete(null);
            for (CompletableFuture<String> caller : callers) {
                assertThat(Actor.get(caller)).isEqualTo("value 1");
            }
            assertNobodyLeads();
        }
    }
}
