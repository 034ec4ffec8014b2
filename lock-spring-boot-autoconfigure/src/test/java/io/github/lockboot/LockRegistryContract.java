package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What every {@link LockRegistry} does. Two registries stand for two instances of an application. */
public abstract class LockRegistryContract {

    private static final Duration SHORT_TTL = Duration.ofSeconds(1);
    private static final Duration LONGER_THAN_SHORT_TTL = Duration.ofMillis(1_300);

    protected final String name = "contract " + UUID.randomUUID();
    private final List<Actor> actors = new ArrayList<>();

    protected abstract LockRegistry registry();

    /** Another one on the same locks. */
    protected abstract LockRegistry otherRegistry();

    @AfterEach
    void actorsLeave() {
        actors.forEach(Actor::close);
    }

    private Actor actor() {
        Actor actor = new Actor();
        actors.add(actor);
        return actor;
    }

    private NamedLock lock() {
        return registry().get(name);
    }

    private NamedLock lockElsewhere() {
        return otherRegistry().get(name);
    }

    private LockOptions fixedLease() {
        return LockOptions.defaults().withTtl(SHORT_TTL).withoutRenewal();
    }

    private LockOptions waiting(Duration time) {
        return LockOptions.defaults().withWaitTime(time);
    }

    private LockTemplate template(LockRegistry registry) {
        return new LockTemplate(registry, Duration.ofSeconds(20));
    }

    private void assertFree() throws Exception {
        Actor somebody = actor();
        somebody.run(() -> {
            assertThat(lockElsewhere().tryLock(5, TimeUnit.SECONDS)).isTrue();
            lockElsewhere().unlock();
        });
    }

    @Nested
    class Handles {

        @Test
        void aHandleKnowsItsOptionsAllOfThem() {
            LockOptions asked = LockOptions.defaults().withGroup("order").withWaitTime(Duration.ofSeconds(7));
            LockOptions options = registry().get(name, asked).options();
            assertThat(options.group()).isEqualTo("order");
            assertThat(options.waitTime()).isEqualTo(Duration.ofSeconds(7));
            assertThat(options.ttl()).isEqualTo(lock().options().ttl()).isNotNull();
            assertThat(options.renew()).isNotNull();
            assertThat(registry().get(name, options).options()).isEqualTo(options);
        }

        @Test
        void withoutOptionsThoseOfTheRegistryCount() throws Exception {
            try (Lease lease = registry().acquire(name)) {
                registry().tryAcquire(name + " 2").orElseThrow().close();
                assertThat(lease.remainingLease())
                        .isLessThanOrEqualTo(lock().options().ttl());
            }
            Actor.get(registry().acquireAsync(name)).close();
            assertFree();
        }
    }

    @Nested
    class Ownership {

        @Test
        void aFreeLockIsTakenAndGivenBack() throws Exception {
            NamedLock lock = lock();
            assertThat(lock.getName()).isEqualTo(name);
            lock.lock();
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            assertThat(lock.isLocked()).isTrue();
            assertThat(lockElsewhere().isLocked()).isTrue();
            lock.unlock();
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(lock.isLocked()).isFalse();
            assertFree();
        }

        @Test
        void itExcludesOtherThreadsAndOtherInstances() throws Exception {
            Actor other = actor();
            lock().lock();
            assertThat(other.call(() -> lock().tryLock())).isFalse();
            assertThat(other.call(() -> lockElsewhere().tryLock())).isFalse();
            assertThat(other.call(() -> lock().tryLock(20, TimeUnit.MILLISECONDS)))
                    .isFalse();
            assertThat(other.call(() -> lockElsewhere().tryLock(20, TimeUnit.MILLISECONDS)))
                    .isFalse();
            assertThat(other.call(() -> lock().isHeldByCurrentThread())).isFalse();
            assertThat(other.call(() -> lock().getHoldCount())).isZero();
            lock().unlock();
            assertThat(other.call(() -> lockElsewhere().tryLock())).isTrue();
            other.run(() -> lockElsewhere().unlock());
        }

        @Test
        void itIsReentrantThroughAnyHandle() throws Exception {
            lock().lock();
            long token = lock().fencingToken();
            assertThat(lock().tryLock()).isTrue();
            assertThat(lock().tryLock(1, TimeUnit.SECONDS)).isTrue();
            lock().lockInterruptibly();
            assertThat(lock().getHoldCount()).isEqualTo(4);
            assertThat(lock().fencingToken()).isEqualTo(token);
            for (int left = 3; left >= 0; left--) {
                lock().unlock();
                assertThat(lock().getHoldCount()).isEqualTo(left);
                assertThat(lock().isHeldByCurrentThread()).isEqualTo(left > 0);
            }
            assertFree();
        }

        @Test
        void onlyItsOwnerMayUnlock() throws Exception {
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(lock()::unlock)
                    .withMessageContaining(name);
            lock().lock();
            Actor other = actor();
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(() -> other.run(() -> lock().unlock()));
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(() -> other.run(() -> lockElsewhere().unlock()));
            assertThat(lock().isHeldByCurrentThread()).isTrue();
            lock().unlock();
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock()::unlock);
        }

        @Test
        void whatOnlyAnOwnerMayAskIsRefusedToOthers() {
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock()::fencingToken);
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> lock().onLost(() -> {}));
            assertThat(lock().remainingLease()).isZero();
        }

        @Test
        void aHoldIsGivenUpOnAnotherThreadOnceAndTheOthersStay() throws Exception {
            lock().lock();
            lock().lock();
            Lease one = lock().asLease();
            assertThat(one.name()).isEqualTo(name);
            assertThat(one.fencingToken()).isEqualTo(lock().fencingToken());
            assertThat(one.isValid()).isTrue();
            Actor other = actor();
            other.run(one::close);
            other.run(one::close);
            assertThat(one.isValid()).isFalse();
            assertThat(one.remainingLease()).isZero();
            assertThat(lock().getHoldCount()).isEqualTo(1);
            assertThat(lock().isHeldByCurrentThread()).isTrue();
            assertThat(other.call(() -> lock().tryLock())).isFalse();
            Lease last = lock().asLease();
            other.run(last::close);
            assertThat(lock().isHeldByCurrentThread()).isFalse();
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock()::unlock);
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock()::asLease);
            assertFree();
        }

        @Test
        void aThreadThatGivesUpAHoldBySomebodyElseMayTakeTheLockAgain() throws Exception {
            Actor other = actor();
            for (int i = 0; i < 20; i++) {
                lock().lock();
                other.run(lock().asLease()::close);
            }
            lock().lock();
            CompletableFuture<Void> given = other.begin(lock().asLease()::close);
            lock().lock(); // before that or after it
            lock().unlock();
            Actor.get(given);
            assertThat(lock().isHeldByCurrentThread()).isFalse();
            assertFree();
        }

        @Test
        void conditionsAreNotOffered() {
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock()::newCondition);
        }

        @Test
        void tokensGrowOverThreadsAndInstances() throws Exception {
            List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
            Actor other = actor();
            for (int i = 0; i < 20; i++) {
                for (NamedLock lock : List.of(lock(), lockElsewhere())) {
                    lock.lock();
                    tokens.add(lock.fencingToken());
                    lock.unlock();
                    other.run(() -> {
                        lock.lock();
                        tokens.add(lock.fencingToken());
                        lock.unlock();
                    });
                }
            }
            assertThat(tokens).hasSize(80).doesNotHaveDuplicates().isSorted();
        }

        @ParameterizedTest
        @ValueSource(strings = {"a", " ", "a b\nc", "{tag}x", "锁:订单", "\"'\\", "a:b:c", "%s", "💰"})
        void anyTextIsAName(String text) {
            NamedLock lock = registry().get(name + text);
            lock.lock();
            assertThat(otherRegistry().get(name + text).isLocked()).isTrue();
            assertThat(otherRegistry().get(name).isLocked()).isFalse();
            lock.unlock();
        }

        @Test
        void anEmptyOrVeryLongNameIsRefused() {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> registry().get(""))
                    .withMessage("the lock name is empty");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> registry().get("x".repeat(1_025)))
                    .withMessage("the lock name has 1025 characters, at most 1024 are allowed; use a digest of what it"
                            + " names");
        }
    }

    @Nested
    class Waiting {

        @Test
        void aWaiterGetsItWhenItIsReleased() throws Exception {
            for (NamedLock waitersLock : List.of(lock(), lockElsewhere())) {
                lock().lock();
                Actor waiter = actor();
                CompletableFuture<Boolean> waited = waiter.start(() -> waitersLock.tryLock(20, TimeUnit.SECONDS));
                Actor.await("it waits", waiter::isWaiting);
                assertThat(waited).isNotDone();
                lock().unlock();
                assertThat(Actor.get(waited)).isTrue();
                waiter.run(waitersLock::unlock);
            }
            assertFree();
        }

        @Test
        void waitersOfOneInstanceAreServedInOrder() throws Exception {
            lock().lock();
            List<Integer> served = Collections.synchronizedList(new ArrayList<>());
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int number = i;
                Actor waiter = actor();
                all.add(waiter.begin(() -> {
                    lock().lock();
                    served.add(number);
                    lock().unlock();
                }));
                Actor.await("it waits", waiter::isWaiting);
            }
            lock().unlock();
            for (CompletableFuture<Void> each : all) {
                Actor.get(each);
            }
            assertThat(served).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
        }

        @ParameterizedTest
        @ValueSource(longs = {0, -1, Long.MIN_VALUE})
        void noTimeIsOneAttempt(long time) throws Exception {
            assertThat(lock().tryLock(time, TimeUnit.SECONDS)).isTrue();
            assertThat(actor().call(() -> lockElsewhere().tryLock(time, TimeUnit.SECONDS)))
                    .isFalse();
            assertThat(lock().tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
            lock().unlock();
            lock().unlock();
        }

        /** The longest durations there are have no number of nanoseconds. */
        @Test
        void anyDurationIsATime() throws Exception {
            Duration shortest = Duration.ofSeconds(Long.MIN_VALUE);
            Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
            LockOptions options = LockOptions.defaults().withWaitTime(longest).withMaxHold(longest);
            for (Duration wait : List.of(shortest, Duration.ofNanos(Long.MIN_VALUE), longest)) {
                assertThat(lock().tryLock(wait, SHORT_TTL)).isTrue();
                lock().unlock();
            }
            for (Duration delay : List.of(shortest, Duration.ofNanos(Long.MIN_VALUE))) {
                Actor.get(registry().acquire(name, options).closeAfter(delay));
            }
            Lease kept = registry().acquire(name, options);
            kept.closeAfter(longest);
            assertThat(kept.isValid()).isTrue();
            kept.close();
            assertFree();
        }

        @Test
        void aWaitEndsAfterItsTimeAndNotBefore() throws Exception {
            lock().lock();
            for (NamedLock waitersLock : List.of(lock(), lockElsewhere())) {
                long start = System.nanoTime();
                assertThat(actor().call(() -> waitersLock.tryLock(150, TimeUnit.MILLISECONDS)))
                        .isFalse();
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(150));
            }
            lock().unlock();
            assertFree();
        }

        @Test
        void anInterruptEndsAnInterruptibleWait() throws Exception {
            lock().lock();
            for (NamedLock waitersLock : List.of(lock(), lockElsewhere())) {
                for (Actor.Step step : List.<Actor.Step>of(
                        waitersLock::lockInterruptibly, () -> waitersLock.tryLock(20, TimeUnit.SECONDS))) {
                    Actor waiter = actor();
                    CompletableFuture<Void> waiting = waiter.begin(step);
                    Actor.await("it waits", waiter::isWaiting);
                    waiter.interrupt();
                    assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(waiting));
                    assertThat(waiter.call(() -> Thread.currentThread().isInterrupted()))
                            .isFalse();
                    assertThat(waiter.call(waitersLock::isHeldByCurrentThread)).isFalse();
                }
            }
            lock().unlock();
            assertFree();
        }

        @Test
        void anInterruptBeforeAnInterruptibleCallEndsItEvenIfTheLockIsFree() throws Exception {
            for (Actor.Step step : List.<Actor.Step>of(
                    lock()::lockInterruptibly,
                    () -> lock().tryLock(20, TimeUnit.SECONDS),
                    () -> lock().tryLock(0, TimeUnit.SECONDS),
                    () -> lock().tryLock(Duration.ofSeconds(20), SHORT_TTL))) {
                Actor one = actor();
                assertThatExceptionOfType(InterruptedException.class)
                        .isThrownBy(() -> one.run(() -> {
                            Thread.currentThread().interrupt();
                            step.run();
                        }));
                assertThat(one.call(() -> Thread.currentThread().isInterrupted()))
                        .isFalse();
                assertThat(lock().isLocked()).isFalse();
            }
        }

        @Test
        void anInterruptEndsNoOtherWaitAndIsKept() throws Exception {
            lock().lock();
            Actor waiter = actor();
            CompletableFuture<Boolean> waiting = waiter.start(() -> {
                lock().lock();
                boolean interrupted = Thread.currentThread().isInterrupted();
                lock().unlock();
                return interrupted && Thread.interrupted();
            });
            Actor.await("it waits", waiter::isWaiting);
            waiter.interrupt();
            Actor.pass(Duration.ofMillis(50));
            assertThat(waiting).isNotDone();
            lock().unlock();
            assertThat(Actor.get(waiting)).isTrue();
        }

        @Test
        void anInterruptStopsNeitherAnAttemptNorARelease() throws Exception {
            assertThat(actor().call(() -> {
                        Thread.currentThread().interrupt();
                        boolean taken = lock().tryLock();
                        lock().unlock();
                        return taken && Thread.interrupted();
                    }))
                    .isTrue();
            assertFree();
        }

        @Test
        void whoGaveUpDoesNotHinderThoseBehind() throws Exception {
            lock().lock();
            Actor impatient = actor();
            CompletableFuture<Boolean> gaveUp =
                    impatient.start(() -> lockElsewhere().tryLock(100, TimeUnit.MILLISECONDS));
            Actor.await("it waits", impatient::isWaiting);
            Actor patient = actor();
            CompletableFuture<Boolean> waited =
                    patient.start(() -> lockElsewhere().tryLock(20, TimeUnit.SECONDS));
            assertThat(Actor.get(gaveUp)).isFalse();
            lock().unlock();
            assertThat(Actor.get(waited)).isTrue();
            patient.run(() -> lockElsewhere().unlock());
            assertFree();
        }
    }

    @Nested
    class Leasing {

        @Test
        void aRenewedLeaseOutlastsItsTtl() throws Exception {
            NamedLock lock = registry()
                    .get(name, LockOptions.defaults().withTtl(SHORT_TTL).withRenewal());
            lock.lock();
            for (int i = 0; i < 3; i++) {
                Actor.pass(LONGER_THAN_SHORT_TTL.dividedBy(2));
                assertThat(lock.isHeldByCurrentThread()).isTrue();
                assertThat(lock.remainingLease()).isPositive().isLessThanOrEqualTo(SHORT_TTL);
                assertThat(actor().call(() -> lockElsewhere().tryLock())).isFalse();
            }
            lock.unlock();
            assertFree();
        }

        @Test
        void aFixedLeaseEndsAndItsHolderKnows() throws Exception {
            NamedLock lock = registry().get(name, fixedLease());
            AtomicInteger told = new AtomicInteger();
            lock.lock();
            lock.lock();
            lock.onLost(told::incrementAndGet);
            Actor next = actor();
            long token = lock.fencingToken();
            long nextToken = next.call(() -> {
                lockElsewhere().lock();
                return lockElsewhere().fencingToken();
            });
            assertThat(nextToken).isGreaterThan(token);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(lock.getHoldCount()).isZero();
            assertThat(lock.remainingLease()).isZero();
            Actor.await("it is told", () -> told.get() == 1);
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(lock::fencingToken)
                    .withMessageContaining(name)
                    .withMessageContaining(Long.toString(token));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(lock::unlock)
                    .isNotInstanceOf(LockLostException.class);
            assertThat(next.call(lockElsewhere()::isHeldByCurrentThread)).isTrue();
            next.run(lockElsewhere()::unlock);
            assertThat(told).hasValue(1);
        }

        @Test
        void whoLostItMayTakeItAnewAndIsStillToldByTheOlderUnlock() {
            NamedLock lock = registry().get(name, fixedLease());
            lock.lock();
            Actor.pass(LONGER_THAN_SHORT_TTL);
            lock.lock();
            assertThat(lock.getHoldCount()).isEqualTo(1);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        }

        @Test
        void aHoldThatWasLostTellsItsLeaseAndLeavesTheNewerAlone() throws Exception {
            NamedLock lock = registry().get(name, fixedLease());
            lock.lock();
            Lease lost = lock.asLease();
            Actor.await("it is lost", () -> !lock.isHeldByCurrentThread());
            assertThat(lost.isValid()).isFalse();
            lock().lock();
            Actor other = actor();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> other.run(lost::close));
            assertThat(lock().isHeldByCurrentThread()).isTrue();
            lock().unlock();
            assertFree();
        }

        @Test
        void aHoldMayHaveALeaseOfItsOwn() throws Exception {
            assertThat(lock().tryLock(Duration.ZERO, Duration.ofSeconds(100))).isTrue();
            assertThat(lock().remainingLease()).isBetween(Duration.ofSeconds(90), Duration.ofSeconds(100));
            lock().unlock();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> lock().tryLock(Duration.ZERO, Duration.ofMillis(999)))
                    .withMessage("ttl is PT0.999S; it must be at least 1000 ms");
            assertFree();
        }

        @Test
        void aHolderBeyondItsMaxHoldLosesTheLock() throws Exception {
            NamedLock lock = registry()
                    .get(
                            name,
                            LockOptions.defaults()
                                    .withTtl(SHORT_TTL)
                                    .withRenewal()
                                    .withMaxHold(Duration.ofMillis(1_500)));
            AtomicInteger told = new AtomicInteger();
            lock.lock();
            lock.onLost(told::incrementAndGet);
            Actor.pass(LONGER_THAN_SHORT_TTL);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            Actor.await("it is lost", Duration.ofSeconds(5), () -> !lock.isHeldByCurrentThread());
            Actor.await("it is told", () -> told.get() == 1);
            assertFree();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        }

        @Test
        void aHoldThatAnyThreadMayReleaseOutlivesItsOwn() throws Exception {
            LockOptions renewed = LockOptions.defaults().withTtl(SHORT_TTL).withRenewal();
            AtomicReference<Lease> lease = new AtomicReference<>();
            Thread holder = new Thread(() -> {
                NamedLock lock = registry().get(name, renewed);
                lock.lock();
                lease.set(lock.asLease());
            });
            holder.start();
            holder.join();
            Actor.pass(LONGER_THAN_SHORT_TTL);
            assertThat(lockElsewhere().tryLock()).isFalse();
            assertThat(lease.get().isValid()).isTrue();
            lease.get().close();
            assertFree();
        }

        @Test
        void aThreadThatEndsWithTheLockLosesItWithinItsTtl() throws Exception {
            LockOptions renewed = LockOptions.defaults().withTtl(SHORT_TTL).withRenewal();
            AtomicInteger told = new AtomicInteger();
            Thread holder = new Thread(() -> {
                NamedLock lock = registry().get(name, renewed);
                lock.lock();
                lock.onLost(told::incrementAndGet);
            });
            holder.start();
            holder.join();
            for (LockRegistry each : List.of(otherRegistry(), registry())) {
                Lease next = each.acquire(name, waiting(Duration.ofSeconds(20)));
                next.close();
            }
            Actor.await("it is told", () -> told.get() == 1);
        }

        @Test
        void aFixedLeaseIsItsWholeTtlAfterAWaitToo() throws Exception {
            Duration ttl = Duration.ofSeconds(20);
            LockOptions options = LockOptions.defaults().withTtl(ttl).withoutRenewal();
            lock().lock();
            Actor waiter = actor();
            NamedLock waitersLock = otherRegistry().get(name, options);
            CompletableFuture<Duration> remaining = waiter.start(() -> {
                waitersLock.lock();
                return waitersLock.remainingLease();
            });
            Actor.await("it waits", waiter::isWaiting);
            lock().unlock();
            assertThat(Actor.get(remaining)).isBetween(Duration.ofSeconds(15), ttl);
            waiter.run(waitersLock::unlock);
        }
    }

    @Nested
    class Leases {

        @Test
        void aLeaseBelongsToNoThread() throws Exception {
            Lease lease = registry().acquire(name, waiting(Duration.ZERO));
            assertThat(lease.name()).isEqualTo(name);
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.remainingLease()).isPositive();
            assertThat(lock().isHeldByCurrentThread()).isFalse();
            assertThat(lock().tryLock()).isFalse();
            assertThat(registry().tryAcquire(name, waiting(Duration.ZERO))).isEmpty();
            actor().run(lease::close);
            assertThat(lease.isValid()).isFalse();
            assertThat(lease.remainingLease()).isZero();
            assertThat(lease.fencingToken()).isPositive();
            lease.close();
            assertFree();
        }

        @Test
        void whoWaitsInVainIsToldForHowLong() throws Exception {
            lock().lock();
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> registry().acquire(name, waiting(Duration.ofMillis(80))))
                    .satisfies(e -> {
                        assertThat(e.getLockName()).isEqualTo(name);
                        assertThat(e.getWaited()).isGreaterThanOrEqualTo(Duration.ofMillis(80));
                    });
            lock().unlock();
        }

        @Test
        void threadsAndLeasesWaitInOneQueue() throws Exception {
            lock().lock();
            CompletableFuture<Lease> lease = registry().acquireAsync(name, waiting(Duration.ofSeconds(20)));
            Actor thread = actor();
            CompletableFuture<Boolean> waited = thread.start(() -> lock().tryLock(20, TimeUnit.SECONDS));
            Actor.await("it waits", thread::isWaiting);
            assertThat(lease).isNotDone();
            lock().unlock();
            Lease granted = Actor.get(lease);
            assertThat(waited).isNotDone();
            granted.close();
            assertThat(Actor.get(waited)).isTrue();
            thread.run(lock()::unlock);
        }

        @Test
        void aCancelledWaitLeavesTheQueue() throws Exception {
            lock().lock();
            CompletableFuture<Lease> given = otherRegistry().acquireAsync(name, waiting(Duration.ofSeconds(20)));
            CompletableFuture<Lease> kept = otherRegistry().acquireAsync(name, waiting(Duration.ofSeconds(20)));
            given.cancel(false);
            lock().unlock();
            Lease lease = Actor.get(kept);
            assertThat(lease.isValid()).isTrue();
            lease.close();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(given::join);
            assertFree();
        }

        @Test
        void anAsynchronousWaitEndsAfterItsTime() throws Exception {
            lock().lock();
            CompletableFuture<Lease> lease = otherRegistry().acquireAsync(name, waiting(Duration.ofMillis(80)));
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(lease));
            lock().unlock();
            assertFree();
        }

        @Test
        void anInterruptEndsTheWaitForALease() throws Exception {
            lock().lock();
            Actor waiter = actor();
            CompletableFuture<Optional<Lease>> waiting =
                    waiter.start(() -> otherRegistry().tryAcquire(name, waiting(Duration.ofSeconds(20))));
            Actor.await("it waits", waiter::isWaiting);
            waiter.interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(waiting));
            lock().unlock();
            assertFree();
        }

        @Test
        void aLeaseClosedLaterIsHeldUntilThen() throws Exception {
            long start = System.nanoTime();
            Lease lease = registry().acquire(name, waiting(Duration.ZERO));
            CompletableFuture<Void> closed = lease.closeAfter(Duration.ofMillis(300));
            Lease next = otherRegistry().acquire(name, waiting(Duration.ofSeconds(20)));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            Actor.get(closed);
            assertThat(lease.isValid()).isFalse();
            next.close();
            assertFree();
        }

        @Test
        void aLeaseClosedWithoutDelayIsFreeWhenTheFutureSaysSo() throws Exception {
            Lease lease = registry().acquire(name, waiting(Duration.ZERO));
            Actor.get(lease.closeAfter(Duration.ZERO));
            assertFree();
            Actor.get(lease.closeAfter(Duration.ZERO));
        }

        @Test
        void aLostLeaseFailsTheFutureOfItsClose() throws Exception {
            Lease lease = registry().acquire(name, fixedLease());
            Actor.await("it ends", () -> !lease.isValid());
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> Actor.get(lease.closeAfter(Duration.ZERO)));
            assertFree();
        }

        @Test
        void aLostLeaseTellsOnceAndThrowsOnClose() throws Exception {
            AtomicInteger told = new AtomicInteger();
            Lease lease = registry().acquire(name, fixedLease());
            lease.onLost(told::incrementAndGet);
            Actor.await("it ends", () -> !lease.isValid());
            Actor.await("it is told", () -> told.get() == 1);
            lease.onLost(told::incrementAndGet);
            Actor.await("who asks late is told at once", () -> told.get() == 2);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
            assertFree();
        }
    }

    @Nested
    class SeveralAsOne {

        private final List<String> names = List.of(name + " b", name + " c", name + " a", name + " b");

        private Lock all() {
            return registry().allOf(names);
        }

        private Lock allElsewhere() {
            return otherRegistry().allOf(names);
        }

        private NamedLock a() {
            return registry().get(name + " a");
        }

        private NamedLock b() {
            return registry().get(name + " b");
        }

        private NamedLock c() {
            return registry().get(name + " c");
        }

        private void assertNoneIsHeld() {
            assertThat(List.of(a().isLocked(), b().isLocked(), c().isLocked())).containsOnly(false);
        }

        /** An actor of another instance that holds the one lock until it is told to give it back. */
        private Actor holderOf(NamedLock lock) throws Exception {
            Actor holder = actor();
            holder.run(() -> otherRegistry().get(lock.getName()).lock());
            return holder;
        }

        private void release(Actor holder, NamedLock lock) throws Exception {
            holder.run(() -> otherRegistry().get(lock.getName()).unlock());
        }

        @Test
        void allAreTakenAndGivenBack() throws Exception {
            for (Actor.Step taking : List.<Actor.Step>of(
                    all()::lock,
                    all()::lockInterruptibly,
                    () -> assertThat(all().tryLock()).isTrue(),
                    () -> assertThat(all().tryLock(0, TimeUnit.SECONDS)).isTrue(),
                    () -> assertThat(all().tryLock(Long.MAX_VALUE, TimeUnit.DAYS))
                            .isTrue())) {
                taking.run();
                assertThat(List.of(a().getHoldCount(), b().getHoldCount(), c().getHoldCount()))
                        .containsOnly(1);
                boolean takenElsewhere = actor().call(allElsewhere()::tryLock);
                assertThat(takenElsewhere).isFalse();
                all().unlock();
                assertNoneIsHeld();
            }
        }

        @Test
        void takenAgainEachCountsUp() {
            b().lock();
            all().lock();
            all().lock();
            all().unlock();
            assertThat(List.of(a().getHoldCount(), b().getHoldCount(), c().getHoldCount()))
                    .containsExactly(1, 2, 1);
            all().unlock();
            b().unlock();
            assertNoneIsHeld();
        }

        @Test
        void ifOneIsAnothersNoneIsTaken() throws Exception {
            for (NamedLock one : List.of(a(), b(), c())) {
                Actor holder = holderOf(one);
                assertThat(all().tryLock()).isFalse();
                assertThat(all().tryLock(-1, TimeUnit.SECONDS)).isFalse();
                assertThat(all().tryLock(20, TimeUnit.MILLISECONDS)).isFalse();
                assertThat(List.of(a().getHoldCount(), b().getHoldCount(), c().getHoldCount()))
                        .containsOnly(0);
                release(holder, one);
                // For a moment it may be given to the one who has just left.
                Actor.await("all are free", () -> !a().isLocked() && !b().isLocked() && !c().isLocked());
            }
        }

        @Test
        void theyAreTakenInTheOrderOfTheirNames() throws Exception {
            Actor holder = holderOf(b());
            Actor waiter = actor();
            CompletableFuture<Boolean> waiting = waiter.start(() -> all().tryLock(20, TimeUnit.SECONDS));
            Actor.await("it waits with the first", () -> a().isLocked() && waiter.isWaiting());
            assertThat(c().isLocked()).isFalse();
            assertThat(waiting).isNotDone();
            release(holder, b());
            assertThat(Actor.get(waiting)).isTrue();
            waiter.run(() -> all().unlock());
            assertNoneIsHeld();
        }

        @Test
        void oneDeadlineIsForAll() throws Exception {
            Actor first = holderOf(a());
            Actor second = holderOf(b());
            Actor waiter = actor();
            long start = System.nanoTime();
            CompletableFuture<Boolean> waiting = waiter.start(() -> all().tryLock(1_500, TimeUnit.MILLISECONDS));
            Actor.pass(Duration.ofMillis(1_000));
            release(first, a());
            assertThat(Actor.get(waiting)).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(Duration.ofMillis(1_500), Duration.ofMillis(2_400));
            assertThat(a().isLocked()).isFalse();
            release(second, b());
        }

        @Test
        void anInterruptGivesBackWhatWasTaken() throws Exception {
            Actor holder = holderOf(c());
            for (Actor.Step taking :
                    List.<Actor.Step>of(all()::lockInterruptibly, () -> all().tryLock(20, TimeUnit.SECONDS))) {
                Actor waiter = actor();
                CompletableFuture<Void> waiting = waiter.begin(taking);
                Actor.await("it waits with two", () -> b().isLocked() && waiter.isWaiting());
                waiter.interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(waiting));
                assertThat(a().isLocked()).isFalse();
                assertThat(b().isLocked()).isFalse();
            }
            release(holder, c());
        }

        @Test
        void callersWithNamesInCommonDoNotDeadlock() throws Exception {
            List<List<String>> orders =
                    List.of(List.of(name + " a", name + " b"), List.of(name + " b", name + " a"), names);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Lock lock = (i % 2 == 0 ? registry() : otherRegistry()).allOf(orders.get(i % orders.size()));
                all.add(actor().begin(() -> {
                    for (int round = 0; round < 20; round++) {
                        lock.lock();
                        lock.unlock();
                    }
                }));
            }
            for (CompletableFuture<Void> each : all) {
                Actor.get(each);
            }
            assertNoneIsHeld();
        }

        @Test
        void allAreGivenBackAlsoIfOneWasLost() {
            registry().get(name + " b", fixedLease()).lock();
            all().lock();
            b().unlock();
            Actor.await("one is lost", () -> !b().isHeldByCurrentThread());
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(all()::unlock)
                    .satisfies(lost -> assertThat(lost.getLockName()).isEqualTo(name + " b"));
            assertThat(a().isLocked() || c().isLocked()).isFalse();
            Actor.await("its lease ends for others too", () -> !b().isLocked());
        }

        @Test
        void whatRunsOutDuringTheWaitIsTakenAnew() throws Exception {
            Actor holder = holderOf(b());
            Actor waiter = actor();
            Lock fixed = registry().allOf(names, fixedLease());
            CompletableFuture<Boolean> waiting = waiter.start(() -> {
                fixed.lock();
                return a().isHeldByCurrentThread() && b().isHeldByCurrentThread() && c().isHeldByCurrentThread();
            });
            Actor.await("it waits with the first", () -> a().isLocked() && waiter.isWaiting());
            Actor.await("the first runs out", () -> !a().isLocked());
            release(holder, b());
            assertThat(Actor.get(waiting)).isTrue();
            waiter.run(fixed::unlock);
            assertNoneIsHeld();
        }

        @Test
        void onlyItsOwnerMayUnlock() throws Exception {
            all().lock();
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(() -> actor().run(() -> all().unlock()));
            assertThat(b().isHeldByCurrentThread()).isTrue();
            all().unlock();
        }

        @Test
        void someNameMustBeGivenAndEachBeLegal() {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> registry().allOf(List.of()))
                    .withMessage("there are no lock names");
            assertThatIllegalArgumentException().isThrownBy(() -> registry().allOf(List.of("a", "")));
        }

        @Test
        void conditionsAreNotOffered() {
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(all()::newCondition);
        }
    }

    @Nested
    class Flights {

        private final AtomicReference<String> cache = new AtomicReference<>();
        private final AtomicInteger loads = new AtomicInteger();
        private final CompletableFuture<Void> upstream = new CompletableFuture<>();

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
            try (Lease lease = otherRegistry().acquire("flight:" + name, waiting(Duration.ofSeconds(5)))) {
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
            return otherRegistry().get("flight:" + name).isLocked();
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
                            .isThrownBy(() -> fly(registry, waiting(wait)))
                            .satisfies(told -> assertThat(told.getWaited()).isGreaterThanOrEqualTo(wait))
                            .satisfies(told -> assertThat(told.getLockName()).isEqualTo("flight:" + name));
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
            CompletableFuture<String> late = leader.start(() -> fly(registry(), fixedLease()));
            Actor.await("it leads", () -> loads.get() == 1);
            CompletableFuture<String> next =
                    actor().start(() -> template(otherRegistry()).singleFlight(name, cache::get, () -> "next"));
            assertThat(Actor.get(next)).isEqualTo("next");
            upstream.complete(null);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Actor.get(late));
        }

        @Test
        void aLockOfThatNameIsAnother() throws Exception {
            lock().lock();
            upstream.complete(null);
            assertThat(fly(registry(), LockOptions.defaults())).isEqualTo("value 1");
            lock().unlock();
        }

        @Test
        void completingServesThoseWhoWaitForTheLockItself() throws Exception {
            LockOptions patient = waiting(Duration.ofSeconds(20));
            for (LockRegistry registry : List.of(registry(), otherRegistry())) {
                Lease lead = registry().acquire(name, patient);
                CompletableFuture<Lease> plain = registry.acquireAsync(name, patient);
                CompletableFuture<Optional<Lease>> follower = follow(registry);
                ((LockRuntime) registry()).complete(lead);
                Actor.get(plain).close();
                Actor.get(follower).ifPresent(Lease::close);
            }
            assertFree();
        }

        private CompletableFuture<Optional<Lease>> follow(LockRegistry registry) {
            return ((LockRuntime) registry).acquireOrFollowAsync(registry.get(name), Duration.ofSeconds(20));
        }

        @Test
        void aFollowerThatIsCancelledLeaves() throws Exception {
            LockOptions patient = waiting(Duration.ofSeconds(20));
            Lease lead = registry().acquire(name, patient);
            List<CompletableFuture<Optional<Lease>>> followers = List.of(follow(registry()), follow(otherRegistry()));
            followers.forEach(follower -> follower.cancel(false));
            lead.close();
            assertFree();
        }
    }
}
