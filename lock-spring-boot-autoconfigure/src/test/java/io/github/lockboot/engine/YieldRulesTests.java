package io.github.lockboot.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockContext.Keep;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** A long holder lets others have the lock at a checkpoint, or hears that they wait. */
class YieldRulesTests {

    private static final Duration CLAIM_LEASE = Duration.ofMillis(LockStore.CLAIM_LEASE_MILLIS);

    /** Real time, too: a thread looks at the clock of the test again after so long. */
    private static final Duration WAIT = Duration.ofMillis(50);

    private static final LockOptions OPTIONS =
            LockOptions.defaults().withTtl(TTL).withWaitTime(WAIT).withRenewal();

    private final RecordingLockListener listener = new RecordingLockListener();
    private final ScriptedEngine scripted = new ScriptedEngine(64, listener);
    private final Actor caller = new Actor();
    private final Actor other = new Actor();
    private final CompletableFuture<Void> checkpoint = new CompletableFuture<>();
    private final AtomicInteger told = new AtomicInteger();

    /** What the method that runs under the lock sees. */
    private LockContext context;

    private boolean inTransaction;

    @AfterEach
    void leave() {
        caller.close();
        other.close();
    }

    private NamedLock lock(String name, LockOptions options) {
        return EngineLocks.of(scripted.engine, name, options);
    }

    private static Reply.Granted granted(long token) {
        return new Reply.Granted(token, TTL.toMillis(), 0);
    }

    private Sent awaitSent(String script) {
        Actor.await(script + " is sent", () -> scripted.sentCount() > 0 && caller.isWaiting());
        return scripted.next(script);
    }

    private void answerUnlock() {
        awaitSent("unlock").answer(Reply.Plain.RELEASED);
    }

    private <T> CompletableFuture<T> begin(List<LockContext> wanted, Callable<T> body) {
        return caller.start(() -> {
            HeldLocks held = HeldLocks.acquire(wanted);
            return held.<T, Exception>runAndRelease(() -> held.<T, Exception>call(() -> inTransaction, () -> {
                context = LockContext.current();
                checkpoint.get();
                return body.call();
            }));
        });
    }

    /** A method that runs under the lock and is at its checkpoint. {@return the id of its hold} */
    private <T> Method<T> method(LockContext wanted, Callable<T> body) {
        CompletableFuture<T> result = begin(List.of(wanted), body);
        Sent acquire = awaitSent("acquire");
        acquire.answer(granted(100));
        Actor.await("it is at its checkpoint", () -> context != null && caller.isWaiting());
        return new Method<>(acquire.id(), result);
    }

    private record Method<T>(String id, CompletableFuture<T> result) {}

    private Method<Boolean> method(LockOptions options) {
        return method(wanted(NAME, options), () -> context.yieldIfOthersWait());
    }

    private LockContext wanted(String name, LockOptions options) {
        return HeldLocks.wanted(lock(name, options), null, null);
    }

    /** The store says that another registry waits. */
    private void hint(Method<?> method) {
        scripted.push(method.id, 0, Duration.ZERO, 1);
    }

    private void goOn() {
        checkpoint.complete(null);
    }

    private void assertEnded(Method<?> method) throws Exception {
        Actor.get(method.result);
        assertAllIsOver();
    }

    private void assertAllIsOver() {
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    // --- a method yields --------------------------------------------------------------------------------------

    @Test
    void whileNobodyWaitsNothingIsSentAndTheHoldGoesOn() throws Exception {
        Method<Boolean> method = method(OPTIONS);
        goOn();
        answerUnlock();
        assertThat(Actor.get(method.result)).isFalse();
        assertThat(listener.told).containsExactly("requested name", "acquired name ASKED", "released name");
        assertAllIsOver();
    }

    static Stream<LockOptions> kinds() {
        return Stream.of(OPTIONS, OPTIONS.shared(), OPTIONS.withPermits(2));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void ifAnotherInstanceWaitsTheLockIsReleasedBeforeItIsQueuedForAndComesWithANewToken(LockOptions kind)
            throws Exception {
        Method<Long> method = method(wanted(NAME, kind), () -> {
            assertThat(context.yieldIfOthersWait()).isTrue();
            assertThat(LockContext.current()).isSameAs(context);
            assertThat(context.isValid()).isTrue();
            return context.fencingToken();
        });
        hint(method);
        goOn();
        Sent unlock = awaitSent("unlock");
        assertThat(unlock.id()).isEqualTo(method.id);
        scripted.nothingIsSent();
        unlock.answer(Reply.Plain.RELEASED);
        Sent again = awaitSent("acquire");
        assertThat(again.id()).isNotEqualTo(method.id);
        assertThat(again.argument(4)).as("whether it queues").isEqualTo("1");
        again.answer(new Reply.Queued(1, 200, TTL.toMillis()));
        scripted.push(again.id(), 300, CLAIM_LEASE, 0);
        Sent end = awaitSent("unlock");
        assertThat(end.id()).isEqualTo(again.id());
        end.answer(Reply.Plain.RELEASED);
        assertThat(Actor.get(method.result)).isEqualTo(300);
        assertThat(listener.told)
                .containsExactly(
                        "requested name",
                        "acquired name ASKED",
                        "released name",
                        "requested name",
                        "acquired name GRANTED",
                        "released name");
        assertAllIsOver();
    }

    @Test
    void aThreadOfThisInstanceThatWaitsIsServedBeforeTheOneThatYields() throws Exception {
        Method<Boolean> method = method(OPTIONS);
        NamedLock lock = lock(NAME, OPTIONS);
        CompletableFuture<Long> next = other.start(() -> {
            lock.lock();
            return lock.fencingToken();
        });
        Actor.await("it waits", other::isWaiting);
        goOn();
        assertThat(Actor.get(next)).isEqualTo(101);
        Actor.await("the method waits", caller::isWaiting);
        assertThat(method.result).isNotDone();
        scripted.nothingIsSent();
        other.run(lock::unlock);
        answerUnlock();
        assertThat(Actor.get(method.result)).isTrue();
        assertAllIsOver();
    }

    @Test
    void aThreadThatHasLeftIsNotWaitedFor() throws Exception {
        Method<Boolean> method = method(OPTIONS);
        CompletableFuture<Void> waiting = other.begin(() -> lock(NAME, OPTIONS).lockInterruptibly());
        Actor.await("it waits", other::isWaiting);
        other.interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> Actor.get(waiting));
        goOn();
        answerUnlock();
        assertThat(Actor.get(method.result)).isFalse();
    }

    /** The method does not know that: it costs two commands. */
    @Test
    void anInstanceThatHasLeftCostsAReleaseAndAnAcquisition() throws Exception {
        Method<Boolean> method = method(OPTIONS);
        hint(method);
        goOn();
        answerUnlock();
        awaitSent("acquire").answer(granted(200));
        answerUnlock();
        assertThat(Actor.get(method.result)).isTrue();
        assertAllIsOver();
    }

    @Test
    void afterItHasYieldedAMethodYieldsOnlyToThoseThatWaitThen() throws Exception {
        Method<List<Boolean>> method =
                method(wanted(NAME, OPTIONS), () -> List.of(context.yieldIfOthersWait(), context.yieldIfOthersWait()));
        hint(method);
        goOn();
        answerUnlock();
        awaitSent("acquire").answer(granted(200));
        answerUnlock();
        assertThat(Actor.get(method.result)).containsExactly(true, false);
        assertAllIsOver();
    }

    @Test
    void aCallWithSeveralLocksYieldsAllOfThem() throws Exception {
        CompletableFuture<Boolean> result =
                begin(List.of(wanted("a", OPTIONS), wanted(NAME, OPTIONS)), () -> context.yieldIfOthersWait());
        Sent first = awaitSent("acquire");
        Sent second = scripted.next("acquire");
        first.answer(granted(100));
        second.answer(granted(100));
        Actor.await("it is at its checkpoint", () -> context != null && caller.isWaiting());
        hint(new Method<>(second.id(), result));
        goOn();
        answerBoth("unlock", Reply.Plain.RELEASED);
        answerBoth("acquire", granted(200));
        answerBoth("unlock", Reply.Plain.RELEASED);
        assertThat(Actor.get(result)).isTrue();
        assertAllIsOver();
    }

    private void answerBoth(String script, Reply reply) {
        Actor.await("both are sent", () -> scripted.sentCount() == 2 && caller.isWaiting());
        List.of(scripted.next(script), scripted.next(script)).forEach(each -> each.answer(reply));
    }

    // --- it does not come back --------------------------------------------------------------------------------

    /** A method that has yielded, and could not acquire the lock again. */
    private Method<Boolean> yielding() {
        Method<Boolean> method = method(wanted(NAME, OPTIONS), () -> {
            try {
                return context.yieldIfOthersWait();
            } finally {
                assertThat(context.isValid()).isFalse();
                assertThat(LockContext.find()).isEmpty();
                assertThatIllegalStateException().isThrownBy(() -> context.yieldIfOthersWait());
            }
        });
        hint(method);
        goOn();
        answerUnlock();
        return method;
    }

    @Test
    void ifTheWaitTimeIsOverTheMethodHasNoLockAndReleasesNone() {
        Method<Boolean> method = yielding();
        awaitSent("acquire").answer(new Reply.Queued(1, 200, TTL.toMillis()));
        Actor.await("it waits", caller::isWaiting);
        scripted.timer.tick(WAIT);
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> Actor.get(method.result))
                .satisfies(refused -> assertThat(refused.getSuppressed()).isEmpty());
        scripted.next("unlock").answer(Reply.Plain.RELEASED); // it leaves the queue
        assertAllIsOver();
    }

    @Test
    void ifRedisIsAwayTheMethodHasNoLockAndReleasesNone() {
        Method<Boolean> method = yielding();
        awaitSent("acquire").fail("away");
        assertThatExceptionOfType(LockUnavailableException.class)
                .isThrownBy(() -> Actor.get(method.result))
                .satisfies(failure -> assertThat(failure.getSuppressed()).isEmpty());
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER); // in case Redis has granted it
        assertAllIsOver();
    }

    @Test
    void ifItIsInterruptedTheMethodHasNoLockAndReleasesNone() throws Exception {
        Method<Boolean> method = yielding();
        awaitSent("acquire").answer(new Reply.Queued(1, 200, TTL.toMillis()));
        Actor.await("it waits", caller::isWaiting);
        caller.interrupt();
        assertThatExceptionOfType(LockNotAcquiredException.class)
                .isThrownBy(() -> Actor.get(method.result))
                .withCauseInstanceOf(InterruptedException.class)
                .satisfies(refused -> assertThat(refused.getSuppressed()).isEmpty());
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertAllIsOver();
    }

    // --- the lock is lost -------------------------------------------------------------------------------------

    @Test
    void aMethodThatHasLostItsLockIsToldOfItAtItsCheckpoint() {
        Method<Boolean> method = method(OPTIONS);
        scripted.timer.tick(TTL);
        scripted.next("renew").fail("away");
        goOn();
        assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> Actor.get(method.result));
        assertThat(listener.told).filteredOn(each -> each.startsWith("lost")).hasSize(1);
    }

    @Test
    void aLossThatTheReleaseShowsIsReportedOnce() {
        Method<Boolean> method = method(OPTIONS);
        hint(method);
        goOn();
        awaitSent("unlock").answer(Reply.Plain.NOT_HOLDER);
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> Actor.get(method.result))
                .satisfies(lost -> assertThat(lost.getSuppressed()).isEmpty());
        assertThat(listener.told).filteredOn(each -> each.startsWith("lost")).hasSize(1);
        assertAllIsOver();
    }

    // --- refused ----------------------------------------------------------------------------------------------

    private static final String NOT_ALONE =
            "lock 'name' cannot be yielded: its thread must hold it once, as its newest lock, and the call must not be"
                    + " asynchronous";

    /** Although others wait. The lock is still held, and the end of the method releases it. */
    private void assertRefused(Method<Boolean> method, String message) {
        hint(method);
        goOn();
        assertThatIllegalStateException()
                .isThrownBy(() -> {
                    answerUnlock();
                    Actor.get(method.result);
                })
                .withMessage(message);
        assertAllIsOver();
    }

    @Test
    void aTransactionIsNotSplit() {
        inTransaction = true;
        assertRefused(
                method(OPTIONS),
                "lock 'name' cannot be yielded: a transaction is active, whose changes others would not see; yield after its"
                        + " end");
    }

    @Test
    void aCallWithoutAWaitTimeWouldNotComeBack() {
        assertRefused(
                method(OPTIONS.withWaitTime(Duration.ZERO)),
                "lock 'name' cannot be yielded: its waitTime is zero, so the call would not get it back");
    }

    @Test
    void aLockThatIsKeptIsNotYielded() {
        LockContext kept = HeldLocks.wanted(lock(NAME, OPTIONS), null, new Keep(Duration.ofMinutes(1), true));
        assertRefused(
                method(kept, () -> context.yieldIfOthersWait()),
                "lock 'name' cannot be yielded: it is kept after the method, by keepFor or atLeastFor");
    }

    @Test
    void aLockThatIsHeldTwiceIsNotYielded() {
        NamedLock lock = lock(NAME, OPTIONS);
        assertRefused(
                method(wanted(NAME, OPTIONS), () -> {
                    lock.lock();
                    try {
                        return context.yieldIfOthersWait();
                    } finally {
                        lock.unlock();
                    }
                }),
                NOT_ALONE);
    }

    @Test
    void aReaderUnderItsOwnWriteLockDoesNotYield() {
        assertRefused(
                method(wanted(NAME, OPTIONS), () -> {
                    HeldLocks reading = HeldLocks.acquire(List.of(wanted(NAME, OPTIONS.shared())));
                    return reading.<Boolean, RuntimeException>runAndRelease(
                            () -> reading.<Boolean, RuntimeException>call(
                                    () -> false, () -> LockContext.current().yieldIfOthersWait()));
                }),
                NOT_ALONE);
    }

    /** Two threads could wait for each other's locks. */
    @Test
    void aLockUnderWhichAnotherWasAcquiredIsNotYielded() {
        NamedLock inner = lock("inner", OPTIONS);
        Method<Boolean> method = method(wanted(NAME, OPTIONS), () -> {
            inner.lock();
            try {
                return context.yieldIfOthersWait();
            } finally {
                inner.unlock();
            }
        });
        hint(method);
        goOn();
        awaitSent("acquire").answer(granted(1));
        answerUnlock();
        answerUnlock();
        assertThatIllegalStateException()
                .isThrownBy(() -> Actor.get(method.result))
                .withMessage(NOT_ALONE);
        assertAllIsOver();
    }

    @Test
    void aCallWhoseHoldBelongsToALeaseDoesNotYield() {
        LockRequest request = ((EngineLock) lock(NAME, OPTIONS)).request;
        LockContext leased = HeldLocks.wanted(lock(NAME, OPTIONS), wait -> scripted.engine.acquireAsync(request), null);
        assertRefused(method(leased, () -> context.yieldIfOthersWait()), NOT_ALONE);
    }

    // --- a lease hears that others wait -----------------------------------------------------------------------

    private Lease watched() {
        Lease lease = scripted.granted(100, TTL);
        lease.onOthersWait(told::incrementAndGet);
        scripted.nothingIsSent();
        assertThat(told).hasValue(0);
        return lease;
    }

    private void release(Lease lease) {
        CompletableFuture<Void> closed = lease.closeAfter(Duration.ZERO);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(closed).isCompleted();
    }

    @Test
    void aLeaseHearsOnceThatAnotherInstanceWaits() {
        Lease lease = watched();
        String id = Hold.of(lease).acquisitionId();
        scripted.push(id, 0, Duration.ZERO, 1);
        scripted.push(id, 0, Duration.ZERO, 1);
        assertThat(told).hasValue(1);
        lease.onOthersWait(told::incrementAndGet);
        assertThat(told).hasValue(2);
        release(lease);
        assertAllIsOver();
    }

    @Test
    void aLeaseHearsItFromTheAnswerToARenewal() {
        watched();
        scripted.timer.tick(TTL.dividedBy(3));
        scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 1));
        assertThat(told).hasValue(1);
    }

    @Test
    void aLeaseThatOthersWaitForFromItsBeginningHearsItAtOnce() {
        CompletableFuture<Lease> future = scripted.acquire(WAIT);
        scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 1));
        future.join().onOthersWait(told::incrementAndGet);
        assertThat(told).hasValue(1);
    }

    @Test
    void aLeaseHearsThatACallerOfThisInstanceWaits() {
        Lease lease = watched();
        CompletableFuture<Lease> next = scripted.acquire(WAIT);
        assertThat(told).hasValue(1);
        lease.close();
        assertThat(next.join().isValid()).isTrue();
    }

    /** It does not wait: it is refused. */
    @Test
    void aCallerThatTriesOnceDoesNotCount() {
        watched();
        assertThat(scripted.acquire(Duration.ZERO)).isCompletedExceptionally();
        assertThat(told).hasValue(0);
    }

    @Test
    void aLeaseThatHasEndedHearsNothing() {
        Lease lease = watched();
        String id = Hold.of(lease).acquisitionId();
        CompletableFuture<Void> closed = lease.closeAfter(Duration.ZERO);
        scripted.push(id, 0, Duration.ZERO, 1);
        lease.onOthersWait(told::incrementAndGet);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(closed).isCompleted();
        assertThat(told).hasValue(0);
    }

    @Test
    void allReadersOfAnInstanceHearIt() {
        List<CompletableFuture<Lease>> readers =
                List.of(scripted.acquire(Kind.SHARED, WAIT), scripted.acquire(Kind.SHARED, WAIT));
        Sent acquire = scripted.next("acquire");
        acquire.answer(granted(100));
        readers.forEach(each -> each.join().onOthersWait(told::incrementAndGet));
        scripted.push(acquire.id(), 0, Duration.ZERO, 1);
        assertThat(told).hasValue(2);
    }

    @Test
    void oneHoldOfAThreadHearsItToo() throws Exception {
        Method<Boolean> method = method(wanted(NAME, OPTIONS), () -> {
            try (Lease lease = lock(NAME, OPTIONS).asLease()) {
                lease.onOthersWait(told::incrementAndGet);
                lock(NAME, OPTIONS).lock();
            }
            return true;
        });
        hint(method);
        goOn();
        answerUnlock();
        assertEnded(method);
        assertThat(told).hasValue(1);
    }
}
