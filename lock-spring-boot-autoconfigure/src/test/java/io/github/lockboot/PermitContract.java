package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What permits of one name do to each other, and to the other kinds of holds. */
abstract class PermitContract extends TwoInstances {

    PermitContract(LockRegistryContract contract) {
        super(contract);
    }

    private static LockOptions of(int permits) {
        return EXCLUSIVE.withPermits(permits);
    }

    private NamedLock permit(LockRegistry registry, int permits) {
        return registry.get(name, of(permits));
    }

    private CompletableFuture<Lease> lease(LockRegistry registry, int permits) {
        return registry.acquireAsync(name, of(permits).withWaitTime(LONG));
    }

    /** So many threads of both instances, by turns, that hold one permit each. */
    private List<Caller> holders(int count, int permits) throws Exception {
        List<Caller> holders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            holders.add(holder(permit(both().get(i % 2), permits)));
        }
        return holders;
    }

    private static void unlock(List<Caller> holders) throws Exception {
        for (Caller holder : holders) {
            holder.unlock();
        }
    }

    @Nested
    class Number {

        @Test
        void soManyHoldItAtOnceAndNotOneMore() throws Exception {
            List<Caller> holders = holders(3, 3);
            for (Caller holder : holders) {
                assertThat(holder.holds()).isTrue();
                assertThat(holder.actor().call(holder.lock()::getHoldCount)).isEqualTo(1);
            }
            List<Caller> rest = new ArrayList<>();
            for (Caller holder : holders) {
                for (LockRegistry each : both()) {
                    assertRefused(permit(each, 3));
                }
                holder.unlock();
                Caller next = holder(permit(otherRegistry(), 3));
                assertRefused(permit(registry(), 3));
                next.unlock();
                rest.add(holder(permit(registry(), 3)));
            }
            unlock(rest);
            assertFree();
        }

        @Test
        void allOfThemMayBeOfOneInstance() throws Exception {
            for (LockRegistry each : both()) {
                List<Caller> holders =
                        List.of(holder(permit(each, 3)), holder(permit(each, 3)), holder(permit(each, 3)));
                assertRefused(permit(registry(), 3));
                assertRefused(permit(otherRegistry(), 3));
                unlock(holders);
            }
            assertFree();
        }

        @Test
        void aWaiterGetsThePermitThatIsGivenBackFirst() throws Exception {
            for (LockRegistry each : both()) {
                for (int first = 0; first < 2; first++) {
                    List<Caller> holders = holders(2, 2);
                    Caller waiter = waiter(each, permit(each, 2));
                    holders.get(first).unlock();
                    waiter.awaitGrant();
                    assertThat(holders.get(1 - first).holds()).isTrue();
                    holders.get(1 - first).unlock();
                    waiter.unlock();
                }
            }
            assertFree();
        }

        @Test
        void severalWaitersAreServedAtOnceIfThereAreSeveralPermits() throws Exception {
            Caller writer = holder(registry().get(name));
            List<Caller> waiters = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                for (LockRegistry each : both()) {
                    waiters.add(waiter(each, permit(each, 4)));
                }
            }
            writer.unlock();
            for (Caller waiter : waiters) {
                waiter.awaitGrant();
            }
            assertRefused(permit(registry(), 4));
            unlock(waiters);
            assertFree();
        }

        @Test
        void aThreadThatHoldsOneTakesNoSecondOne() throws Exception {
            NamedLock permit = permit(registry(), 2);
            Caller holder = holder(permit);
            holder.run(() -> {
                permit.lock();
                assertThat(permit.tryLock()).isTrue();
                assertThat(permit(registry(), 2).getHoldCount()).isEqualTo(3);
            });
            Caller second = holder(permit(otherRegistry(), 2));
            assertRefused(permit(registry(), 2));
            holder.unlock();
            holder.unlock();
            assertRefused(permit(registry(), 2));
            holder.unlock();
            holder(permit(registry(), 2)).unlock();
            second.unlock();
            assertFree();
        }

        @Test
        void whoHoldsNoneGivesNoneBack() throws Exception {
            Caller holder = holder(permit(registry(), 2));
            for (LockRegistry each : both()) {
                NamedLock permit = permit(each, 2);
                assertThat(permit.isLocked()).isTrue();
                assertThat(permit.isHeldByCurrentThread()).isFalse();
                assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(permit::unlock);
                assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(permit::fencingToken);
            }
            assertThat(holder.holds()).isTrue();
            holder.unlock();
            assertFree();
        }

        @Test
        void thereIsAtLeastOne() {
            for (int permits : List.of(0, -1)) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> of(permits))
                        .withMessage("permits is " + permits + "; it must be at least 1");
            }
        }

        @Test
        void threadsOfBothInstancesAreNeverMoreThanThePermits() throws Exception {
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                NamedLock permit = permit(both().get(i % 2), 3);
                all.add(actor().begin(() -> {
                    for (int round = 0; round < 30; round++) {
                        permit.lock();
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        tokens.add(permit.fencingToken());
                        inside.decrementAndGet();
                        permit.unlock();
                    }
                }));
            }
            for (CompletableFuture<Void> each : all) {
                Actor.get(each);
            }
            assertThat(most.get()).isBetween(1, 3);
            assertThat(tokens).hasSize(240).doesNotHaveDuplicates();
            assertFree();
        }
    }

    /** As while a new number is rolled out. */
    @Nested
    class DifferentNumbers {

        @Test
        void theSmallestNumberOfTheHoldersAndTheRequestCounts() throws Exception {
            Caller one = holder(permit(registry(), 1));
            assertRefused(permit(registry(), 1));
            assertRefused(permit(otherRegistry(), 3));
            one.unlock();
            Caller two = holder(permit(registry(), 2));
            List<Caller> three = new ArrayList<>(List.of(holder(permit(otherRegistry(), 3))));
            assertRefused(permit(otherRegistry(), 3));
            assertRefused(permit(registry(), 2));
            two.unlock();
            three.add(holder(permit(otherRegistry(), 3)));
            three.add(holder(permit(registry(), 3)));
            assertRefused(permit(otherRegistry(), 3));
            three.remove(0).unlock();
            assertRefused(permit(registry(), 2));
            holder(permit(registry(), 3)).unlock();
            three.remove(0).unlock();
            holder(permit(registry(), 2)).unlock();
            unlock(three);
            assertFree();
        }

        @Test
        void aPermitThatPassesOnInAnInstanceIsAmongNoMoreThanItsNumber() throws Exception {
            Caller small = holder(permit(registry(), 2));
            List<Caller> large = new ArrayList<>(List.of(holder(permit(otherRegistry(), 10))));
            for (int i = 0; i < 4; i++) {
                assertRefused(permit(otherRegistry(), 10));
            }
            Caller next = waiter(registry(), permit(registry(), 2));
            small.unlock();
            next.awaitGrant();
            assertRefused(permit(otherRegistry(), 10));
            next.unlock();
            for (int i = 0; i < 4; i++) {
                large.add(holder(permit(otherRegistry(), 10)));
            }
            Caller last = waiter(registry(), permit(registry(), 2));
            unlock(large.subList(0, 3));
            last.assertWaits();
            large.get(3).unlock();
            last.awaitGrant();
            large.get(4).unlock();
            last.unlock();
            assertFree();
        }

        @Test
        void atNoTimeDoMoreHoldThanTheNumberOfAnyHolder() throws Exception {
            List<Integer> inside = new ArrayList<>();
            List<List<Integer>> tooMany = new ArrayList<>();
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                int number = List.of(2, 3, 10).get(i % 3);
                NamedLock permit = permit(both().get(i / 3 % 2), number);
                all.add(actor().begin(() -> {
                    for (int round = 0; round < 20; round++) {
                        permit.lock();
                        synchronized (inside) {
                            inside.add(number);
                            if (inside.size() > Collections.min(inside)) {
                                tooMany.add(List.copyOf(inside));
                            }
                        }
                        Thread.yield();
                        synchronized (inside) {
                            inside.remove((Integer) number);
                        }
                        permit.unlock();
                    }
                }));
            }
            for (CompletableFuture<Void> each : all) {
                Actor.get(each);
            }
            assertThat(tooMany).isEmpty();
            assertFree();
        }

        @Test
        void aSmallerNumberTakesNothingAway() throws Exception {
            List<Caller> holders = List.of(
                    holder(registry().get(name, renewedLease(of(3)))),
                    holder(otherRegistry().get(name, renewedLease(of(3)))),
                    holder(permit(registry(), 3)));
            Caller waiter = waiter(otherRegistry(), permit(otherRegistry(), 1));
            pass(LONGER_THAN_RENEWED_TTL);
            for (Caller holder : holders) {
                waiter.assertWaits();
                assertThat(holder.holds()).isTrue();
                holder.unlock();
            }
            waiter.awaitGrant();
            assertRefused(permit(registry(), 1));
            waiter.unlock();
            assertFree();
        }

        @Test
        void aLargerNumberDoesNotOvertakeASmallerOneThatWaits() throws Exception {
            Caller holder = holder(permit(registry(), 1));
            Caller small = waiter(otherRegistry(), permit(otherRegistry(), 1));
            awaitRefusal(permit(otherRegistry(), 3));
            Caller large = waiter(otherRegistry(), permit(otherRegistry(), 3));
            holder.unlock();
            small.awaitGrant();
            large.assertWaits();
            small.unlock();
            large.awaitGrant();
            large.unlock();
            assertFree();
        }
    }

    @Nested
    class BesideOtherKinds {

        @Test
        void aPermitExcludesWhoAsksAloneAndReaders() throws Exception {
            Caller holder = holder(permit(registry(), 5));
            for (LockRegistry each : both()) {
                assertRefused(each.get(name));
                assertRefused(readLock(each, name, EXCLUSIVE));
            }
            holder.unlock();
            for (LockRegistry each : both()) {
                for (LockOptions kind : List.of(EXCLUSIVE, SHARED)) {
                    Caller other = holder(each.get(name, kind));
                    assertRefused(permit(registry(), 5));
                    assertRefused(permit(otherRegistry(), 5));
                    other.unlock();
                }
            }
            assertFree();
        }

        @Test
        void allKindsAreServedInTheOrderOfTheQueue() throws Exception {
            Caller permit = holder(permit(registry(), 2));
            Caller exclusive = waiter(otherRegistry(), otherRegistry().get(name));
            awaitRefusal(permit(otherRegistry(), 2));
            Caller behind = waiter(otherRegistry(), permit(otherRegistry(), 2));
            Caller reader = waiter(registry(), readLock(registry(), name, EXCLUSIVE));
            exclusive.assertWaits();
            permit.unlock();
            exclusive.awaitGrant();
            behind.assertWaits();
            exclusive.unlock();
            behind.awaitGrant();
            reader.assertWaits();
            behind.unlock();
            reader.awaitGrant();
            reader.unlock();
            assertFree();
        }

        @Test
        void permitsBehindAReaderAreServedTogetherAfterIt() throws Exception {
            Caller reader = holder(readLock(registry(), name, EXCLUSIVE));
            List<Caller> waiters = List.of(
                    waiter(registry(), permit(registry(), 2)), waiter(otherRegistry(), permit(otherRegistry(), 2)));
            awaitRefusal(readLock(otherRegistry(), name, EXCLUSIVE));
            reader.unlock();
            for (Caller waiter : waiters) {
                waiter.awaitGrant();
            }
            unlock(waiters);
            assertFree();
        }

        @Test
        void whoGivesUpLetsThePermitsBehindItIn() throws Exception {
            for (LockRegistry each : both()) {
                Caller permit = holder(permit(registry(), 3));
                Caller exclusive = waiter(each, each.get(name));
                awaitRefusal(permit(registry(), 3));
                awaitRefusal(permit(otherRegistry(), 3));
                List<Caller> waiters = List.of(
                        waiter(registry(), permit(registry(), 3)), waiter(otherRegistry(), permit(otherRegistry(), 3)));
                exclusive.actor().interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(exclusive.granted()));
                for (Caller waiter : waiters) {
                    waiter.awaitGrant();
                }
                assertThat(permit.holds()).isTrue();
                permit.unlock();
                unlock(waiters);
            }
            assertFree();
        }

        @Test
        void aThreadThatHoldsOneKindMayNotWaitForAnother() throws Exception {
            Caller permit = holder(permit(registry(), 2));
            permit.assertMayNotAskFor(registry().get(name));
            permit.assertMayNotAskFor(readLock(registry(), name, EXCLUSIVE));
            permit.unlock();
            for (LockOptions kind : List.of(SHARED, EXCLUSIVE)) {
                Caller other = holder(registry().get(name, kind));
                other.assertMayNotAskFor(permit(registry(), 2));
                other.unlock();
            }
            assertFree();
        }
    }

    @Nested
    class Leases {

        @Test
        void leasesAndThreadsShareThePermits() throws Exception {
            Lease one = Actor.get(lease(registry(), 3));
            Lease other = Actor.get(lease(otherRegistry(), 3));
            Caller thread = holder(permit(registry(), 3));
            assertRefused(permit(registry(), 3));
            assertThat(otherRegistry().tryAcquire(name, of(3).withWaitTime(Duration.ZERO)))
                    .isEmpty();
            CompletableFuture<Lease> next = lease(registry(), 3);
            awaitArrival(registry());
            assertThat(next).isNotDone();
            actor().run(other::close);
            Lease granted = Actor.get(next);
            other.close(); // again: no second permit comes of it
            assertRefused(permit(registry(), 3));
            CompletableFuture<Lease> last = lease(otherRegistry(), 3);
            Actor.get(one.closeAfter(Duration.ZERO));
            Actor.get(last).close();
            granted.close();
            thread.unlock();
            assertFree();
        }

        @Test
        void aThreadMayHoldALeaseAndAPermitOfItsOwn() throws Exception {
            NamedLock permit = permit(registry(), 2);
            Lease lease = Actor.get(lease(registry(), 2));
            assertThat(permit.tryLock()).isTrue();
            assertRefused(permit(otherRegistry(), 2));
            permit.unlock();
            lease.close();
            assertFree();
        }

        @Test
        void aCancelledWaiterTakesNoPermit() throws Exception {
            List<Caller> holders = holders(2, 2);
            for (LockRegistry each : both()) {
                CompletableFuture<Lease> cancelled = lease(each, 2);
                CompletableFuture<Lease> next = lease(each, 2);
                cancelled.cancel(false);
                holders.get(0).unlock();
                Lease granted = Actor.get(next);
                assertRefused(permit(registry(), 2));
                granted.close();
                holders = List.of(holder(permit(registry(), 2)), holders.get(1));
            }
            unlock(holders);
            assertFree();
        }

        @Test
        void aHoldGivenUpOnAnotherThreadGivesItsPermitBack() throws Exception {
            List<Caller> holders = holders(2, 2);
            Lease hold = holders.get(0).actor().call(holders.get(0).lock()::asLease);
            Caller waiter = waiter(otherRegistry(), permit(otherRegistry(), 2));
            actor().run(hold::close);
            waiter.awaitGrant();
            assertThat(holders.get(0).holds()).isFalse();
            assertThat(holders.get(1).holds()).isTrue();
            holders.get(1).unlock();
            waiter.unlock();
            assertFree();
        }
    }

    @Nested
    class Loss {

        @Test
        void aDeadOnesPermitComesBackWithinItsTtl() throws Exception {
            for (LockRegistry each : both()) {
                Caller dead = holder(registry().get(name, fixedLease(of(2))));
                Caller alive = holder(permit(otherRegistry(), 2));
                Caller waiter = waiter(each, permit(each, 2));
                pass(LONGER_THAN_SHORT_TTL);
                waiter.awaitGrant();
                assertThat(alive.holds()).isTrue();
                assertRefused(permit(registry(), 2));
                assertThatExceptionOfType(LockLostException.class).isThrownBy(dead::unlock);
                assertRefused(permit(otherRegistry(), 2));
                alive.unlock();
                waiter.unlock();
            }
            assertFree();
        }

        @Test
        void itsHolderIsToldAndNobodyElse() throws Exception {
            for (LockRegistry each : both()) {
                AtomicInteger told = new AtomicInteger();
                AtomicInteger othersTold = new AtomicInteger();
                Caller lost = holder(registry().get(name, fixedLease(of(2))));
                lost.run(() -> lost.lock().onLost(told::incrementAndGet));
                long token = lost.token();
                Caller alive = holder(permit(each, 2));
                alive.run(() -> alive.lock().onLost(othersTold::incrementAndGet));
                pass(LONGER_THAN_SHORT_TTL);
                Actor.await("it is told", () -> told.get() == 1);
                assertThat(lost.holds()).isFalse();
                assertThatExceptionOfType(LockLostException.class)
                        .isThrownBy(lost::unlock)
                        .satisfies(loss -> assertThat(loss.getFencingToken()).isEqualTo(token));
                assertThat(alive.holds()).isTrue();
                alive.unlock();
                assertThat(told).hasValue(1);
                assertThat(othersTold).hasValue(0);
            }
            assertFree();
        }
    }

    @Nested
    class Tokens {

        @Test
        void eachPermitHasALargerOneThanThoseGrantedBefore() throws Exception {
            List<Long> tokens = new ArrayList<>();
            List<Caller> holders = holders(4, 4);
            for (Caller holder : holders) {
                tokens.add(holder.token());
            }
            for (Caller holder : holders) {
                holder.unlock();
                Caller next = holder(permit(otherRegistry(), 4));
                tokens.add(next.token());
                next.unlock();
            }
            Caller exclusive = holder(registry().get(name));
            tokens.add(exclusive.token());
            exclusive.unlock();
            assertThat(tokens).doesNotHaveDuplicates().isSorted();
        }

        @Test
        void oneAfterAnotherOnePermitHasLargerOnesFromThreadToThread() throws Exception {
            Caller beside = holder(permit(otherRegistry(), 2));
            List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
            NamedLock permit = permit(registry(), 2);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(actor().begin(() -> {
                    for (int round = 0; round < 50; round++) {
                        permit.lock();
                        tokens.add(permit.fencingToken());
                        permit.unlock();
                    }
                }));
            }
            for (CompletableFuture<Void> each : all) {
                Actor.get(each);
            }
            assertThat(tokens).hasSize(200).doesNotHaveDuplicates().isSorted().doesNotContain(beside.token());
            beside.unlock();
        }

        @Test
        void readersAfterPermitsHaveNoSmallerOne() throws Exception {
            List<Caller> holders = holders(2, 2);
            long newest = holders.get(1).token();
            unlock(holders);
            Caller reader = holder(readLock(registry(), name, EXCLUSIVE));
            long token = reader.token();
            assertThat(token).isGreaterThanOrEqualTo(newest);
            reader.unlock();
            Caller next = holder(permit(otherRegistry(), 2));
            assertThat(next.token()).isGreaterThan(token);
            next.unlock();
        }
    }

    @Nested
    class UnderATemplate {

        private final LockOptions once = of(2).withWaitTime(Duration.ZERO);

        @Test
        void soManyActionsRunAtOnce() throws Exception {
            boolean ran = template(registry()).execute(name, of(2), () -> {
                Actor other = actor();
                return other.call(() -> template(otherRegistry()).execute(name, of(2), () -> {
                    for (LockRegistry each : both()) {
                        assertThat(actor().call(() -> template(each).tryExecute(name, once, () -> "not"))
                                        .isAcquired())
                                .isFalse();
                    }
                    return true;
                }));
            });
            assertThat(ran).isTrue();
            assertFree();
        }

        @Test
        void soManyStagesRunAtOnce() throws Exception {
            CompletableFuture<String> work = new CompletableFuture<>();
            AtomicInteger running = new AtomicInteger();
            List<CompletableFuture<String>> all = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                all.add(template(both().get(i % 2)).executeAsync(name, of(2), () -> begun(running, work)));
            }
            Actor.await("as many run as there are permits", () -> running.get() == 2);
            awaitArrival(registry());
            awaitArrival(otherRegistry());
            assertThat(running).hasValue(2);
            work.complete("done");
            for (CompletableFuture<String> each : all) {
                assertThat(Actor.get(each)).isEqualTo("done");
            }
            assertFree();
        }

        private CompletionStage<String> begun(AtomicInteger running, CompletableFuture<String> work) {
            running.incrementAndGet();
            return work;
        }
    }

    @Nested
    class SeveralAsOne {

        private final List<String> names = List.of(name + " b", name, name + " c");

        @Test
        void aPermitOfEachIsTakenOrNone() throws Exception {
            Lock all = registry().allOf(names, of(2));
            Lock allElsewhere = otherRegistry().allOf(names, of(2));
            Actor other = actor();
            all.lock();
            assertThat(other.call(() -> allElsewhere.tryLock())).isTrue();
            assertThat(actor().call(() -> otherRegistry().allOf(names, of(2)).tryLock(20, TimeUnit.MILLISECONDS)))
                    .isFalse();
            all.unlock();
            Caller one = holder(registry().get(name + " c", of(2)));
            assertThat(actor().call(() -> registry().allOf(names, of(2)).tryLock()))
                    .isFalse();
            Caller two = holder(permit(registry(), 2));
            one.unlock();
            two.unlock();
            other.run(allElsewhere::unlock);
            assertFree();
        }
    }
}
