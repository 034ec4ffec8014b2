package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
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
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What the two sides of a read-write lock do to each other: as the JDK's {@code ReentrantReadWriteLock} in fair mode.
 */
abstract class ReadWriteContract extends TwoInstances {

    ReadWriteContract(LockRegistryContract contract) {
        super(contract);
    }

    private NamedLock read(LockRegistry registry) {
        return readLock(registry, name, EXCLUSIVE);
    }

    private NamedLock write(LockRegistry registry) {
        return writeLock(registry, name, EXCLUSIVE);
    }

    private CompletableFuture<Lease> readLease(LockRegistry registry) {
        return registry.acquireAsync(name, SHARED.withWaitTime(LONG));
    }

    private CompletableFuture<Lease> writeLease(LockRegistry registry) {
        return registry.acquireAsync(name, EXCLUSIVE.withWaitTime(LONG));
    }

    @Nested
    class Sharing {

        @Test
        void readersOfBothInstancesHoldItAtOnce() throws Exception {
            List<Caller> readers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                for (LockRegistry each : both()) {
                    readers.add(holder(read(each)));
                }
            }
            for (Caller reader : readers) {
                assertThat(reader.holds()).isTrue();
                assertThat(reader.actor().call(reader.lock()::getHoldCount)).isEqualTo(1);
            }
            for (Caller reader : readers) {
                assertRefused(write(registry()));
                assertRefused(write(otherRegistry()));
                reader.unlock();
            }
            assertFree();
        }

        @Test
        void aWriterExcludesReadersAndWriters() throws Exception {
            Caller writer = holder(write(registry()));
            for (LockRegistry each : both()) {
                assertRefused(read(each));
                assertRefused(write(each));
            }
            writer.unlock();
            assertFree();
        }

        @Test
        void theWriteSideIsTheLockOfThatName() throws Exception {
            for (LockRegistry each : both()) {
                Caller holder = holder(registry().get(name));
                assertRefused(read(each));
                assertRefused(write(each));
                holder.run(() -> {
                    assertThat(write(registry()).isHeldByCurrentThread()).isTrue();
                    write(registry()).unlock();
                });
                Caller reader = holder(read(each));
                assertRefused(registry().get(name));
                reader.unlock();
            }
            assertFree();
        }

        @Test
        void aThreadThatDoesNotReadIsNoReader() throws Exception {
            Caller reader = holder(read(registry()));
            for (LockRegistry each : both()) {
                for (NamedLock side : List.of(read(each), write(each))) {
                    assertThat(side.isHeldByCurrentThread()).isFalse();
                    assertThat(side.getHoldCount()).isZero();
                    assertThat(side.remainingLease()).isZero();
                    assertThatExceptionOfType(IllegalMonitorStateException.class)
                            .isThrownBy(side::unlock);
                    assertThatExceptionOfType(IllegalMonitorStateException.class)
                            .isThrownBy(side::fencingToken);
                    assertThatExceptionOfType(IllegalMonitorStateException.class)
                            .isThrownBy(side::asLease);
                }
            }
            assertThat(reader.holds()).isTrue();
            reader.unlock();
            assertFree();
        }

        @Test
        void eachSideKnowsItsOwnHoldsAndBothKnowThatTheNameIsHeld() throws Exception {
            for (boolean reading : List.of(true, false)) {
                NamedLock one = reading ? read(registry()) : write(registry());
                NamedLock other = reading ? write(registry()) : read(registry());
                Caller holder = holder(one);
                holder.run(() -> {
                    one.lock();
                    assertThat(one.getHoldCount()).isEqualTo(2);
                    assertThat(other.getHoldCount()).isZero();
                    assertThat(other.isHeldByCurrentThread()).isFalse();
                    assertThat(other.remainingLease()).isZero();
                    assertThatExceptionOfType(IllegalMonitorStateException.class)
                            .isThrownBy(other::unlock);
                });
                for (LockRegistry each : both()) {
                    assertThat(read(each).isLocked()).isTrue();
                    assertThat(write(each).isLocked()).isTrue();
                }
                holder.unlock();
                holder.unlock();
                assertThat(one.isLocked()).isFalse();
                assertThat(other.isLocked()).isFalse();
            }
            assertFree();
        }
    }

    @Nested
    class Order {

        @Test
        void theLastReaderToLeaveLetsTheWriterIn() throws Exception {
            for (LockRegistry each : both()) {
                List<Caller> readers =
                        List.of(holder(read(registry())), holder(read(otherRegistry())), holder(read(registry())));
                Caller writer = waiter(each, write(each));
                for (Caller reader : readers) {
                    writer.assertWaits();
                    reader.unlock();
                }
                writer.awaitGrant();
                writer.unlock();
            }
            assertFree();
        }

        @Test
        void readersWhoComeAfterAWaitingWriterWaitBehindIt() throws Exception {
            for (LockRegistry each : both()) {
                Caller reader = holder(read(registry()));
                Caller writer = waiter(each, write(each));
                awaitRefusal(read(registry()));
                awaitRefusal(read(otherRegistry()));
                Caller here = waiter(registry(), read(registry()));
                Caller elsewhere = waiter(otherRegistry(), read(otherRegistry()));
                writer.assertWaits();
                reader.unlock();
                writer.awaitGrant();
                here.assertWaits();
                elsewhere.assertWaits();
                writer.unlock();
                here.awaitGrant();
                elsewhere.awaitGrant();
                here.unlock();
                elsewhere.unlock();
            }
            assertFree();
        }

        @Test
        void readersThatWaitSideBySideAreAdmittedTogether() throws Exception {
            Caller writer = holder(write(registry()));
            List<Caller> readers = List.of(
                    waiter(registry(), read(registry())),
                    waiter(registry(), read(registry())),
                    waiter(otherRegistry(), read(otherRegistry())));
            Caller nextWriter = waiter(otherRegistry(), write(otherRegistry()));
            writer.unlock();
            for (Caller reader : readers) {
                reader.awaitGrant();
            }
            for (Caller reader : readers) {
                nextWriter.assertWaits();
                reader.unlock();
            }
            nextWriter.awaitGrant();
            nextWriter.unlock();
            assertFree();
        }

        @Test
        void aWriterWhoGivesUpLetsTheReadersBehindItIn() throws Exception {
            for (LockRegistry each : both()) {
                Caller reader = holder(read(registry()));
                Caller writer = waiter(each, write(each));
                awaitRefusal(read(registry()));
                awaitRefusal(read(otherRegistry()));
                Caller here = waiter(registry(), read(registry()));
                Caller elsewhere = waiter(otherRegistry(), read(otherRegistry()));
                writer.actor().interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(writer.granted()));
                here.awaitGrant();
                elsewhere.awaitGrant();
                assertThat(reader.holds()).isTrue();
                for (Caller one : List.of(reader, here, elsewhere)) {
                    one.unlock();
                }
            }
            assertFree();
        }

        @Test
        void aWriterWhoseTimeIsOverHindersNoReader() throws Exception {
            Caller reader = holder(read(registry()));
            for (LockRegistry each : both()) {
                assertThat(actor().call(() -> write(each).tryLock(50, TimeUnit.MILLISECONDS)))
                        .isFalse();
                for (LockRegistry readers : both()) {
                    holder(read(readers)).unlock();
                }
            }
            reader.unlock();
            assertFree();
        }

        @Test
        void readersAndWritersOfBothInstancesAreNeverTogether() throws Exception {
            AtomicInteger readers = new AtomicInteger();
            AtomicInteger writers = new AtomicInteger();
            AtomicInteger wrong = new AtomicInteger();
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                LockRegistry each = both().get(i % 2);
                boolean reading = i < 5;
                all.add(actor().begin(() -> {
                    for (int round = 0; round < 20; round++) {
                        NamedLock lock = reading ? read(each) : write(each);
                        AtomicInteger inside = reading ? readers : writers;
                        lock.lock();
                        int together = inside.incrementAndGet();
                        if (reading ? writers.get() > 0 : together > 1 || readers.get() > 0) {
                            wrong.incrementAndGet();
                        }
                        inside.decrementAndGet();
                        lock.unlock();
                    }
                }));
            }
            for (CompletableFuture<Void> each : all) {
                Actor.get(each);
            }
            assertThat(wrong).hasValue(0);
            assertFree();
        }
    }

    @Nested
    class Reentrancy {

        @Test
        void aReaderMayReadAgainWhileAWriterWaits() throws Exception {
            for (LockRegistry each : both()) {
                NamedLock read = read(registry());
                Caller reader = holder(read);
                Caller writer = waiter(each, write(each));
                awaitRefusal(read);
                reader.run(() -> {
                    read.lock();
                    assertThat(read.tryLock()).isTrue();
                    assertThat(read(registry()).tryLock(20, TimeUnit.SECONDS)).isTrue();
                    assertThat(read.getHoldCount()).isEqualTo(4);
                });
                for (int held = 4; held > 0; held--) {
                    writer.assertWaits();
                    reader.unlock();
                }
                writer.awaitGrant();
                writer.unlock();
            }
            assertFree();
        }

        @Test
        void aWriterMayReadAndEachSideIsCounted() throws Exception {
            NamedLock write = write(registry());
            NamedLock read = read(registry());
            Caller writer = holder(write);
            writer.run(() -> {
                read.lock();
                assertThat(read.tryLock()).isTrue();
                assertThat(read.tryLock(20, TimeUnit.SECONDS)).isTrue();
                write.lock(); // it still writes
                assertThat(write.getHoldCount()).isEqualTo(2);
                assertThat(read.getHoldCount()).isEqualTo(3);
                assertThat(read.fencingToken()).isEqualTo(write.fencingToken());
                read.unlock();
                read.unlock();
                read.unlock();
                assertThat(read.isHeldByCurrentThread()).isFalse();
                assertThat(write.getHoldCount()).isEqualTo(2);
                write.unlock();
            });
            for (LockRegistry each : both()) {
                assertRefused(read(each));
            }
            writer.unlock();
            assertFree();
        }
    }

    @Nested
    class Downgrading {

        /** It still reads. */
        private void downgrade(Caller writer) throws Exception {
            NamedLock read = read(registry());
            writer.run(read::lock);
            writer.unlock();
            assertThat(writer.holds()).isFalse();
            assertThat(writer.actor().call(read::getHoldCount)).isEqualTo(1);
        }

        private void stopReading(Caller downgraded) throws Exception {
            downgraded.run(read(registry())::unlock);
        }

        @Test
        void itLetsNoWriterInBetween() throws Exception {
            for (LockRegistry each : both()) {
                Caller writer = holder(write(registry()));
                long token = writer.token();
                Caller next = waiter(each, write(each));
                downgrade(writer);
                assertThat(writer.actor().call(read(registry())::fencingToken)).isEqualTo(token);
                for (LockRegistry comers : both()) {
                    assertRefused(write(comers));
                    assertRefused(read(comers));
                }
                next.assertWaits();
                stopReading(writer);
                next.awaitGrant();
                assertThat(next.token()).isGreaterThan(token);
                next.unlock();
            }
            assertFree();
        }

        @Test
        void itLetsTheReadersInWhoWait() throws Exception {
            Caller writer = holder(write(registry()));
            List<Caller> readers =
                    List.of(waiter(registry(), read(registry())), waiter(otherRegistry(), read(otherRegistry())));
            downgrade(writer);
            for (Caller reader : readers) {
                reader.awaitGrant();
            }
            for (LockRegistry each : both()) {
                holder(read(each)).unlock();
                assertRefused(write(each));
            }
            stopReading(writer);
            for (Caller reader : readers) {
                assertRefused(write(registry()));
                reader.unlock();
            }
            assertFree();
        }

        @Test
        void itHappensWhenTheLastWriteHoldEnds() throws Exception {
            NamedLock write = write(registry());
            Caller writer = holder(write);
            writer.run(write::lock);
            writer.run(read(registry())::lock);
            writer.unlock();
            assertRefused(read(otherRegistry()));
            assertThat(writer.holds()).isTrue();
            writer.unlock();
            holder(read(otherRegistry())).unlock();
            stopReading(writer);
            assertFree();
        }

        @Test
        void whoHasDoneItIsRenewedAndMayNotWriteAgain() throws Exception {
            LockOptions renewed = renewedLease(EXCLUSIVE);
            NamedLock read = readLock(registry(), name, renewed);
            NamedLock write = writeLock(registry(), name, renewed);
            Caller writer = holder(write);
            writer.run(read::lock);
            writer.unlock();
            pass(LONGER_THAN_RENEWED_TTL);
            writer.run(() -> {
                assertThat(read.isHeldByCurrentThread()).isTrue();
                assertThatIllegalStateException().isThrownBy(write::lock);
            });
            assertRefused(write(otherRegistry()));
            writer.run(read::unlock);
            assertFree();
        }

        @Test
        void whoHasDoneItCanStillLoseIt() throws Exception {
            NamedLock read = readLock(registry(), name, fixedLease(EXCLUSIVE));
            AtomicInteger told = new AtomicInteger();
            Caller writer = holder(writeLock(registry(), name, fixedLease(EXCLUSIVE)));
            writer.run(read::lock);
            writer.unlock();
            writer.run(() -> read.onLost(told::incrementAndGet));
            pass(LONGER_THAN_SHORT_TTL);
            assertFree();
            Actor.await("it is told", () -> told.get() == 1);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> writer.run(read::unlock));
        }
    }

    @Nested
    class Upgrading {

        @Test
        void aReaderThatAsksForTheWriteSideIsToldAtOnce() throws Exception {
            Caller reader = holder(read(registry()));
            reader.assertMayNotAskFor(write(registry()));
            assertThat(reader.holds()).isTrue();
            reader.unlock();
            assertFree();
        }

        @Test
        void itIsToldAlsoBesideOtherReadersAndWaitingWriters() throws Exception {
            Caller reader = holder(read(registry()));
            List<Caller> others = List.of(holder(read(registry())), holder(read(otherRegistry())));
            Caller writer = waiter(otherRegistry(), write(otherRegistry()));
            reader.assertMayNotAskFor(write(registry()));
            writer.assertWaits();
            reader.unlock();
            for (Caller other : others) {
                writer.assertWaits();
                other.unlock();
            }
            writer.awaitGrant();
            writer.unlock();
            assertFree();
        }

        @Test
        void aReaderThatHasLeftMayWrite() throws Exception {
            Caller reader = holder(read(registry()));
            reader.unlock();
            reader.run(() -> {
                write(registry()).lock();
                write(registry()).unlock();
            });
            assertFree();
        }
    }

    @Nested
    class Tokens {

        @Test
        void readersHaveTheTokenOfTheWriterBeforeThem() throws Exception {
            Caller writer = holder(write(registry()));
            long token = writer.token();
            List<Caller> readers = new ArrayList<>();
            for (LockRegistry each : both()) {
                readers.add(waiter(each, read(each)));
            }
            writer.unlock();
            for (Caller reader : readers) {
                reader.awaitGrant();
            }
            for (LockRegistry each : both()) {
                readers.add(holder(read(each)));
            }
            for (Caller reader : readers) {
                assertThat(reader.token()).isEqualTo(token);
            }
            Caller next = waiter(otherRegistry(), write(otherRegistry()));
            for (Caller reader : readers) {
                reader.unlock();
            }
            next.awaitGrant();
            assertThat(next.token()).isGreaterThan(token);
            next.unlock();
        }

        @Test
        void theTokenOfReadersIsNeitherSmallerThanTheLastWritersNorAsLargeAsTheNextOnes() throws Exception {
            long last = 0;
            for (int round = 0; round < 5; round++) {
                for (LockRegistry each : both()) {
                    Caller writer = holder(write(each));
                    assertThat(writer.token()).isGreaterThan(last);
                    last = writer.token();
                    writer.unlock();
                    Caller reader = holder(read(each));
                    assertThat(reader.token()).isGreaterThanOrEqualTo(last);
                    last = reader.token();
                    Caller beside = holder(read(otherRegistry()));
                    assertThat(beside.token()).isEqualTo(last);
                    reader.unlock();
                    beside.unlock();
                }
            }
        }

        @Test
        void aReaderAfterAWriterThatWasLostHasNoSmallerToken() throws Exception {
            Caller lost = holder(writeLock(registry(), name, fixedLease(EXCLUSIVE)));
            long token = lost.token();
            Caller reader = waiter(otherRegistry(), read(otherRegistry()));
            pass(LONGER_THAN_SHORT_TTL);
            reader.awaitGrant();
            assertThat(reader.token()).isGreaterThanOrEqualTo(token);
            Caller next = waiter(registry(), write(registry()));
            long readersToken = reader.token();
            reader.unlock();
            next.awaitGrant();
            assertThat(next.token()).isGreaterThan(readersToken);
            next.unlock();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::unlock);
        }

        @Test
        void whatAReaderKnowsIsOlderThanTheWriterAfterItsLoss() throws Exception {
            Caller reader = holder(readLock(registry(), name, fixedLease(EXCLUSIVE)));
            long token = reader.token();
            Caller writer = waiter(otherRegistry(), write(otherRegistry()));
            pass(LONGER_THAN_SHORT_TTL);
            writer.awaitGrant();
            assertThat(writer.token()).isGreaterThan(token);
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(reader::unlock)
                    .satisfies(lost -> assertThat(lost.getFencingToken()).isEqualTo(token));
            writer.unlock();
        }
    }

    @Nested
    class Loss {

        @Test
        void aReaderThatLosesItsHoldTakesNoneFromOthers() throws Exception {
            for (LockRegistry each : both()) {
                AtomicInteger told = new AtomicInteger();
                AtomicInteger othersTold = new AtomicInteger();
                Caller lost = holder(readLock(registry(), name, fixedLease(EXCLUSIVE)));
                lost.run(() -> lost.lock().onLost(told::incrementAndGet));
                Caller reader = holder(read(each));
                reader.run(() -> reader.lock().onLost(othersTold::incrementAndGet));
                pass(LONGER_THAN_SHORT_TTL);
                Actor.await("it is told", () -> told.get() == 1);
                assertThat(lost.holds()).isFalse();
                assertThat(reader.holds()).isTrue();
                for (LockRegistry writers : both()) {
                    assertRefused(write(writers));
                }
                assertThatExceptionOfType(LockLostException.class).isThrownBy(lost::unlock);
                reader.unlock();
                assertThat(told).hasValue(1);
                assertThat(othersTold).hasValue(0);
            }
            assertFree();
        }

        @Test
        void aDeadReaderDelaysAWriterByItsTtlAtMost() throws Exception {
            for (LockRegistry each : both()) {
                Caller dead = holder(readLock(registry(), name, fixedLease(EXCLUSIVE)));
                Caller alive = holder(read(otherRegistry()));
                Caller writer = waiter(each, write(each));
                alive.unlock();
                pass(LONGER_THAN_SHORT_TTL);
                writer.awaitGrant();
                assertThatExceptionOfType(LockLostException.class).isThrownBy(dead::unlock);
                writer.unlock();
            }
            assertFree();
        }

        @Test
        void aDeadWriterDelaysReadersByItsTtlAtMost() throws Exception {
            Caller dead = holder(writeLock(registry(), name, fixedLease(EXCLUSIVE)));
            List<Caller> readers = new ArrayList<>();
            for (LockRegistry each : both()) {
                readers.add(waiter(each, read(each)));
            }
            pass(LONGER_THAN_SHORT_TTL);
            for (Caller reader : readers) {
                reader.awaitGrant();
            }
            for (Caller reader : readers) {
                reader.unlock();
            }
            assertThatExceptionOfType(LockLostException.class).isThrownBy(dead::unlock);
            assertFree();
        }
    }

    @Nested
    class Leases {

        @Test
        void readersHoldLeasesTogetherAndAWriterWaitsForTheLast() throws Exception {
            Lease one = Actor.get(readLease(registry()));
            Lease other = Actor.get(readLease(otherRegistry()));
            Lease another = Actor.get(readLease(registry()));
            Caller thread = holder(read(registry()));
            CompletableFuture<Lease> writer = writeLease(otherRegistry());
            awaitRefusal(read(registry()));
            awaitRefusal(read(otherRegistry()));
            List<CompletableFuture<Lease>> late = List.of(readLease(registry()), readLease(otherRegistry()));
            one.close();
            one.close();
            actor().run(other::close);
            Actor.get(another.closeAfter(Duration.ZERO));
            assertThat(writer).isNotDone();
            thread.unlock();
            Lease written = Actor.get(writer);
            assertThat(written.fencingToken()).isGreaterThan(one.fencingToken());
            awaitArrival(registry());
            assertThat(late).noneMatch(CompletableFuture::isDone);
            written.close();
            Lease first = Actor.get(late.get(0));
            Lease second = Actor.get(late.get(1));
            assertThat(first.isValid() && second.isValid()).isTrue();
            first.close();
            second.close();
            assertFree();
        }

        @Test
        void aWriterHasTheLockAtTheLatestOfTheTimesForWhichReadersKeepIt() throws Exception {
            Duration longest = Duration.ofSeconds(2);
            long start = System.nanoTime();
            for (Duration stay : List.of(SHORT_TTL, longest, Duration.ofMillis(1))) {
                for (LockRegistry each : both()) {
                    Actor.get(Actor.get(readLease(each)).closeAfter(stay));
                }
            }
            Actor.get(writeLease(otherRegistry())).close();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(longest);
            assertFree();
        }

        @Test
        void aWriterThatIsCancelledLetsTheReadersBehindItIn() throws Exception {
            for (LockRegistry each : both()) {
                Lease reader = Actor.get(readLease(registry()));
                CompletableFuture<Lease> writer = writeLease(each);
                awaitRefusal(read(registry()));
                awaitRefusal(read(otherRegistry()));
                List<CompletableFuture<Lease>> late = List.of(readLease(registry()), readLease(otherRegistry()));
                writer.cancel(false);
                for (CompletableFuture<Lease> next : late) {
                    Actor.get(next).close();
                }
                assertThat(reader.isValid()).isTrue();
                reader.close();
            }
            assertFree();
        }

        @Test
        void aReadHoldMayBeGivenUpOnAnotherThread() throws Exception {
            Caller reader = holder(read(registry()));
            Lease hold = reader.actor().call(reader.lock()::asLease);
            Caller beside = holder(read(registry()));
            actor().run(hold::close);
            assertThat(reader.holds()).isFalse();
            assertThat(beside.holds()).isTrue();
            assertRefused(write(otherRegistry()));
            beside.unlock();
            assertFree();
        }

        /** A lease belongs to no thread, so no thread waits for itself. */
        @Test
        void aThreadThatReadsMayAskForALeaseOfTheWriteSide() throws Exception {
            NamedLock read = read(registry());
            read.lock();
            CompletableFuture<Lease> writer = writeLease(registry());
            awaitRefusal(read(otherRegistry()));
            assertThat(writer).isNotDone();
            read.unlock();
            Actor.get(writer).close();
            assertFree();
        }
    }

    @Nested
    class Templates {

        private final LockOptions once = EXCLUSIVE.withWaitTime(Duration.ZERO);

        @Test
        void actionsThatShareRunAtOnceAndOthersDoNot() throws Exception {
            Actor other = actor();
            String result = template(registry()).execute(name, SHARED, () -> {
                for (LockRegistry each : both()) {
                    assertThat(other.call(() -> template(each).execute(name, once.shared(), () -> "too")))
                            .isEqualTo("too");
                    assertThat(other.call(() -> template(each).tryExecute(name, once, () -> "not"))
                                    .isAcquired())
                            .isFalse();
                }
                return "done";
            });
            assertThat(result).isEqualTo("done");
            template(registry()).executeWithoutResult(name, () -> {
                for (LockRegistry each : both()) {
                    assertThat(other.start(() -> template(each)
                                            .tryExecute(name, once.shared(), () -> "not")
                                            .isAcquired())
                                    .join())
                            .isFalse();
                }
            });
            assertFree();
        }

        @Test
        void stagesThatShareRunAtOnce() throws Exception {
            CompletableFuture<String> work = new CompletableFuture<>();
            AtomicInteger running = new AtomicInteger();
            List<CompletableFuture<String>> all = new ArrayList<>();
            for (LockRegistry each : both()) {
                all.add(template(each).executeAsync(name, SHARED, () -> begun(running, work)));
            }
            Actor.await("both run", () -> running.get() == 2);
            awaitArrival(registry());
            CompletableFuture<String> alone = template(registry()).executeAsync(name, () -> begun(running, work));
            awaitRefusal(read(otherRegistry()));
            assertThat(running).hasValue(2);
            work.complete("done");
            for (CompletableFuture<String> each : all) {
                assertThat(Actor.get(each)).isEqualTo("done");
            }
            assertThat(Actor.get(alone)).isEqualTo("done");
            assertThat(running).hasValue(3);
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
        void allAreReadAtOnceByMany() throws Exception {
            Lock all = registry().allOf(names, SHARED);
            Lock allElsewhere = otherRegistry().allOf(names, SHARED);
            Actor other = actor();
            all.lock();
            assertThat(other.call(() -> allElsewhere.tryLock())).isTrue();
            assertThat(actor().call(() -> otherRegistry().allOf(names).tryLock()))
                    .isFalse();
            all.unlock();
            assertThat(actor().call(() -> registry().allOf(names).tryLock())).isFalse();
            other.run(allElsewhere::unlock);
            assertFree();
        }

        @Test
        void aThreadMayWriteOneNameAndReadOthers() throws Exception {
            Lock others = registry().allOf(List.of(name + " b", name + " c"), SHARED);
            Caller writer = holder(write(registry()));
            writer.run(others::lock);
            Actor other = actor();
            other.run(() -> {
                Lock same = otherRegistry().allOf(List.of(name + " b", name + " c"), SHARED);
                assertThat(same.tryLock()).isTrue();
                same.unlock();
                assertThat(otherRegistry().allOf(names, SHARED).tryLock()).isFalse();
                assertThat(otherRegistry().get(name + " b").tryLock()).isFalse();
            });
            // As one that writes it, it may also read that name.
            writer.run(() -> {
                Lock all = registry().allOf(names, SHARED);
                all.lock();
                all.unlock();
            });
            writer.run(others::unlock);
            writer.unlock();
            for (String each : names) {
                assertThat(registry().get(each).isLocked()).isFalse();
            }
        }

        @Test
        void ifOneIsReadByTheThreadItselfNoneIsWritten() throws Exception {
            Caller reader = holder(readLock(registry(), name + " c", EXCLUSIVE));
            Lock all = registry().allOf(names);
            for (Actor.Step taking :
                    List.<Actor.Step>of(all::lock, all::tryLock, () -> all.tryLock(20, TimeUnit.SECONDS))) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> reader.run(taking))
                        .withMessageContaining(name + " c");
                assertThat(registry().get(name).isLocked()).isFalse();
                assertThat(registry().get(name + " b").isLocked()).isFalse();
            }
            reader.unlock();
            assertFree();
        }
    }
}
