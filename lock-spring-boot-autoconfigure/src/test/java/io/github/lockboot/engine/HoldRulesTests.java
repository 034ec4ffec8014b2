package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What several holds of one thread or one JVM are to each other, and how the last of them ends. */
class HoldRulesTests {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final LockOptions OPTIONS =
            LockOptions.defaults().withTtl(TTL).withWaitTime(Duration.ZERO).withRenewal();

    private final ScriptedEngine scripted = new ScriptedEngine(64);
    private final NamedLock write = EngineLocks.of(scripted.engine, NAME, OPTIONS);
    private final NamedLock read = EngineLocks.of(scripted.engine, NAME, OPTIONS.shared());

    private CompletableFuture<Lease> shared() {
        return scripted.acquire(Kind.SHARED, LONG);
    }

    /** On the thread of the actor, to which Redis answers. */
    private boolean tryLock(Actor actor, NamedLock lock, Reply answer) {
        CompletableFuture<Boolean> result = actor.start(lock::tryLock);
        Actor.await("it asks or is answered", () -> scripted.sentCount() > 0 || result.isDone());
        if (!result.isDone()) {
            scripted.next("acquire").answer(answer);
        }
        return result.join();
    }

    private static Reply owner(long grantNumber) {
        return new Reply.Granted(grantNumber, TTL.toMillis(), 0);
    }

    /** It does not wait for the answer: neither an interrupt nor a time that is over leaves any time for that. */
    @Test
    void aWaiterThatGivesUpHasSentItsCancelWhenItsCallReturns() throws Exception {
        CompletableFuture<Lease> cancelled = scripted.acquire(LONG);
        giveUp(() -> cancelled.cancel(false));
        CompletableFuture<Lease> late = scripted.acquire(Duration.ofSeconds(1));
        giveUp(() -> scripted.timer.tick(Duration.ofSeconds(1)));
        assertThat(late).isCompletedExceptionally();
        try (Actor actor = new Actor()) {
            CompletableFuture<Void> interrupted = actor.begin(write::lockInterruptibly);
            Actor.await("it asks", () -> scripted.sentCount() == 1 && actor.isWaiting());
            giveUp(() -> {
                actor.interrupt();
                assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(interrupted));
            });
        }
    }

    private void giveUp(Actor.Step step) throws Exception {
        scripted.next("acquire").answer(new Reply.Queued(1, 100, TTL.toMillis()));
        step.run();
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aReaderComesAndGoesAtTheSameCostHoweverManyThereAre() throws Exception {
        CompletableFuture<Lease> first = shared();
        scripted.next("acquire").answer(owner(100));
        List<Lease> readers = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            readers.add(shared().join());
        }
        try (Actor actor = new Actor()) {
            long before = scripted.timer.reads();
            readers.add(shared().join());
            actor.run(read::lock);
            assertThat(actor.call(read::isHeldByCurrentThread)).isTrue();
            actor.run(read::unlock);
            readers.remove(0).close();
            assertThat(scripted.timer.reads() - before).isLessThan(100);
            assertThat(actor.call(read::isHeldByCurrentThread)).isFalse();
        }
        readers.forEach(Lease::close);
        scripted.nothingIsSent();
        first.join().closeAfter(Duration.ZERO);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void ofManyReadersThatLoseTheirLeaseTogetherEachIsTold() throws Exception {
        CompletableFuture<Lease> first = shared();
        scripted.next("acquire").answer(owner(100));
        List<Lease> readers = new ArrayList<>(List.of(first.join()));
        for (int i = 0; i < 100; i++) {
            readers.add(shared().join());
        }
        scripted.timer.tick(TTL.dividedBy(2));
        scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
        assertThat(readers).allSatisfy(reader -> assertThat(reader.isValid()).isFalse());
        assertThat(readers)
                .allSatisfy(reader ->
                        assertThatExceptionOfType(LockLostException.class).isThrownBy(reader::close));
        assertThat(scripted.engine.inUse()).isZero();
    }

    // --- a lock that stays taken after the end of its hold ------------------------------------------------------

    private Sent keep(Duration left) {
        Sent keep = scripted.next("keep");
        assertThat(keep.argument(5)).as("the number of the grant").isEqualTo("100");
        assertThat(Long.parseLong(keep.argument(4))).as("ms").isBetween(left.toMillis(), left.toMillis() + 2);
        return keep;
    }

    @Test
    void aLeaseThatIsKeptIsOverHereAndInTheStoreAtItsTime() {
        Lease lease = scripted.granted(100, TTL);
        CompletableFuture<Void> closed = lease.closeAfter(LONG);
        assertThat(lease.isValid()).isFalse();
        assertThat(closed).isNotDone();
        keep(LONG).answer(Reply.Plain.KEPT);
        assertThat(closed).isCompleted();
        assertThat(scripted.engine.inUse()).isZero();
        assertThat(lease.closeAfter(LONG)).isCompleted();
        assertThat(lease.closeAfter(Duration.ZERO)).isCompleted();
        lease.close();
        scripted.timer.tick(LONG.multipliedBy(2));
        scripted.nothingIsSent();
    }

    @Test
    void aLeaseThatIsNotRenewedIsKeptBeyondItsTtl() {
        CompletableFuture<Lease> lease = scripted.acquire(LONG, TTL, false);
        scripted.next("acquire").answer(owner(100));
        scripted.timer.tick(TTL.dividedBy(2));
        CompletableFuture<Void> closed = lease.join().closeAfter(LONG);
        keep(LONG).answer(Reply.Plain.KEPT);
        assertThat(closed).isCompleted();
    }

    @Test
    void aLeaseThatHadEndedBeforeItIsKeptIsLost() {
        Lease lease = scripted.granted(100, TTL);
        CompletableFuture<Void> closed = lease.closeAfter(LONG);
        keep(LONG).answer(Reply.Plain.NOT_HOLDER);
        assertThat(closed.handle((none, failure) -> failure).join()).isInstanceOf(LockLostException.class);
        assertThat(lease.closeAfter(LONG)).isCompletedExceptionally();
    }

    @Test
    void aLeaseThatHasRunOutIsNotKept() {
        Lease lease = scripted.granted(100, TTL);
        scripted.timer.stopFor(TTL.multipliedBy(2));
        CompletableFuture<Void> closed = lease.closeAfter(LONG);
        assertThat(closed.handle((none, failure) -> failure).join()).isInstanceOf(LockLostException.class);
        scripted.nothingIsSent();
    }

    @Test
    void whatIsNotAnsweredIsRepeatedForTheRestOfTheTimeAndIsAReleaseAfterIt() {
        CompletableFuture<Void> closed = scripted.granted(100, TTL).closeAfter(Duration.ofSeconds(5));
        keep(Duration.ofSeconds(5)).expire();
        assertThat(closed).isCompleted();
        scripted.timer.tick(Duration.ofSeconds(2));
        keep(Duration.ofSeconds(5)).expire();
        scripted.timer.tick(Duration.ofMillis(20));
        keep(Duration.ofMillis(2_980)).expire();
        scripted.timer.tick(Duration.ofSeconds(3));
        keep(Duration.ofMillis(2_940)).expire();
        scripted.timer.tick(Duration.ofSeconds(3));
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        scripted.timer.tick(LONG);
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void whoWaitsHereAsksBehindALockThatIsKept() {
        Lease lease = scripted.granted(100, TTL);
        CompletableFuture<Lease> next = scripted.acquire(LONG);
        lease.closeAfter(Duration.ofSeconds(1));
        Sent kept = keep(Duration.ofSeconds(1));
        Sent asked = scripted.next("acquire");
        assertThat(asked.id()).isNotEqualTo(kept.id());
        kept.answer(Reply.Plain.KEPT);
        asked.answer(new Reply.Queued(1, 100, 1_000));
        assertThat(next).isNotDone();
        scripted.timer.tick(Duration.ofMillis(1_001));
        scripted.next("acquire").answer(owner(200));
        assertThat(next.join().fencingToken()).isEqualTo(200);
    }

    @Test
    void whoWaitsElsewhereAsksAtOnceIfTheLockBecomesFreeEarlier() {
        CompletableFuture<Lease> waiting = scripted.acquire(LONG);
        Sent asked = scripted.next("acquire");
        asked.answer(new Reply.Queued(1, 100, TTL.toMillis()));
        scripted.push(asked.id(), 0, Duration.ZERO, 1);
        scripted.next("acquire").answer(new Reply.Queued(1, 100, 10));
        scripted.timer.tick(Duration.ofMillis(20));
        scripted.next("acquire").answer(owner(200));
        assertThat(waiting.join().fencingToken()).isEqualTo(200);
    }

    @Test
    void theLastReaderToGoLeavesTheLockTakenForTheLongestTimeThatAnyWanted() {
        CompletableFuture<Lease> first = shared();
        scripted.next("acquire").answer(owner(100));
        Lease second = shared().join();
        Lease third = shared().join();
        assertThat(first.join().closeAfter(LONG)).isCompleted();
        assertThat(second.closeAfter(Duration.ofSeconds(1))).isCompleted();
        scripted.nothingIsSent();
        CompletableFuture<Void> drained = scripted.engine.drain(TTL.toNanos());
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isNotDone();
        third.closeAfter(Duration.ZERO);
        keep(LONG.minusSeconds(1)).answer(Reply.Plain.KEPT);
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isDone();
    }

    @Test
    void aReaderThatComesLaterHasAnAcquisitionOfItsOwn() {
        CompletableFuture<Lease> first = shared();
        scripted.next("acquire").answer(owner(100));
        Lease second = shared().join();
        first.join().closeAfter(LONG);
        shared();
        scripted.next("acquire").answer(owner(200));
        second.closeAfter(Duration.ZERO);
        keep(LONG);
    }

    @Test
    void theLastOfTheHoldsOfAThreadLeavesTheLockTaken() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, write, owner(100))).isTrue();
            actor.run(write::lock);
            Lease one = actor.call(write::asLease);
            assertThat(Actor.get(one.closeAfter(LONG))).isNull();
            assertThat(Actor.get(one.closeAfter(LONG.multipliedBy(2)))).isNull();
            assertThat(actor.call(write::getHoldCount)).isEqualTo(1);
            scripted.nothingIsSent();
            CompletableFuture<Void> unlocked = actor.begin(write::unlock);
            Actor.await("it releases", () -> scripted.sentCount() > 0);
            keep(LONG).answer(Reply.Plain.KEPT);
            Actor.get(unlocked);
            assertThat(actor.call(write::isHeldByCurrentThread)).isFalse();
        }
    }

    @Test
    void aTimeThatIsOverByTheLastReleaseChangesNothing() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, write, owner(100))).isTrue();
            actor.run(write::lock);
            Actor.get(actor.call(write::asLease).closeAfter(Duration.ofSeconds(1)));
            scripted.timer.tick(Duration.ofSeconds(1));
            CompletableFuture<Void> unlocked = actor.begin(write::unlock);
            Actor.await("it releases", () -> scripted.sentCount() > 0);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            Actor.get(unlocked);
        }
    }

    @Test
    void aLockThatIsKeptIsDoneWhenTheRegistryIsClosed() {
        CompletableFuture<Void> closed = scripted.granted(100, TTL).closeAfter(LONG);
        scripted.engine.close();
        scripted.store.close();
        assertThat(closed).isCompleted();
    }

    @Test
    void aLockThatIsKeptAfterTheRegistryWasClosedIsDoneAtOnce() {
        Lease lease = scripted.granted(100, TTL);
        scripted.engine.close();
        scripted.store.close();
        assertThat(lease.closeAfter(LONG)).isCompleted();
    }

    @Test
    void locksThatAreKeptLeaveNothingBehind() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, write, owner(100))).isTrue();
            int before = scripted.timer.planned();
            for (int i = 0; i < 1_000; i++) {
                CompletableFuture<Lease> future = scripted.acquireNamed("n" + i, LONG);
                scripted.next("acquire").answer(owner(100));
                future.join().closeAfter(LONG);
                scripted.next("keep").answer(Reply.Plain.KEPT);
                actor.run(write::lock);
                Actor.get(actor.call(write::asLease).closeAfter(LONG));
            }
            assertThat(scripted.timer.planned()).isLessThan(before + 10);
        }
    }

    // --- what a thread has lost ---------------------------------------------------------------------------------

    @Test
    void aThreadReleasesWhatItHasLostOfANameOnceEachTheNewestFirst() throws Exception {
        try (Actor actor = new Actor()) {
            for (long token = 100; token < 103; token++) {
                assertThat(tryLock(actor, write, owner(token))).isTrue();
                scripted.timer.stopFor(TTL.multipliedBy(2));
            }
            for (long token = 102; token >= 100; token--) {
                assertThatExceptionOfType(LockLostException.class)
                        .isThrownBy(() -> actor.run(write::unlock))
                        .extracting(LockLostException::getFencingToken)
                        .isEqualTo(token);
            }
            assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> actor.run(write::unlock));
            assertThat(scripted.engine.context().lost().size()).isZero();
        }
    }

    @Test
    @Tag("not-for-mutants")
    void whatThreadsHaveLostThatHaveEndedIsForgotten() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            NamedLock lock = EngineLocks.of(scripted.engine, "n" + i, OPTIONS);
            try (Actor actor = new Actor()) {
                assertThat(tryLock(actor, lock, owner(100))).isTrue();
                scripted.timer.stopFor(TTL.multipliedBy(2));
                assertThat(actor.call(lock::isHeldByCurrentThread)).isFalse();
                scripted.timer.tick(Duration.ofSeconds(1));
            }
        }
        assertThat(scripted.engine.context().lost().size()).isBetween(1, 200);
    }

    @Test
    void eachWriterThatBecomesAReaderTellsRedisHoweverManyThereAre() {
        List<Hold> writers = new ArrayList<>();
        for (int i = 0; i <= 1_000; i++) {
            CompletableFuture<Lease> future = scripted.acquireNamed("n" + i, LONG);
            scripted.next("acquire").answer(owner(100));
            writers.add(Hold.of(future.join()));
        }
        writers.forEach(writer ->
                scripted.engine.name(LockKind.EXCLUSIVE, writer.name()).downgrade(writer));
        assertThat(scripted.sentCount()).isEqualTo(1_001);
    }

    /** Another thread has released the write side, and the lock is on its way back to Redis. */
    @Test
    void theReadSideCannotBeTakenUnderAWriteSideThatIsBeingReleased() throws Exception {
        AtomicReference<Boolean> entered = new AtomicReference<>();
        Hold.Releaser releaser = new Hold.Releaser() {

            @Override
            public CompletableFuture<Hold.Release> release(Hold hold, Transfer to) {
                entered.set(hold.enterAgain(LockKind.SHARED));
                return CompletableFuture.completedFuture(Hold.Release.PASSED_ON);
            }

            @Override
            public void keepUntil(Hold hold, long nanoTime) {}

            @Override
            public boolean extend(Hold hold, long millis) {
                return false;
            }

            @Override
            public boolean othersWait(Hold hold) {
                return false;
            }

            @Override
            public void downgrade(Hold hold) {}

            @Override
            public void settleNow() {}
        };
        Hold granted = Hold.of(scripted.granted(100, TTL));
        EngineContext context = scripted.engine.context();
        Hold hold = new Hold(context, releaser, granted.id(), granted.waiter(), context.now());
        hold.claim();
        hold.exit(LockKind.EXCLUSIVE);
        assertThat(entered).hasValue(false);
    }

    /**
     * The timer's thread releases it: a thread that entered it again until then would run without the lock afterwards.
     */
    @Test
    void aHoldWhoseCallerWasThrownOutIsNotEnteredAgain() {
        Hold hold = Hold.of(scripted.granted(100, TTL));
        hold.waiter().withdraw();
        assertThat(hold.enterAgain(LockKind.EXCLUSIVE)).isFalse();
        scripted.timer.tick(Duration.ofMillis(1));
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
    }

    @Test
    void anUnlockAfterTheEndOfTheLeaseTellsOfTheLossAlsoIfItIsNotTheLast() throws Exception {
        try (Actor actor = new Actor()) {
            tryLock(actor, write, owner(100));
            actor.run(write::lock);
            scripted.timer.stopFor(TTL.multipliedBy(2));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(write::unlock));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(write::unlock));
        }
        scripted.nothingIsSent();
    }

    @Test
    void aWriterThatBecomesAReaderAfterTheEndOfItsLeaseIsToldOfTheLoss() throws Exception {
        try (Actor actor = new Actor()) {
            tryLock(actor, write, owner(100));
            actor.run(read::lock);
            scripted.timer.stopFor(TTL.multipliedBy(2));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(write::unlock));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(read::unlock));
        }
        scripted.nothingIsSent();
    }

    @Test
    void whatDependsOnTheDrainIsNotRunOnTheTimersThread() {
        scripted.granted(100, TTL);
        scripted.holdThreads();
        CompletableFuture<Void> drained =
                scripted.engine.drain(Duration.ofMillis(100).toNanos());
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isNotDone();
        scripted.resumeThreads();
        assertThat(drained).isCompleted();
    }

    @Test
    void whatDependsOnTheConnectionIsNotRunOnTheTimersThreadOrTheChannels() {
        CompletableFuture<Void> connected = scripted.engine.connect("first");
        scripted.next("acquire").answer(owner(100));
        scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        scripted.holdThreads();
        scripted.engine.onSubscribed();
        scripted.timer.tick(Duration.ofSeconds(2));
        assertThat(connected).isNotDone();
        scripted.resumeThreads();
        assertThat(connected).isCompleted();
    }

    @Test
    void aThreadWhoseReadLeaseIsOverMayWrite() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, read, owner(100))).isTrue();
            scripted.timer.stopFor(TTL);
            assertThat(actor.call(read::isHeldByCurrentThread)).isFalse();
            assertThat(tryLock(actor, write, owner(200))).isTrue();
        }
    }

    @Test
    void aReadLeaseThatIsOverIsNotRenewedByALateAnswerWhileItsThreadWaitsToWrite() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, read, owner(100))).isTrue();
            scripted.timer.tick(TTL.dividedBy(3));
            Sent renewal = scripted.next("renew");
            scripted.timer.stopFor(TTL);
            CompletableFuture<Boolean> written = actor.start(write::tryLock);
            Actor.await("it asks", () -> scripted.sentCount() > 0);
            renewal.answer(new Reply.Renewed(TTL.toMillis(), 0));
            scripted.next("acquire").answer(owner(200));
            assertThat(written.join()).isTrue();
            assertThat(actor.call(read::isHeldByCurrentThread))
                    .as("under the write side only")
                    .isFalse();
        }
    }

    @Test
    void aThreadWhoseLeaseIsOverSinceItBecameAReaderMayWrite() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, write, owner(100))).isTrue();
            assertThat(tryLock(actor, read, owner(100))).isTrue();
            actor.run(write::unlock);
            scripted.next("downgrade").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            scripted.timer.stopFor(TTL);
            assertThat(actor.call(read::isHeldByCurrentThread)).isFalse();
            assertThat(tryLock(actor, write, owner(200))).isTrue();
        }
    }
}
