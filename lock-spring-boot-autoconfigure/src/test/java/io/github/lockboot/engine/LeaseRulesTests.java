package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.RecordingLockRegistry;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;

/** What a lease is worth to the one who has it, whoever had the lock before and however it ends. */
class LeaseRulesTests {

    private static final Duration LONG = Duration.ofMinutes(10);

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    /** Lets time pass, while Redis renews what is asked for. */
    private int renewals(Duration time) {
        int renewals = 0;
        for (long tick = 0; tick < time.toMillis(); tick += 100) {
            scripted.timer.tick(Duration.ofMillis(100));
            while (scripted.sentCount() > 0) {
                scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
                renewals++;
            }
        }
        return renewals;
    }

    private CompletableFuture<Lease> acquire(Duration maxHold) {
        Terms terms = Terms.exclusive(TTL.toMillis(), true);
        return scripted.engine.acquireAsync(new LockRequest(
                NAME, null, terms, LONG.toNanos(), maxHold.toNanos(), true, false, LockRequest.ANY_NUMBER));
    }

    private void release(Lease lease) {
        lease.closeAfter(Duration.ZERO);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Nested
    class BeyondTheLongestHold {

        private final CompletableFuture<Lease> stuck =
                acquire(TTL.multipliedBy(2).dividedBy(3));

        private Lease granted() {
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            return stuck.join();
        }

        @Test
        void whoFollowsAStuckHolderIsRenewed() {
            Lease first = granted();
            CompletableFuture<Lease> next = acquire(LONG);
            renewals(TTL.multipliedBy(3).dividedBy(4));
            first.closeAfter(Duration.ZERO);
            Lease second = next.join();
            assertThat(renewals(TTL.multipliedBy(2))).isPositive();
            assertThat(second.isValid()).isTrue();
            release(second);
        }

        @Test
        void aLockIsKeptAfterAHoldThatWasTooLong() {
            Lease lease = granted();
            renewals(TTL.multipliedBy(3).dividedBy(4));
            CompletableFuture<Void> closed = lease.closeAfter(LONG);
            scripted.next("keep").answer(Reply.Plain.KEPT);
            assertThat(closed).isCompleted();
            assertThat(renewals(TTL.multipliedBy(2))).isZero();
        }

        @Test
        void whatIsNotReleasedIsNotRenewed() {
            Lease lease = granted();
            renewals(TTL.multipliedBy(3));
            assertThat(lease.isValid()).isFalse();
            assertThat(scripted.engine.inUse()).isZero();
        }
    }

    @Test
    void aLeaseThatRedisDoesNotRenewIsLostForThatReason() {
        RecordingLockListener listener = new RecordingLockListener();
        ScriptedEngine each = new ScriptedEngine(64, listener);
        each.granted(100, TTL);
        for (Duration passed = Duration.ZERO; passed.compareTo(TTL) < 0; passed = passed.plusSeconds(1)) {
            each.timer.tick(Duration.ofSeconds(1));
            while (each.sentCount() > 0) {
                each.next("renew").fail("MISCONF Redis is configured to save snapshots");
            }
        }
        assertThat(listener.told)
                .endsWith("lost name its lease ran out, and its renewal failed: MISCONF Redis is configured to save"
                        + " snapshots");
    }

    @Test
    void aPauseIsNotTakenForARedisThatDoesNotRenew() {
        RecordingLockListener listener = new RecordingLockListener();
        ScriptedEngine each = new ScriptedEngine(64, listener);
        each.granted(100, TTL);
        each.timer.tick(TTL.dividedBy(3));
        each.timer.stopFor(TTL);
        each.next("renew").fail("no answer");
        each.timer.tick(Duration.ofSeconds(1));
        assertThat(listener.told).endsWith("lost name its lease ran out");
    }

    @Test
    void aLeaseThatIsKeptIsNotLost() {
        Lease lease = scripted.granted(100, TTL);
        AtomicInteger losses = new AtomicInteger();
        lease.onLost(losses::incrementAndGet);
        lease.closeAfter(TTL.multipliedBy(2));
        scripted.next("keep").answer(Reply.Plain.KEPT);
        scripted.timer.tick(TTL.multipliedBy(3));
        assertThat(losses).hasValue(0);
        scripted.nothingIsSent();
    }

    @Test
    void aLeaseIsKeptHoweverManyEndsAreWithoutAnAnswer() {
        Lease lease = scripted.granted(100, TTL);
        for (int i = 0; i < 1_000; i++) {
            CompletableFuture<Lease> other = scripted.acquireNamed("other-" + i, LONG);
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            other.join().closeAfter(Duration.ZERO);
            scripted.next("unlock").expire();
            scripted.next("unlock"); // not answered
        }
        lease.closeAfter(LONG);
        scripted.next("keep").expire();
        scripted.timer.tick(Duration.ofSeconds(1));
        scripted.next("keep").answer(Reply.Plain.KEPT);
    }

    @Test
    void aLeaseThatNobodyRenewsIsWholeForEachHolder() {
        CompletableFuture<Lease> one = scripted.acquire(LONG, TTL, false);
        Sent first = scripted.next("acquire");
        first.answer(new Reply.Granted(100, TTL.toMillis(), 0));
        CompletableFuture<Lease> two = scripted.acquire(LONG, TTL, false);
        scripted.timer.tick(TTL.dividedBy(2));
        one.join().closeAfter(Duration.ZERO);
        Sent unlock = scripted.next("unlock");
        assertThat(unlock.argument(3)).as("the next id, in the same step").isNotEmpty();
        unlock.answer(new Reply.Granted(200, TTL.toMillis(), 0));
        assertThat(two.join().remainingLease())
                .isGreaterThan(TTL.multipliedBy(9).dividedBy(10));
        release(two.join());
    }

    /** A grant that nobody took in time goes back; who no longer wants it does not wait for another. */
    @Test
    void aRequestThatIsGivenUpWhileTheProcessStandsStillDoesNotWaitAgain() {
        CompletableFuture<Lease> request = scripted.acquire(LONG);
        scripted.holdThreads();
        scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
        request.cancel(false);
        scripted.timer.stopFor(TTL.multipliedBy(2));
        scripted.resumeThreads();
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.timer.tick(Duration.ofMinutes(1));
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    /** Threads that end with the lock in their hands, on real threads. */
    @Nested
    class OfAThreadThatEnds {

        private final LockOptions options =
                LockOptions.defaults().withTtl(TTL).withWaitTime(Duration.ZERO).withRenewal();

        private void holdAndEnd() throws Exception {
            Thread holder = new Thread(
                    () -> EngineLocks.of(scripted.engine, NAME, options).lock());
            holder.start();
            Actor.await("it asks", () -> scripted.sentCount() > 0);
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            holder.join();
        }

        @Test
        void theLeaseIsNotRenewedAndTheLossIsToldOnce() throws Exception {
            RecordingLockListener listener = new RecordingLockListener();
            scripted.engine.addListener(new RecordingLockRegistry(), listener);
            holdAndEnd();
            assertThat(renewals(TTL)).isZero();
            assertThat(listener.told)
                    .containsExactly(
                            "requested name", "acquired name ASKED", "lost name its thread ended without releasing it");
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void whoWaitsBehindItGetsTheLock() throws Exception {
            holdAndEnd();
            CompletableFuture<Lease> next = scripted.acquire(LONG);
            scripted.timer.tick(TTL);
            scripted.next("acquire").answer(new Reply.Granted(200, TTL.toMillis(), 0));
            assertThat(next.join().isValid()).isTrue();
            release(next.join());
        }

        /**
         * An error, in a process that is out of memory, may end a thread before it looks at the answer to its request.
         */
        @Test
        void aHoldThatItHasNotClaimedGoesToTheNextCaller() throws Exception {
            CompletableFuture<Void> granted = new CompletableFuture<>();
            Thread asks = new Thread(() -> {
                scripted.engine.attempt(LockRequest.of(NAME, options), false);
                granted.join();
            });
            asks.start();
            Actor.await("it asks", () -> scripted.sentCount() > 0);
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            CompletableFuture<Lease> next = scripted.acquire(LONG);
            assertThat(next).isNotDone();
            granted.complete(null);
            asks.join();
            scripted.timer.tick(Duration.ofSeconds(1));
            assertThat(next).isCompleted();
            release(next.join());
        }
    }

    @Nested
    class Extended {

        private final Actor holder = new Actor();
        private final AtomicInteger told = new AtomicInteger();
        private Lease lease;

        @BeforeEach
        void hold() {
            CompletableFuture<Lease> asked = scripted.acquire(LONG, TTL, false);
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            lease = asked.join();
            lease.onLost(told::incrementAndGet);
        }

        @AfterEach
        void stop() {
            holder.close();
        }

        private CompletableFuture<Boolean> extend() {
            CompletableFuture<Boolean> extended = holder.start(() -> lease.extend(TTL.multipliedBy(2)));
            Actor.await("it is asked", () -> scripted.sentCount() > 0);
            return extended;
        }

        @Test
        void theLeaseCountsFromWhenItWasAskedFor() throws Exception {
            CompletableFuture<Boolean> extended = extend();
            scripted.timer.tick(Duration.ofSeconds(5));
            scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis() * 2, 0));
            assertThat(Actor.get(extended)).isTrue();
            assertThat(lease.remainingLease()).isLessThanOrEqualTo(Duration.ofSeconds(55));
            scripted.timer.tick(TTL.plusSeconds(10));
            assertThat(lease.isValid()).isTrue();
            release(lease);
        }

        @Test
        void whatIsNoLongerHeldIsLost() throws Exception {
            CompletableFuture<Boolean> extended = extend();
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
            assertThat(Actor.get(extended)).isFalse();
            assertThat(told).hasValue(1);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void withoutAnAnswerTheLeaseIsAsBeforeAndALateAnswerCounts() {
            CompletableFuture<Boolean> extended = extend();
            Sent renewal = scripted.next("renew");
            renewal.expire();
            assertThat(extended)
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableThat()
                    .withCauseInstanceOf(LockUnavailableException.class);
            assertThat(lease.remainingLease()).isLessThanOrEqualTo(TTL);
            renewal.answer(new Reply.Renewed(TTL.toMillis() * 2, 0));
            assertThat(lease.remainingLease()).isGreaterThan(TTL);
            release(lease);
        }

        @Test
        void whatMayHaveBeenExtendedIsForgottenInRedisWhenTheLeaseIsOver() {
            CompletableFuture<Boolean> extended = extend();
            scripted.next("renew").expire();
            assertThat(extended).failsWithin(Duration.ofSeconds(30));
            scripted.timer.tick(TTL);
            assertThat(told).hasValue(1);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }
    }

    @Nested
    class WithoutAThread {

        private static final Duration SOON = Duration.ofSeconds(1);

        @Test
        void aGrantIsToldLater() {
            CompletableFuture<Lease> request = scripted.acquire(LONG);
            scripted.lackThread();
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            scripted.timer.tick(SOON);
            release(request.join());
        }

        @Test
        void aReleaseReturns() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Lease> next = scripted.acquire(LONG, TTL.dividedBy(2), true);
            CompletableFuture<Hold.Release> released =
                    scripted.engine.name(LockKind.EXCLUSIVE, NAME).release(Hold.of(lease), null);
            scripted.lackThread();
            scripted.next("unlock").answer(new Reply.Granted(200, TTL.toMillis() / 2, 0));
            assertThat(released).isCompletedWithValue(Hold.Release.RELEASED);
            scripted.timer.tick(SOON);
            release(next.join());
        }

        @Test
        void allWhoWaitAreTold() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Lease> one = scripted.acquire(LONG);
            CompletableFuture<Lease> other = scripted.acquire(LONG);
            scripted.lackThread();
            scripted.engine.stopGranting();
            scripted.timer.tick(SOON);
            assertThat(one).isCompletedExceptionally();
            assertThat(other)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(LockUnavailableException.class);
            release(lease);
        }
    }

    @Test
    @Timeout(60)
    void aHoldThatNobodyClaimsBeforeItsMaximumHoldKeepsNoThreadBusy() throws Exception {
        Terms terms = Terms.exclusive(30_000, true);
        LockRequest request = new LockRequest(
                NAME, null, terms, 0, Duration.ofSeconds(2).toNanos(), true, false, LockRequest.ANY_NUMBER);
        Callable<Lease> answer = scripted.engine.attempt(request.attempted(), true);
        scripted.next("acquire").answer(new Reply.Granted(5, 30_000, 0));
        scripted.timer.tick(Duration.ofSeconds(3));
        assertThat(answer.call()).isNull(); // the thread has the lock
        assertThat(scripted.engine.heldBy(Thread.currentThread(), NAME, LockKind.EXCLUSIVE))
                .isNotNull();
    }

    /** The release waits for the answer to a renewal, and the machine sleeps meanwhile. */
    @Test
    void aHoldThatEndedInItsLeaseIsNotLostAlthoughItsReleaseIsSentAfterTheLease() {
        Lease lease = scripted.granted(100, TTL);
        scripted.timer.tick(TTL.dividedBy(3));
        Sent renewal = scripted.next("renew");
        CompletableFuture<Void> closed = lease.closeAfter(Duration.ZERO);
        scripted.timer.setWallForwardBy(TTL);
        renewal.fail("cut");
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        assertThat(closed).isCompleted();
    }
}
