package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What every {@link NamedLock} does, whoever may hold it beside others. A <em>rival</em> is a lock of the same name
 * that excludes it and that it excludes.
 */
abstract class NamedLockContract extends TwoInstances {

    private final LockOptions kind;
    private final LockOptions rival;

    /**
     * @param kind of the lock
     * @param rival kind of the rival, which excludes itself, too
     */
    NamedLockContract(LockRegistryContract contract, LockOptions kind, LockOptions rival) {
        super(contract);
        this.kind = kind;
        this.rival = rival;
    }

    NamedLock get(LockRegistry registry, String name, LockOptions options) {
        return registry.get(name, options);
    }

    private NamedLock lock() {
        return get(registry(), name, kind);
    }

    private NamedLock lockElsewhere() {
        return get(otherRegistry(), name, kind);
    }

    private NamedLock rival() {
        return registry().get(name, rival);
    }

    private NamedLock rivalElsewhere() {
        return otherRegistry().get(name, rival);
    }

    private boolean excludesItself() {
        return kind.equals(rival);
    }

    @Nested
    class Handles {

        @Test
        void aHandleKnowsItsOptionsAllOfThem() {
            LockOptions asked = kind.withGroup("order").withWaitTime(Duration.ofSeconds(7));
            LockOptions options = get(registry(), name, asked).options();
            assertThat(options.group()).isEqualTo("order");
            assertThat(options.waitTime()).isEqualTo(Duration.ofSeconds(7));
            assertThat(options.ttl()).isEqualTo(lock().options().ttl()).isNotNull();
            assertThat(options.renew()).isNotNull();
            assertThat(options.mode() == DistributedLock.Mode.SHARED).isEqualTo(!excludesItself());
            assertThat(options.permits()).isEqualTo(kind.permits());
            assertThat(get(registry(), name, options).options()).isEqualTo(options);
        }

        @Test
        void aHandleShowsItsNameOnOneLine() {
            assertThat(lock().toString()).endsWith("Lock[" + name + "]");
            assertThat(get(registry(), name + "\n", kind).toString())
                    .contains(name)
                    .doesNotContain("\n");
        }

        @Test
        void twoHandlesOfOneLockAreEqualHoweverItIsWaitedFor() {
            LockOptions others = kind.withTtl(Duration.ofSeconds(77))
                    .withWaitTime(Duration.ofSeconds(7))
                    .withGroup("order");
            NamedLock other = get(registry(), name, others);
            assertThat(lock()).isEqualTo(lock()).isEqualTo(other).hasSameHashCodeAs(other);
            Map<NamedLock, String> values = new ConcurrentHashMap<>();
            values.put(lock(), "one");
            values.put(other, "the same");
            assertThat(values).hasSize(1).containsEntry(lock(), "the same");
            assertThat(registry().readWrite(name)).isEqualTo(registry().readWrite(name));
        }

        @Test
        void handlesOfDifferentLocksAreNotEqual() {
            assertThat(lock())
                    .isNotEqualTo(get(registry(), name + " 2", kind))
                    .isNotEqualTo(lockElsewhere())
                    .isNotEqualTo(get(registry(), name, LockOptions.defaults().withPermits(77)))
                    .isNotEqualTo(name)
                    .isNotEqualTo(null);
            assertThat(registry().get(name))
                    .isNotEqualTo(registry().get(name, LockOptions.defaults().shared()));
            assertThat(registry().readWrite(name)).isNotEqualTo(otherRegistry().readWrite(name));
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
            assertRefused(rival());
            assertRefused(rivalElsewhere());
            assertThat(other.call(() -> lock().isHeldByCurrentThread())).isFalse();
            assertThat(other.call(() -> lock().getHoldCount())).isZero();
            lock().unlock();
            assertThat(other.call(() -> rivalElsewhere().tryLock())).isTrue();
            assertThat(lock().tryLock()).isFalse();
            assertThat(lock().tryLock(20, TimeUnit.MILLISECONDS)).isFalse();
            other.run(() -> rivalElsewhere().unlock());
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
        void whatIsReleasedWithoutWaitingIsFreeForOthersAndAtOnceForThisInstance() throws Exception {
            LockOptions sent = kind.withRelease(DistributedLock.Release.SEND);
            NamedLock lock = get(registry(), name, sent);
            lock().lock();
            lock().unlock(); // from now on Redis knows the scripts
            for (int i = 0; i < 20; i++) {
                assertThat(lock.tryLock()).isTrue();
                lock.unlock();
                assertThat(lock.isHeldByCurrentThread()).isFalse();
                assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
            }
            template(registry())
                    .execute(
                            name,
                            sent,
                            () -> assertThat(lock.isHeldByCurrentThread()).isTrue());
            Actor.get(registry().acquire(name, sent).closeAfter(Duration.ZERO));
            assertThat(rival().tryLock()).isTrue();
            rival().unlock();
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
            assertThat(other.call(() -> rival().tryLock())).isFalse();
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
            assertThat(tokens).hasSize(80).isSorted();
            if (excludesItself()) {
                assertThat(tokens).doesNotHaveDuplicates();
            }
        }

        @ParameterizedTest
        @ValueSource(strings = {"a", " ", "a b\nc", "{tag}x", "锁:订单", "\"'\\", "a:b:c", "%s", "💰"})
        void anyTextIsAName(String text) {
            NamedLock lock = get(registry(), name + text, kind);
            lock.lock();
            assertThat(otherRegistry().get(name + text).isLocked()).isTrue();
            assertThat(otherRegistry().get(name).isLocked()).isFalse();
            lock.unlock();
        }

        @Test
        void anEmptyOrVeryLongNameIsRefused() {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> get(registry(), "", kind))
                    .withMessage("the lock name is empty");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> get(registry(), "x".repeat(1_025), kind))
                    .withMessage("the lock name has 1025 characters, at most 1024 are allowed; use a digest of what it"
                            + " names");
        }
    }

    @Nested
    class Waiting {

        @Test
        void aWaiterGetsItWhenItIsReleased() throws Exception {
            for (NamedLock waitersLock : List.of(lock(), lockElsewhere())) {
                rival().lock();
                Actor waiter = actor();
                CompletableFuture<Boolean> waited = waiter.start(() -> waitersLock.tryLock(20, TimeUnit.SECONDS));
                Actor.await("it waits", waiter::isWaiting);
                assertThat(waited).isNotDone();
                rival().unlock();
                assertThat(Actor.get(waited)).isTrue();
                waiter.run(waitersLock::unlock);
            }
            assertFree();
        }

        @Test
        void waitersOfOneInstanceAreServedInOrder() throws Exception {
            rival().lock();
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
            rival().unlock();
            for (CompletableFuture<Void> each : all) {
                Actor.get(each);
            }
            assertThat(served).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7);
            if (excludesItself()) {
                assertThat(served).isSorted();
            }
        }

        @ParameterizedTest
        @ValueSource(longs = {0, -1, Long.MIN_VALUE})
        void noTimeIsOneAttempt(long time) throws Exception {
            assertThat(lock().tryLock(time, TimeUnit.SECONDS)).isTrue();
            assertThat(actor().call(() -> rivalElsewhere().tryLock(time, TimeUnit.SECONDS)))
                    .isFalse();
            assertThat(lock().tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
            lock().unlock();
            lock().unlock();
            Caller holder = holder(rivalElsewhere());
            assertThat(lock().tryLock(time, TimeUnit.SECONDS)).isFalse();
            holder.unlock();
        }

        /** The longest durations there are have no number of nanoseconds. */
        @Test
        void anyDurationIsATime() throws Exception {
            Duration shortest = Duration.ofSeconds(Long.MIN_VALUE);
            Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
            LockOptions options = kind.withWaitTime(longest).withMaxHold(longest);
            for (Duration wait : List.of(shortest, Duration.ofNanos(Long.MIN_VALUE), longest)) {
                assertThat(lock().tryLock(wait, SHORT_TTL)).isTrue();
                lock().unlock();
            }
            for (Duration delay : List.of(shortest, Duration.ofNanos(Long.MIN_VALUE))) {
                Actor.get(registry().acquire(name, options).closeAfter(delay));
            }
            assertFree();
        }

        @Test
        void aWaitEndsAfterItsTimeAndNotBefore() throws Exception {
            rival().lock();
            for (NamedLock waitersLock : List.of(lock(), lockElsewhere())) {
                long start = System.nanoTime();
                assertThat(actor().call(() -> waitersLock.tryLock(150, TimeUnit.MILLISECONDS)))
                        .isFalse();
                assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(150));
            }
            rival().unlock();
            assertFree();
        }

        @Test
        void anInterruptEndsAnInterruptibleWait() throws Exception {
            rival().lock();
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
            rival().unlock();
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
            rival().lock();
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
            rival().unlock();
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
            rival().lock();
            Actor impatient = actor();
            CompletableFuture<Boolean> gaveUp =
                    impatient.start(() -> lockElsewhere().tryLock(100, TimeUnit.MILLISECONDS));
            Actor.await("it waits, or did", () -> impatient.isWaiting() || gaveUp.isDone());
            Actor patient = actor();
            CompletableFuture<Boolean> waited =
                    patient.start(() -> lockElsewhere().tryLock(20, TimeUnit.SECONDS));
            assertThat(Actor.get(gaveUp)).isFalse();
            rival().unlock();
            assertThat(Actor.get(waited)).isTrue();
            patient.run(() -> lockElsewhere().unlock());
            assertFree();
        }
    }

    @Nested
    class Leasing {

        @Test
        void aRenewedLeaseOutlastsItsTtl() throws Exception {
            NamedLock lock = get(registry(), name, renewedLease(kind));
            lock.lock();
            for (int i = 0; i < 3; i++) {
                pass(LONGER_THAN_RENEWED_TTL.dividedBy(2));
                assertThat(lock.isHeldByCurrentThread()).isTrue();
                assertThat(lock.remainingLease()).isPositive().isLessThanOrEqualTo(RENEWED_TTL);
                assertThat(actor().call(() -> rivalElsewhere().tryLock())).isFalse();
            }
            lock.unlock();
            assertFree();
        }

        @Test
        void aFixedLeaseEndsAndItsHolderKnows() throws Exception {
            NamedLock lock = get(registry(), name, fixedLease(kind));
            AtomicInteger told = new AtomicInteger();
            lock.lock();
            lock.lock();
            lock.onLost(told::incrementAndGet);
            Actor next = actor();
            long token = lock.fencingToken();
            long nextToken = next.call(() -> {
                rivalElsewhere().lock();
                return rivalElsewhere().fencingToken();
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
            assertThat(next.call(rivalElsewhere()::isHeldByCurrentThread)).isTrue();
            next.run(rivalElsewhere()::unlock);
            assertThat(told).hasValue(1);
        }

        @Test
        void whoLostItMayTakeItAnewAndIsStillToldByTheOlderUnlock() {
            NamedLock lock = get(registry(), name, fixedLease(kind));
            lock.lock();
            pass(LONGER_THAN_SHORT_TTL);
            lock.lock();
            assertThat(lock.getHoldCount()).isEqualTo(1);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        }

        @Test
        void aHoldThatWasLostTellsItsLeaseAndLeavesTheNewerAlone() throws Exception {
            NamedLock lock = get(registry(), name, fixedLease(kind));
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
        void anExtendedLeaseOutlastsItsTtl() throws Exception {
            NamedLock lock = get(registry(), name, fixedLease(kind));
            lock.lock();
            assertThat(lock.extend(Duration.ofSeconds(60))).isTrue();
            assertThat(lock.remainingLease()).isBetween(Duration.ofSeconds(50), Duration.ofSeconds(60));
            for (int i = 0; i < 2; i++) {
                pass(LONGER_THAN_SHORT_TTL);
                assertThat(actor().call(() -> rivalElsewhere().tryLock())).isFalse();
            }
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            lock.unlock();
            assertFree();
        }

        @Test
        void anExtensionShortensNoLease() {
            NamedLock lock = get(registry(), name, fixedLease(kind).withTtl(Duration.ofSeconds(60)));
            lock.lock();
            assertThat(lock.extend(SHORT_TTL)).isTrue();
            assertThat(lock.remainingLease()).isGreaterThan(Duration.ofSeconds(50));
            lock.unlock();
        }

        @Test
        void anExtensionEndsWithTheMaximumHold() throws Exception {
            NamedLock lock = get(registry(), name, fixedLease(kind).withMaxHold(SHORT_TTL.multipliedBy(2)));
            lock.lock();
            assertThat(lock.extend(Duration.ofSeconds(60))).isTrue();
            assertThat(lock.remainingLease()).isLessThanOrEqualTo(SHORT_TTL.multipliedBy(2));
            Actor.await("it is lost", () -> !lock.isHeldByCurrentThread());
            assertThat(lock.extend(Duration.ofSeconds(60))).isFalse();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertFree();
        }

        @Test
        void aHoldThatWasLostIsNotExtended() throws Exception {
            NamedLock lock = get(registry(), name, fixedLease(kind));
            lock.lock();
            pass(LONGER_THAN_SHORT_TTL);
            assertThat(lock.extend(Duration.ofSeconds(60))).isFalse();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
            assertFree();
        }

        @Test
        void onlyAHoldOfThisThreadThatIsNotRenewedIsExtended() throws Exception {
            NamedLock fixed = get(registry(), name, fixedLease(kind));
            assertThatExceptionOfType(IllegalMonitorStateException.class)
                    .isThrownBy(() -> fixed.extend(Duration.ofSeconds(60)))
                    .withMessageContaining(name);
            NamedLock renewed = get(registry(), name, renewedLease(kind));
            renewed.lock();
            assertThatIllegalStateException()
                    .isThrownBy(() -> renewed.extend(Duration.ofSeconds(60)))
                    .withMessageContaining(name)
                    .withMessageContaining("only a lease without renewal can be extended");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> renewed.extend(Duration.ofMillis(999)))
                    .withMessageContaining("ttl");
            renewed.unlock();
        }

        @Test
        void aLeaseIsExtendedUntilItIsClosed() throws Exception {
            Lease lease = registry().acquire(name, fixedLease(kind));
            assertThat(lease.extend(Duration.ofSeconds(60))).isTrue();
            assertThat(lease.remainingLease()).isGreaterThan(Duration.ofSeconds(50));
            lease.close();
            assertThat(lease.extend(Duration.ofSeconds(60))).isFalse();
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
            NamedLock lock = get(registry(), name, renewedLease(kind).withMaxHold(Duration.ofSeconds(8)));
            AtomicInteger told = new AtomicInteger();
            lock.lock();
            lock.onLost(told::incrementAndGet);
            pass(LONGER_THAN_RENEWED_TTL);
            assertThat(lock.isHeldByCurrentThread()).isTrue();
            Actor.await("it is lost", LONG, () -> !lock.isHeldByCurrentThread());
            Actor.await("it is told", () -> told.get() == 1);
            assertFree();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::unlock);
        }

        @Test
        void aHoldThatAnyThreadMayReleaseOutlivesItsOwn() throws Exception {
            LockOptions renewed = renewedLease(kind);
            AtomicReference<Lease> lease = new AtomicReference<>();
            Thread holder = new Thread(() -> {
                NamedLock lock = get(registry(), name, renewed);
                lock.lock();
                lease.set(lock.asLease());
            });
            holder.start();
            holder.join();
            pass(LONGER_THAN_RENEWED_TTL);
            assertThat(rivalElsewhere().tryLock()).isFalse();
            assertThat(lease.get().isValid()).isTrue();
            lease.get().close();
            assertFree();
        }

        @Test
        void aThreadThatEndsWithTheLockLosesItWithinItsTtl() throws Exception {
            isLostWithItsThread(lock -> {});
        }

        @Test
        void aThreadThatEndsWithTheLockLosesItAlsoIfAnyThreadCouldHaveReleasedOneOfItsHolds() throws Exception {
            isLostWithItsThread(lock -> {
                lock.lock();
                lock.asLease().close();
            });
        }

        private void isLostWithItsThread(Consumer<NamedLock> use) throws Exception {
            LockOptions renewed = kind.withTtl(SHORT_TTL).withRenewal();
            AtomicInteger told = new AtomicInteger();
            Thread holder = new Thread(() -> {
                NamedLock lock = get(registry(), name, renewed);
                lock.lock();
                lock.onLost(told::incrementAndGet);
                use.accept(lock);
            });
            holder.start();
            holder.join();
            for (LockRegistry each : List.of(otherRegistry(), registry())) {
                Lease next = each.acquire(name, rival.withWaitTime(Duration.ofSeconds(20)));
                next.close();
            }
            Actor.await("it is told", () -> told.get() == 1);
        }

        @Test
        void aFixedLeaseIsItsWholeTtlAfterAWaitToo() throws Exception {
            Duration ttl = Duration.ofSeconds(20);
            LockOptions options = kind.withTtl(ttl).withoutRenewal();
            rival().lock();
            Actor waiter = actor();
            NamedLock waitersLock = get(otherRegistry(), name, options);
            CompletableFuture<Duration> remaining = waiter.start(() -> {
                waitersLock.lock();
                return waitersLock.remainingLease();
            });
            Actor.await("it waits", waiter::isWaiting);
            rival().unlock();
            assertThat(Actor.get(remaining)).isBetween(Duration.ofSeconds(15), ttl);
            waiter.run(waitersLock::unlock);
        }
    }

    @Nested
    class Leases {

        @Test
        void aLeaseBelongsToNoThread() throws Exception {
            Lease lease = registry().acquire(name, kind.withWaitTime(Duration.ZERO));
            assertThat(lease.name()).isEqualTo(name);
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.remainingLease()).isPositive();
            assertThat(lock().isHeldByCurrentThread()).isFalse();
            assertThat(rival().tryLock()).isFalse();
            assertThat(registry().tryAcquire(name, rival.withWaitTime(Duration.ZERO)))
                    .isEmpty();
            actor().run(lease::close);
            assertThat(lease.isValid()).isFalse();
            assertThat(lease.remainingLease()).isZero();
            assertThat(lease.fencingToken()).isPositive();
            lease.close();
            assertFree();
        }

        @Test
        void whoWaitsInVainIsToldForHowLong() throws Exception {
            rival().lock();
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> registry().acquire(name, kind.withWaitTime(Duration.ofMillis(80))))
                    .satisfies(e -> {
                        assertThat(e.getLockName()).isEqualTo(name);
                        assertThat(e.getWaited()).isGreaterThanOrEqualTo(Duration.ofMillis(80));
                    });
            rival().unlock();
        }

        @Test
        void threadsAndLeasesWaitInOneQueue() throws Exception {
            rival().lock();
            CompletableFuture<Lease> lease = registry().acquireAsync(name, kind.withWaitTime(Duration.ofSeconds(20)));
            Actor thread = actor();
            CompletableFuture<Boolean> waited = thread.start(() -> lock().tryLock(20, TimeUnit.SECONDS));
            Actor.await("it waits", thread::isWaiting);
            assertThat(lease).isNotDone();
            rival().unlock();
            Lease granted = Actor.get(lease);
            if (excludesItself()) {
                assertThat(waited).isNotDone();
                granted.close();
            }
            assertThat(Actor.get(waited)).isTrue();
            granted.close();
            thread.run(lock()::unlock);
        }

        @Test
        void aCancelledWaitLeavesTheQueue() throws Exception {
            rival().lock();
            CompletableFuture<Lease> given =
                    otherRegistry().acquireAsync(name, kind.withWaitTime(Duration.ofSeconds(20)));
            CompletableFuture<Lease> kept =
                    otherRegistry().acquireAsync(name, kind.withWaitTime(Duration.ofSeconds(20)));
            given.cancel(false);
            rival().unlock();
            Lease lease = Actor.get(kept);
            assertThat(lease.isValid()).isTrue();
            lease.close();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(given::join);
            assertFree();
        }

        @Test
        void anAsynchronousWaitEndsAfterItsTime() throws Exception {
            rival().lock();
            CompletableFuture<Lease> lease =
                    otherRegistry().acquireAsync(name, kind.withWaitTime(Duration.ofMillis(80)));
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> Actor.get(lease));
            rival().unlock();
            assertFree();
        }

        @Test
        void anInterruptEndsTheWaitForALease() throws Exception {
            rival().lock();
            Actor waiter = actor();
            CompletableFuture<Optional<Lease>> waiting =
                    waiter.start(() -> otherRegistry().tryAcquire(name, kind.withWaitTime(Duration.ofSeconds(20))));
            Actor.await("it waits", waiter::isWaiting);
            waiter.interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(waiting));
            rival().unlock();
            assertFree();
        }

        @Test
        void theLockStaysTakenForTheTimeAfterWhichALeaseIsClosed() throws Exception {
            long start = System.nanoTime();
            Lease lease = registry().acquire(name, kind.withWaitTime(Duration.ZERO));
            Duration stay = Duration.ofSeconds(1);
            Actor.get(lease.closeAfter(stay));
            assertThat(lease.isValid()).isFalse();
            lease.close();
            Lease next = otherRegistry().acquire(name, rival.withWaitTime(Duration.ofSeconds(20)));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(stay);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            next.close();
            assertFree();
        }

        @Test
        void aWaiterHasTheLockAtTheTimeAlthoughTheLeaseWasLonger() throws Exception {
            Lease lease = registry().acquire(name, kind.withWaitTime(Duration.ZERO));
            List<CompletableFuture<Void>> waiting = Stream.of(registry(), otherRegistry())
                    .map(each -> each.acquireAsync(name, rival.withWaitTime(Duration.ofSeconds(20)))
                            .thenAccept(Lease::close))
                    .toList();
            Actor.get(lease.closeAfter(Duration.ofMillis(300)));
            for (CompletableFuture<Void> each : waiting) {
                Actor.get(each);
            }
            assertFree();
        }

        @Test
        void aLeaseClosedWithoutDelayIsFreeWhenTheFutureSaysSo() throws Exception {
            Lease lease = registry().acquire(name, kind.withWaitTime(Duration.ZERO));
            Actor.get(lease.closeAfter(Duration.ZERO));
            assertFree();
            Actor.get(lease.closeAfter(Duration.ZERO));
        }

        @Test
        void aLostLeaseFailsTheFutureOfItsClose() throws Exception {
            Lease lease = registry().acquire(name, fixedLease(kind));
            Actor.await("it ends", () -> !lease.isValid());
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> Actor.get(lease.closeAfter(Duration.ZERO)));
            assertFree();
        }

        @Test
        void aLostLeaseTellsOnceAndThrowsOnClose() throws Exception {
            AtomicInteger told = new AtomicInteger();
            Lease lease = registry().acquire(name, fixedLease(kind));
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

        private MultiLock all() {
            return registry().allOf(names, kind);
        }

        private MultiLock allElsewhere() {
            return otherRegistry().allOf(names, rival);
        }

        private NamedLock a() {
            return get(registry(), name + " a", kind);
        }

        private NamedLock b() {
            return get(registry(), name + " b", kind);
        }

        private NamedLock c() {
            return get(registry(), name + " c", kind);
        }

        private void assertNoneIsHeld() {
            assertThat(List.of(a().isLocked(), b().isLocked(), c().isLocked())).containsOnly(false);
        }

        /** An actor of another instance that holds the one lock until it is told to give it back. */
        private Actor holderOf(NamedLock lock) throws Exception {
            Actor holder = actor();
            holder.run(() -> get(otherRegistry(), lock.getName(), rival).lock());
            return holder;
        }

        private void release(Actor holder, NamedLock lock) throws Exception {
            holder.run(() -> get(otherRegistry(), lock.getName(), rival).unlock());
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
        void theirThreadIsToldWhetherAndHowOftenItHoldsAll() throws Exception {
            Actor other = actor();
            assertThat(all().getNames()).containsExactly(name + " a", name + " b", name + " c");
            assertThat(all().isHeldByCurrentThread()).isFalse();
            assertThat(all().getHoldCount()).isZero();
            assertThat(all().isLocked()).isFalse();
            b().lock();
            assertThat(all().isHeldByCurrentThread()).isFalse();
            assertThat(all().getHoldCount()).isZero();
            assertThat(all().isLocked()).isTrue();
            all().lock();
            all().lock();
            assertThat(all().isHeldByCurrentThread()).isTrue();
            assertThat(all().getHoldCount()).isEqualTo(2);
            assertThat(b().getHoldCount()).isEqualTo(3);
            assertThat(allElsewhere().isLocked()).isTrue();
            assertThat(other.call(() -> all().isHeldByCurrentThread())).isFalse();
            assertThat(other.call(() -> all().getHoldCount())).isZero();
            all().unlock();
            assertThat(all().getHoldCount()).isEqualTo(1);
            all().unlock();
            assertThat(all().isHeldByCurrentThread()).isFalse();
            assertThat(all().isLocked()).isTrue();
            b().unlock();
            assertThat(all().isLocked()).isFalse();
            assertNoneIsHeld();
        }

        @Test
        void twoHandlesOfTheSameLocksAreEqual() {
            assertThat(all())
                    .isEqualTo(registry().allOf(List.of(name + " c", name + " b", name + " a"), kind))
                    .hasSameHashCodeAs(all())
                    .isNotEqualTo(registry().allOf(List.of(name + " a", name + " b"), kind))
                    .isNotEqualTo(otherRegistry().allOf(names, kind))
                    .hasToString("MultiLock[" + name + " a, " + name + " b, " + name + " c]");
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
            Actor.await("it waits with the first only", () -> a().isLocked() && waiter.isWaiting() && !c().isLocked());
            assertThat(waiting).isNotDone();
            release(holder, b());
            assertThat(Actor.get(waiting)).isTrue();
            waiter.run(() -> all().unlock());
            assertNoneIsHeld();
        }

        @Test
        void oneDeadlineIsForAll() throws Exception {
            Duration wait = Duration.ofMillis(1_500);
            Duration limit = Duration.ofMillis(2_400);
            Duration taken = failsAfter(wait);
            for (int i = 0; i < 2 && taken.compareTo(limit) >= 0; i++) {
                taken = failsAfter(wait); // a stall of the machine lengthens one, a deadline of each attempt all
            }
            assertThat(taken).isBetween(wait, limit);
        }

        /**
         * The first lock becomes free after two thirds of the time; with a deadline of its own, the second would take
         * another whole one.
         */
        private Duration failsAfter(Duration wait) throws Exception {
            Actor first = holderOf(a());
            Actor second = holderOf(b());
            Actor waiter = actor();
            long start = System.nanoTime();
            CompletableFuture<Boolean> waiting =
                    waiter.start(() -> all().tryLock(wait.toMillis(), TimeUnit.MILLISECONDS));
            pass(wait.multipliedBy(2).dividedBy(3));
            release(first, a());
            assertThat(Actor.get(waiting)).isFalse();
            Duration taken = Duration.ofNanos(System.nanoTime() - start);
            assertThat(a().isLocked()).isFalse();
            release(second, b());
            return taken;
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
                Actor.await("both are given back", () -> !a().isLocked() && !b().isLocked());
            }
            release(holder, c());
        }

        @Test
        void callersWithNamesInCommonDoNotDeadlock() throws Exception {
            List<List<String>> orders =
                    List.of(List.of(name + " a", name + " b"), List.of(name + " b", name + " a"), names);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                Lock lock = (i % 2 == 0 ? registry() : otherRegistry())
                        .allOf(orders.get(i % orders.size()), i < 3 ? kind : rival);
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
            get(registry(), name + " b", fixedLease(kind)).lock();
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
            CompletableFuture<Void> hasTheFirst = new CompletableFuture<>();
            registry().addListener(new LockListener() {
                @Override
                public void acquired(LockUse use, Origin origin, Duration waited) {
                    if (use.name().equals(name + " a")) {
                        hasTheFirst.complete(null);
                    }
                }
            });
            Lock fixed = registry().allOf(names, fixedLease(kind));
            CompletableFuture<Boolean> waiting = waiter.start(() -> {
                fixed.lock();
                return a().isHeldByCurrentThread() && b().isHeldByCurrentThread() && c().isHeldByCurrentThread();
            });
            Actor.get(hasTheFirst);
            Actor.await("the first runs out", () -> !a().isLocked());
            release(holder, b());
            assertThat(Actor.get(waiting)).isTrue();
            waiter.run(fixed::unlock);
            assertNoneIsHeld();
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 20, 100})
        void asManyAsAreNeededAreTakenAndGivenBack(int count) throws Exception {
            List<String> many =
                    IntStream.range(0, count).mapToObj(i -> name + " " + i).toList();
            Lock all = registry().allOf(many, kind);
            Lock elsewhere = otherRegistry().allOf(many, rival);
            Actor other = actor();
            for (int round = 0; round < 2; round++) {
                all.lock();
                assertThat(many).allMatch(each -> get(registry(), each, kind).isHeldByCurrentThread());
                assertThat(other.call(() -> elsewhere.tryLock())).isFalse();
                all.lock();
                all.unlock();
                assertThat(many).allMatch(each -> get(registry(), each, kind).isHeldByCurrentThread());
                all.unlock();
                assertThat(many).noneMatch(each -> get(registry(), each, kind).isLocked());
                assertThat(other.call(() -> elsewhere.tryLock())).isTrue();
                other.run(elsewhere::unlock);
            }
        }

        @Test
        void thoseThatTheThreadHoldsAlreadyStayItsOwn() {
            b().lock();
            all().lock();
            assertThat(List.of(a().getHoldCount(), b().getHoldCount(), c().getHoldCount()))
                    .containsExactly(1, 2, 1);
            all().unlock();
            assertThat(List.of(a().isLocked(), b().isHeldByCurrentThread(), c().isLocked()))
                    .containsExactly(false, true, false);
            b().unlock();
            assertNoneIsHeld();
        }

        @Test
        void anInterruptedThreadTakesNone() throws Exception {
            for (Actor.Step taking :
                    List.<Actor.Step>of(all()::lockInterruptibly, () -> all().tryLock(1, TimeUnit.SECONDS))) {
                assertThatExceptionOfType(InterruptedException.class)
                        .isThrownBy(() -> actor().run(() -> {
                            Thread.currentThread().interrupt();
                            taking.run();
                        }));
            }
            assertNoneIsHeld();
            boolean taken = actor().call(() -> {
                Thread.currentThread().interrupt();
                all().lock();
                all().unlock();
                return Thread.interrupted();
            });
            assertThat(taken).isTrue();
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
                    .isThrownBy(() -> registry().allOf(List.of(), kind))
                    .withMessage("there are no lock names: pass at least one");
            assertThatIllegalArgumentException().isThrownBy(() -> registry().allOf(List.of("a", ""), kind));
        }

        @Test
        void conditionsAreNotOffered() {
            assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(all()::newCondition);
        }
    }
}
