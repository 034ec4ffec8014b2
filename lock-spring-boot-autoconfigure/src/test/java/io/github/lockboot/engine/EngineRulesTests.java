package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The rules of the engine, each with time, answers and pushes in the order that would break it. */
class EngineRulesTests {

    private static final Duration LONG = Duration.ofMinutes(10);

    private ScriptedEngine scripted = new ScriptedEngine(64);

    private static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1_000));
    }

    private Sent queuedAt(long position, long grantNumber) {
        Sent acquire = scripted.next("acquire");
        acquire.answer(new Reply.Queued(position, grantNumber, 30_000));
        return acquire;
    }

    @Nested
    class Truth {

        /**
         * Redis may have renewed it although the answer failed: nobody would have the lock until that lease is over.
         */
        @Test
        void aLostLockWhoseRenewalFailedIsReleasedInRedisInCaseThatHasRenewedIt() {
            CompletableFuture<Lease> lost = scripted.acquire(Duration.ofMinutes(1));
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            scripted.timer.tick(TTL.dividedBy(3));
            Sent renewal = scripted.next("renew");
            renewal.fail("not acknowledged");
            scripted.timer.stopFor(TTL);
            scripted.timer.tick(Duration.ofMillis(1));
            assertThat(lost.join().isValid()).isFalse();
            Sent release = scripted.next("unlock");
            assertThat(release.id()).isEqualTo(renewal.id());
        }

        @Test
        void aLeaseCountsFromBeforeItWasAskedFor() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = scripted.next("acquire");
            scripted.timer.stopFor(seconds(20));
            acquire.answer(new Reply.Granted(100, 30_000, 0));
            assertThat(future.join().remainingLease()).isEqualTo(Duration.ofMillis(30_000 - 20_000 - 300 - 2));
        }

        @Test
        void aPushedLeaseCountsFromTheQuestionThatQueuedIt() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.timer.tick(seconds(1));
            scripted.push(acquire.id(), 101, seconds(6), 0);
            assertThat(future.join().remainingLease()).isEqualTo(Duration.ofMillis(6_000 - 1_000 - 60 - 2));
            assertThat(future.join().fencingToken()).isEqualTo(101);
        }

        @Test
        void aPushThatIsNotNewerThanTheAnswerIsIgnored() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.push(acquire.id(), 100, seconds(6), 0);
            assertThat(future).isNotDone();
            scripted.nothingIsSent();
        }

        @Test
        void aPushThatOvertakesTheAnswerIsJudgedWhenTheAnswerComes() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = scripted.next("acquire");
            scripted.push(acquire.id(), 101, seconds(6), 0);
            assertThat(future).isNotDone();
            acquire.answer(new Reply.Queued(1, 100, 30_000));
            assertThat(future.join().fencingToken()).isEqualTo(101);
        }

        /** Redis has lost the lock that it pushed, as a master that starts anew does. */
        @Test
        void anAnswerWithANewerGrantThanThePushedOneEndsTheHoldAndTheGrant() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.timer.tick(seconds(2));
            Sent again = scripted.next("acquire");
            scripted.push(acquire.id(), 200, seconds(6), 0);
            assertThat(future.join().isValid()).isTrue();
            again.answer(new Reply.Granted(300, 30_000, 0));
            assertThat(future.join().isValid()).isFalse();
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.id()).isEqualTo(acquire.id());
            assertThat(unlock.argument(2)).isEqualTo("300");
        }

        @Test
        void anAnswerOlderThanThePushThatGrantedItIsIgnored() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.timer.tick(seconds(2));
            Sent again = scripted.next("acquire");
            scripted.push(acquire.id(), 300, seconds(6), 0);
            again.answer(new Reply.Granted(200, 30_000, 0));
            assertThat(future.join().fencingToken()).isEqualTo(300);
            assertThat(future.join().remainingLease()).isLessThan(seconds(6));
            scripted.next("renew");
            scripted.nothingIsSent();
        }

        @Test
        void aPushWithLittleOfItsLeaseLeftMakesItAskInstead() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.timer.tick(seconds(1.9));
            scripted.push(acquire.id(), 101, seconds(2), 0);
            assertThat(future).isNotDone();
            Sent again = scripted.next("acquire");
            assertThat(again.id()).isEqualTo(acquire.id());
            again.answer(new Reply.Granted(101, 30_000, 0));
            assertThat(future.join().isValid()).isTrue();
        }

        @Test
        void withoutRenewalAClaimLeaseIsExtendedBeforeItIsUsed() {
            CompletableFuture<Lease> future = scripted.acquire(LONG, TTL, false);
            Sent acquire = queuedAt(1, 100);
            scripted.push(acquire.id(), 101, seconds(6), 0);
            assertThat(future).isNotDone();
            scripted.next("acquire").answer(new Reply.Granted(101, 30_000, 0));
            assertThat(future.join().remainingLease()).isGreaterThan(seconds(29));
        }

        /** The push has the whole ttl, but it would count from the question, and no renewal would make up for that. */
        @Test
        void withoutRenewalALeaseIsWholeAlsoIfItIsNoLongerThanAClaimLease() {
            CompletableFuture<Lease> future = scripted.acquire(LONG, seconds(3), false);
            Sent acquire = queuedAt(1, 100);
            scripted.timer.tick(seconds(0.9));
            scripted.push(acquire.id(), 101, seconds(3), 0);
            assertThat(future).isNotDone();
            scripted.next("acquire").answer(new Reply.Granted(101, 3_000, 0));
            assertThat(future.join().remainingLease()).isGreaterThan(seconds(2.9));
        }

        /** The monotonic clock has stood still, and only the time of day tells. */
        @Test
        void afterASleepBeyondItsLeaseAHoldIsNotBelievedIn() {
            Lease lease = scripted.granted(100, TTL);
            scripted.timer.setWallForwardBy(seconds(29.848));
            assertThat(lease.isValid()).isTrue();
            scripted.timer.setWallForwardBy(seconds(0.001));
            assertThat(lease.isValid()).isFalse();
            assertThat(lease.remainingLease()).isZero();
        }

        /** A hold that is not valid any more, and is released before its deadline, has not been lost. */
        @Test
        void aTimeOfDayThatIsAheadByMillisecondsDoesNotMakeAHoldInvalidBeforeItIsLost() {
            Lease lease = scripted.granted(100, Duration.ofSeconds(1));
            scripted.timer.setWallForwardBy(Duration.ofMillis(5));
            scripted.timer.stopFor(Duration.ofMillis(987));
            assertThat(lease.isValid()).isTrue();
            scripted.timer.stopFor(Duration.ofMillis(1));
            assertThat(lease.isValid()).isFalse();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
        }

        /** Nothing has happened to the hold, and nobody is told that it was lost. */
        @Test
        void aTimeOfDayThatIsSetForwardCostsOneRenewalAndNoHold() {
            Lease lease = scripted.granted(100, TTL);
            AtomicInteger losses = new AtomicInteger();
            lease.onLost(losses::incrementAndGet);
            scripted.timer.setWallForwardBy(Duration.ofDays(1));
            assertThat(lease.isValid()).isFalse();
            scripted.timer.tick(seconds(1));
            scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
            assertThat(lease.isValid()).isTrue();
            scripted.timer.tick(seconds(9));
            scripted.nothingIsSent();
            assertThat(losses).hasValue(0);
            scripted.engine.name(LockKind.EXCLUSIVE, ScriptedEngine.NAME).release(Hold.of(lease), null);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }

        @Test
        void aHoldThatAnotherGotDuringASleepIsLostAtOnce() {
            Lease lease = scripted.granted(100, TTL);
            AtomicInteger losses = new AtomicInteger();
            lease.onLost(losses::incrementAndGet);
            scripted.timer.setWallForwardBy(TTL);
            scripted.timer.tick(seconds(1));
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
            assertThat(losses).hasValue(1);
        }

        /** Redis may run it after the loss was found here, and then the lock would be held for a ttl by nobody. */
        @Test
        void aRenewalWithoutAnAnswerIsSettledAfterALoss() {
            Lease lease = scripted.granted(100, TTL);
            scripted.timer.tick(seconds(10));
            Sent renewal = scripted.next("renew");
            scripted.timer.stopFor(seconds(20));
            scripted.timer.tick(seconds(1));
            assertThat(lease.isValid()).isFalse();
            scripted.nothingIsSent();
            renewal.fail("timed out");
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.id()).isEqualTo(renewal.id());
            unlock.answer(Reply.Plain.NOT_HOLDER);
            assertThat(scripted.engine.inUse()).isZero();
        }

        /** The lease ended while the release was on its way, and the monotonic clock has stood still. */
        @Test
        void aReleaseThatComesLateAfterASleepIsNoLoss() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Hold.Release> released = scripted.engine
                    .name(LockKind.EXCLUSIVE, ScriptedEngine.NAME)
                    .release(Hold.of(lease), null);
            scripted.timer.setWallForwardBy(TTL);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(released).isCompletedWithValue(Hold.Release.RELEASED);
        }

        /** The process slept while its thread worked, and another had the lock meanwhile. */
        @Test
        void aReleaseAfterASleepInWhichAnotherHadTheLockIsALoss() {
            Lease lease = scripted.granted(100, TTL);
            scripted.timer.setWallForwardBy(TTL);
            CompletableFuture<Hold.Release> released = scripted.engine
                    .name(LockKind.EXCLUSIVE, ScriptedEngine.NAME)
                    .release(Hold.of(lease), null);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(released).isCompletedWithValue(Hold.Release.LOST);
        }

        @ParameterizedTest
        @ValueSource(doubles = {0, 0.5})
        void aReleaseFailsWithTheLossItself(double delay) {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Throwable> failure =
                    lease.closeAfter(seconds(delay)).handle((none, thrown) -> thrown);
            scripted.next(delay > 0 ? "keep" : "unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(failure.join()).isInstanceOf(LockLostException.class);
        }

        @Test
        void aReleaseComesAlsoIfNobodyWaitsForIt() {
            Lease lease = scripted.granted(100, TTL);
            assertThat(lease.closeAfter(seconds(0.5)).cancel(true)).isTrue();
            scripted.next("keep").answer(Reply.Plain.KEPT);
            assertThat(lease.isValid()).isFalse();
        }

        @Test
        void aDrainEndsWithTheRegistry() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Void> drained = scripted.engine.drain(TTL.toNanos());
            assertThat(drained).isNotDone();
            scripted.engine.close();
            assertThat(drained).isDone();
            assertThat(lease.isValid()).isTrue();
        }

        @Test
        void aTimeOfDayThatIsSetBackChangesNothing() {
            Lease lease = scripted.granted(100, TTL);
            scripted.timer.setWallForwardBy(Duration.ofDays(-1));
            assertThat(lease.isValid()).isTrue();
            scripted.timer.tick(seconds(9.4));
            scripted.nothingIsSent();
            scripted.timer.stopFor(TTL);
            assertThat(lease.isValid()).isFalse();
        }

        @Test
        void aGrantThatWasSleptAwayIsNotTaken() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            scripted.holdThreads();
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            scripted.timer.setWallForwardBy(TTL);
            scripted.resumeThreads();
            assertThat(future).isNotDone();
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            scripted.next("acquire").answer(new Reply.Granted(200, TTL.toMillis(), 0));
            assertThat(future.join().isValid()).isTrue();
        }

        @Test
        void aHoldThatWasSleptAwayIsNotPassedOn() {
            Lease lease = scripted.granted(100, TTL);
            scripted.acquire(LONG);
            scripted.timer.setWallForwardBy(TTL);
            scripted.engine.name(LockKind.EXCLUSIVE, ScriptedEngine.NAME).release(Hold.of(lease), null);
            assertThat(scripted.next("unlock").argument(3)).as("the next id").isNotEmpty();
        }

        @Test
        void aGrantThatIsFoundByAskingHasTheChannelVerified() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            queuedAt(1, 100);
            scripted.timer.tick(seconds(2));
            scripted.next("acquire").answer(new Reply.Granted(101, 30_000, 0));
            assertThat(future).isCompleted();
            assertThat(scripted.channelVerified).isEqualTo(1);
        }

        @Test
        void aGrantThatWasToldOrNeedNotBeToldDoesNotHaveTheChannelVerified() {
            scripted.granted(100, TTL).closeAfter(Duration.ZERO);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            CompletableFuture<Lease> future = scripted.acquire(LONG, TTL, false);
            Sent acquire = queuedAt(1, 100);
            scripted.push(acquire.id(), 101, seconds(6), 0);
            scripted.next("acquire").answer(new Reply.Granted(101, 30_000, 0));
            assertThat(future).isCompleted();
            assertThat(scripted.channelVerified).isZero();
        }

        @Test
        void aHoldIsOverAtItsDeadlineEvenIfNothingHasNoticed() {
            Lease lease = scripted.granted(100, TTL);
            scripted.timer.tick(seconds(29.697));
            assertThat(lease.isValid()).isTrue();
            scripted.timer.tick(seconds(0.001));
            assertThat(lease.isValid()).isFalse();
        }

        @Test
        void aHoldHasEndedBeforeRedisIsAskedToReleaseIt() {
            Lease lease = scripted.granted(100, TTL);
            lease.closeAfter(Duration.ZERO);
            scripted.next("unlock"); // not answered
            assertThat(lease.isValid()).isFalse();
        }
    }

    @Nested
    class Renewing {

        @Test
        void aLeaseIsRenewedAtAThirdAndAfterAFailureEveryTenth() {
            Lease lease = scripted.granted(100, TTL);
            scripted.timer.tick(seconds(9.4));
            scripted.nothingIsSent();
            scripted.timer.tick(seconds(0.7));
            Sent first = scripted.next("renew");
            assertThat(first.argument(2)).isEqualTo("100");
            first.fail("cut");
            scripted.timer.tick(seconds(2.8));
            scripted.nothingIsSent();
            scripted.timer.tick(seconds(0.2));
            scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
            assertThat(lease.remainingLease()).isGreaterThan(seconds(29));
            scripted.timer.tick(seconds(9));
            scripted.nothingIsSent();
        }

        @Test
        void renewalsDueAtAboutTheSameTimeAreSentTogetherAndNoneWaitsForAnother() {
            for (int i = 0; i < 100; i++) {
                scripted.acquireNamed("idle-" + i, LONG);
                scripted.next("acquire").answer(new Reply.Granted(100 + i, 30_000, 0));
                scripted.timer.tick(Duration.ofMillis(100));
            }
            int renewals = 0;
            int rounds = 0;
            for (int millis = 0; millis < 10_000; millis += 10) {
                int sent = scripted.sentCount();
                for (int i = 0; i < sent; i++) {
                    scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
                }
                renewals += sent;
                rounds += sent > 0 ? 1 : 0;
                scripted.timer.tick(Duration.ofMillis(10));
            }
            assertThat(renewals).isBetween(95, 110);
            assertThat(rounds).isLessThanOrEqualTo(25);
        }

        @Test
        void whatCannotBeRenewedIsLostAtTheDeadlineOnceAndNothingIsDeleted() {
            Lease lease = scripted.granted(100, TTL);
            AtomicInteger told = new AtomicInteger();
            lease.onLost(told::incrementAndGet);
            for (int i = 0; i < 6; i++) {
                scripted.timer.tick(seconds(i == 0 ? 10 : 3));
                scripted.next("renew").fail("cut");
                assertThat(told).hasValue(0);
            }
            scripted.timer.tick(seconds(10));
            while (told.get() == 0) {
                scripted.next("renew").fail("cut");
                scripted.timer.tick(seconds(1));
            }
            assertThat(told).hasValue(1);
            assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
            while (scripted.sentCount() > 0) { // the id is released, in case a renewal has run
                scripted.next().answer(Reply.Plain.NOT_HOLDER);
            }
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void redisSayingNotOwnerIsALossAtOnce() {
            Lease lease = scripted.granted(100, TTL);
            AtomicInteger told = new AtomicInteger();
            lease.onLost(told::incrementAndGet);
            scripted.timer.tick(seconds(10));
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
            assertThat(lease.isValid()).isFalse();
            assertThat(told).hasValue(1);
            scripted.nothingIsSent();
        }

        @Test
        void aLateAnswerDoesNotReviveALostHold() {
            Lease lease = scripted.granted(100, TTL);
            scripted.timer.tick(seconds(10));
            Sent renew = scripted.next("renew");
            scripted.timer.tick(seconds(25));
            assertThat(lease.isValid()).isFalse();
            renew.answer(new Reply.Renewed(30_000, 0));
            assertThat(lease.isValid()).isFalse();
        }
    }

    @Nested
    class Ending {

        @Test
        void aReleaseThatFindsItselfNotOwnerAfterAReconnectIsItsOwnSecondCopy() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);
            Actor.await("it is sent", () -> scripted.sentCount() > 0);
            scripted.epoch++;
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            closing.join();
        }

        @Test
        void aReleaseThatFindsItselfNotOwnerOtherwiseIsALoss() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);
            Actor.await("it is sent", () -> scripted.sentCount() > 0);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(closing.handle((none, failure) -> failure.getCause()).join())
                    .isInstanceOf(LockLostException.class);
        }

        @Test
        void aReleaseThatReachedRedisAfterTheDeadlineIsNoLoss() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Void> closing = lease.closeAfter(Duration.ZERO);
            scripted.timer.tick(TTL);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(closing).isCompleted();
        }

        @ParameterizedTest
        @ValueSource(longs = {2, 60})
        void aReleaseWithoutAnswerIsRepeatedEvery2SecondsAtLeast(long retryInterval) {
            scripted = new ScriptedEngine(seconds(retryInterval), 64);
            scripted.granted(100, TTL).closeAfter(Duration.ZERO);
            for (Duration outage = Duration.ZERO;
                    outage.compareTo(Duration.ofMinutes(5)) < 0;
                    outage = outage.plus(seconds(2))) {
                scripted.next("unlock").fail("no answer");
                scripted.timer.tick(seconds(2));
                while (scripted.sentCount() > 1) {
                    scripted.next("unlock").fail("no answer");
                }
            }
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            scripted.timer.tick(TTL);
            scripted.nothingIsSent();
        }

        /** An id has one command under way. */
        @Test
        void aReleaseWaitsForTheAnswerToThePollBeforeIt() {
            CompletableFuture<Lease> first = scripted.acquire(LONG);
            CompletableFuture<Lease> second = scripted.acquire(LONG, Duration.ofSeconds(20), true);
            Sent acquire = queuedAt(1, 100);
            scripted.timer.tick(seconds(2));
            Sent question = scripted.next("acquire");
            scripted.push(acquire.id(), 300, seconds(6), 0);
            first.join().closeAfter(Duration.ZERO);
            assertThat(first.join().isValid()).isFalse();
            Sent next = scripted.next("acquire");
            scripted.nothingIsSent();
            question.fail("timed out");
            Sent release = scripted.next("unlock");
            assertThat(release.id()).isEqualTo(acquire.id());
            release.answer(Reply.Plain.GRANTED_NEXT);
            next.answer(new Reply.Granted(301, 20_000, 0));
            assertThat(second.join().fencingToken()).isEqualTo(301);
            scripted.nothingIsSent();
        }

        @Test
        void aTryThatIsGrantedTooLateIsAnOutageAndDoesNotTryAgain() {
            CompletableFuture<Lease> future = scripted.acquire(Duration.ZERO);
            Sent acquire = scripted.next("acquire");
            scripted.timer.stopFor(TTL);
            acquire.answer(new Reply.Granted(100, TTL.toMillis(), 0));
            assertThat(future.handle((lease, failure) -> failure).join()).isInstanceOf(LockUnavailableException.class);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            scripted.nothingIsSent();
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void aReleaseOfUnknownOutcomeIsRepeatedUntilItIsAnswered() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);
            Actor.await("it is sent", () -> scripted.sentCount() > 0);
            Sent unlock = scripted.next("unlock");
            unlock.fail("timed out");
            closing.join();
            for (int i = 0; i < 5; i++) {
                Sent again = scripted.next("unlock");
                assertThat(again.id()).isEqualTo(unlock.id());
                again.fail("timed out");
                scripted.timer.tick(seconds(2));
            }
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            scripted.timer.tick(seconds(60));
            scripted.nothingIsSent();
        }

        @Test
        void theLastWaiterThatLeavesTakesTheIdOutOfTheQueue() {
            CompletableFuture<Lease> future = scripted.acquire(seconds(5));
            Sent acquire = queuedAt(1, 100);
            for (int polls = 0; polls < 2; polls++) {
                scripted.timer.tick(seconds(2));
                scripted.next("acquire").answer(new Reply.Queued(1, 100, 30_000));
            }
            scripted.timer.tick(seconds(1));
            assertThat(future).as("before the answer to cancel").isDone();
            assertThat(future.handle((lease, failure) -> failure).join()).isInstanceOf(LockNotAcquiredException.class);
            Sent cancel = scripted.next("unlock");
            assertThat(cancel.id()).isEqualTo(acquire.id());
            cancel.answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void aCancelWaitsForTheAnswerToTheQuestionBeforeIt() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = scripted.next("acquire");
            future.cancel(false);
            scripted.nothingIsSent();
            acquire.answer(new Reply.Granted(100, 30_000, 0));
            Sent cancel = scripted.next("unlock");
            assertThat(cancel.id()).isEqualTo(acquire.id());
            cancel.answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void aGrantToAnIdThatNobodyKnowsIsReleasedWithTheNewestToken() {
            Lease lease = scripted.granted(5_000, TTL);
            CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);
            Actor.await("it is sent", () -> scripted.sentCount() > 0);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            closing.join();
            scripted.push(ScriptedEngine.SESSION + "-77", 4_000, seconds(6), 0);
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.id()).isEqualTo(ScriptedEngine.SESSION + "-77");
            assertThat(unlock.argument(2)).isEqualTo("5000");
        }

        @Test
        void aPushThatNoScriptWroteIsIgnored() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.engine.onPush(new Push(acquire.id(), 101, 6_000, 0, 101, "lock:another"));
            scripted.engine.onPush(
                    new Push(acquire.id(), 101, TTL.toMillis() + 1, 0, 101, "lock:" + ScriptedEngine.NAME));
            assertThat(future).isNotDone();
            scripted.nothingIsSent();
        }

        @Test
        void aGrantToAnotherSessionsIdIsIgnored() {
            scripted.push("stranger-1", 4_000, seconds(6), 0);
            scripted.nothingIsSent();
        }
    }

    @Nested
    class Outages {

        @Test
        void aFirstQuestionWithoutAnswerFailsWhoeverWaits() {
            CompletableFuture<Lease> first = scripted.acquire(LONG);
            CompletableFuture<Lease> second = scripted.acquire(LONG);
            scripted.next("acquire").fail("timed out");
            for (CompletableFuture<Lease> each : List.of(first, second)) {
                assertThat(each.handle((lease, failure) -> failure).join())
                        .isInstanceOf(LockUnavailableException.class);
            }
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void aRefusalThatProvesNothingRanIsRetriedUnderTheSameId() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = scripted.next("acquire");
            acquire.fail("LOADING Redis is loading the dataset in memory");
            scripted.timer.tick(seconds(0.02));
            Sent again = scripted.next("acquire");
            assertThat(again.id()).isEqualTo(acquire.id());
            again.answer(new Reply.Granted(100, 30_000, 0));
            assertThat(future.join().isValid()).isTrue();
        }

        @Test
        void aTryThatIsRefusedAndThenNotSentIsCancelledToo() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent refused = scripted.next("acquire");
            refused.fail("LOADING Redis is loading the dataset in memory");
            scripted.timer.tick(seconds(0.1));
            scripted.next("acquire").reply().completeExceptionally(new NotConnectedException("no connection", null));
            assertThat(future).isCompletedExceptionally();
            assertThat(scripted.next("unlock").id()).isEqualTo(refused.id());
        }

        @Test
        void aTryThatIsRefusedIsCancelledSinceAnEarlierCopyMayHaveTakenTheLock() {
            CompletableFuture<Lease> once = scripted.acquire(Duration.ZERO);
            scripted.next("acquire").fail("READONLY You can't write against a read only replica.");
            assertThat(once.handle((lease, failure) -> failure).join()).isInstanceOf(LockUnavailableException.class);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void whoWaitsBehindATryThatIsRefusedGoesOn() {
            CompletableFuture<Lease> once = scripted.acquire(Duration.ZERO);
            CompletableFuture<Lease> patient = scripted.acquire(LONG);
            Sent acquire = scripted.next("acquire");
            acquire.fail("LOADING Redis is loading the dataset in memory");
            assertThat(once).isCompletedExceptionally();
            assertThat(patient).isNotDone();
            scripted.timer.tick(seconds(0.02));
            Sent again = scripted.next("acquire");
            assertThat(again.id()).isEqualTo(acquire.id());
            again.answer(new Reply.Granted(100, 30_000, 0));
            assertThat(patient.join().isValid()).isTrue();
        }

        @Test
        void whoIsRefusedGivesUpAtItsDeadlineAndNotAtTheNextPoll() {
            CompletableFuture<Lease> future = scripted.acquire(seconds(1));
            for (int pause : new int[] {0, 20, 40, 80, 160, 320}) {
                scripted.timer.tick(Duration.ofMillis(pause));
                scripted.next("acquire").fail("LOADING Redis is loading the dataset in memory");
            }
            assertThat(future).isNotDone();
            scripted.timer.tick(Duration.ofMillis(380));
            Throwable failure = future.handle((lease, thrown) -> thrown).getNow(null);
            assertThat(failure).isInstanceOf(LockUnavailableException.class);
            assertThat(failure.getCause()).hasMessageStartingWith("LOADING");
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void whoIsQueuedEnduresFailedPollsUntilItsDeadline() {
            CompletableFuture<Lease> future = scripted.acquire(seconds(20));
            queuedAt(1, 100);
            List<Sent> polls = new ArrayList<>();
            scripted.timer.tick(seconds(2));
            for (int i = 0; i < 5; i++) {
                Sent poll = scripted.next("acquire");
                polls.add(poll);
                poll.fail("timed out");
                assertThat(future).isNotDone();
                scripted.timer.tick(seconds(2));
            }
            scripted.next("acquire").answer(new Reply.Granted(101, 30_000, 0));
            assertThat(future.join().isValid()).isTrue();
        }

        @Test
        void aWaitWithALimitEnduresAnOutageThatIsLongerThanALease() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            queuedAt(1, 100);
            for (int i = 0; i < 20; i++) {
                scripted.timer.tick(seconds(2));
                scripted.next("acquire").fail("timed out");
            }
            assertThat(future).isNotDone();
            scripted.timer.tick(seconds(2));
            scripted.next("acquire").answer(new Reply.Granted(101, 30_000, 0));
            assertThat(future.join().isValid()).isTrue();
        }

        private Throwable failureOf(CompletableFuture<Lease> future) {
            return future.handle((lease, failure) -> failure).getNow(null);
        }

        @Test
        void whoTriesOnceBehindAQuestionWithoutAnswerIsToldOfTheOutage() {
            CompletableFuture<Lease> first = scripted.acquire(LONG);
            CompletableFuture<Lease> once = scripted.acquire(Duration.ZERO);
            assertThat(once).isNotDone();
            scripted.next("acquire").fail("timed out");
            assertThat(failureOf(first)).isInstanceOf(LockUnavailableException.class);
            assertThat(failureOf(once)).isInstanceOf(LockUnavailableException.class);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            scripted.nothingIsSent();
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void whoTriesOnceBehindAQuestionIsRefusedWhenAnotherHoldsIt() {
            scripted.acquire(LONG);
            CompletableFuture<Lease> once = scripted.acquire(Duration.ZERO);
            queuedAt(1, 100);
            assertThat(failureOf(once)).isInstanceOf(LockNotAcquiredException.class);
            scripted.nothingIsSent();
            assertThat(failureOf(scripted.acquire(Duration.ZERO))).isInstanceOf(LockNotAcquiredException.class);
            scripted.nothingIsSent();
        }

        @Test
        void whoTriesOnceBehindAQuestionIsRefusedWhenWhoAskedGetsIt() {
            CompletableFuture<Lease> first = scripted.acquire(LONG);
            CompletableFuture<Lease> once = scripted.acquire(Duration.ZERO);
            scripted.next("acquire").answer(new Reply.Granted(100, 30_000, 0));
            assertThat(first.join().isValid()).isTrue();
            assertThat(failureOf(once)).isInstanceOf(LockNotAcquiredException.class);
            scripted.nothingIsSent();
        }

        /** The refusal is decided with the grant, which the other caller has not claimed by then. */
        @Test
        void whoIsRefusedBeforeTheHolderHasClaimedTheLockIsToldWhatIsLeftOfTheLease() {
            CompletableFuture<Lease> first = scripted.acquire(LONG);
            CompletableFuture<Lease> once = scripted.acquire(Duration.ZERO);
            scripted.next("acquire").answer(new Reply.Granted(100, 30_000, 0));
            assertThat(failureOf(once))
                    .isInstanceOfSatisfying(
                            LockNotAcquiredException.class,
                            refusal -> assertThat(refusal.getRetryAfter())
                                    .isEqualTo(first.join().remainingLease())
                                    .isPositive());
        }

        @Test
        void aRequestThatIsQueuedAfterItsCallerHasLeftLeavesTheQueue() {
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = scripted.next("acquire");
            future.cancel(false);
            acquire.answer(new Reply.Queued(1, 200, 30_000));
            assertThat(scripted.next("unlock").id()).isEqualTo(acquire.id());
            scripted.nothingIsSent();
        }

        @Test
        void aRequestThatIsRefusedAfterItsCallerHasLeftNeedsNoRelease() {
            CompletableFuture<Lease> future = scripted.acquire(Duration.ZERO);
            Sent acquire = scripted.next("acquire");
            future.cancel(false);
            acquire.answer(new Reply.Busy(30_000, null));
            scripted.nothingIsSent();
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void whoTriesOnceBehindOneThatLeavesGetsTheFreeLock() {
            CompletableFuture<Lease> first = scripted.acquire(LONG);
            CompletableFuture<Lease> once = scripted.acquire(Duration.ZERO);
            first.cancel(false);
            scripted.next("acquire").answer(new Reply.Granted(100, 30_000, 0));
            assertThat(once.join().isValid()).isTrue();
            scripted.nothingIsSent();
        }

        @Test
        void whoTriesOnceBehindWaitersWhosePollsFailIsToldOfTheOutage() {
            scripted.acquire(LONG);
            queuedAt(1, 100);
            scripted.timer.tick(seconds(2));
            Sent poll = scripted.next("acquire");
            poll.fail("timed out");
            assertThat(failureOf(scripted.acquire(Duration.ZERO))).isInstanceOf(LockUnavailableException.class);
            scripted.timer.tick(seconds(0.02));
            CompletableFuture<Lease> duringThePoll = scripted.acquire(Duration.ZERO);
            assertThat(duringThePoll).isNotDone();
            queuedAt(1, 100);
            assertThat(failureOf(duringThePoll)).isInstanceOf(LockNotAcquiredException.class);
        }

        @Test
        void whoseTimeEndsWhileThePollsFailIsToldOfTheOutage() {
            scripted.acquire(LONG);
            CompletableFuture<Lease> timed = scripted.acquire(seconds(3));
            queuedAt(1, 100);
            scripted.timer.tick(seconds(2));
            scripted.next("acquire").fail("timed out");
            scripted.timer.tick(seconds(1));
            assertThat(failureOf(timed)).isInstanceOf(LockUnavailableException.class);
        }

        @Test
        void aWaitIsNotEndedBeforeRedisHasAnsweredOnce() {
            CompletableFuture<Lease> future = scripted.acquire(seconds(0.1));
            Sent acquire = scripted.next("acquire");
            scripted.timer.tick(seconds(1));
            assertThat(future).isNotDone();
            acquire.answer(new Reply.Queued(1, 100, 30_000));
            assertThat(future.handle((lease, failure) -> failure).join()).isInstanceOf(LockNotAcquiredException.class);
            scripted.next("unlock");
        }
    }

    @Nested
    class Polling {

        @Test
        void onlyTheFirstPollComesEarlyByChance() {
            scripted.chance = 0.5;
            scripted.acquire(LONG);
            queuedAt(1, 100);
            scripted.timer.tick(seconds(1.499));
            scripted.nothingIsSent();
            scripted.timer.tick(seconds(0.001));
            queuedAt(1, 100);
            scripted.timer.tick(seconds(1.999));
            scripted.nothingIsSent();
            scripted.timer.tick(seconds(0.001));
            queuedAt(1, 100);
        }

        @Test
        void aQuestionAfterAMessageTakesThePlaceOfTheNextPoll() {
            scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.timer.tick(seconds(1));
            scripted.push(acquire.id(), 0, Duration.ZERO, 1);
            queuedAt(1, 100);
            scripted.timer.tick(seconds(1.999));
            scripted.nothingIsSent();
            scripted.timer.tick(seconds(0.001));
            queuedAt(1, 100);
        }

        @Test
        void aQuestionIsNotGivenUpForLostWhileTheFirstConnectionIsMade() {
            scripted.connecting = true;
            CompletableFuture<Lease> future = scripted.acquire(LONG);
            Sent acquire = scripted.next("acquire");
            scripted.timer.tick(seconds(15));
            scripted.connecting = false;
            scripted.timer.tick(seconds(3));
            assertThat(future).isNotDone();
            scripted.nothingIsSent();
            acquire.answer(new Reply.Granted(100, 30_000, 0));
            assertThat(future.join().isValid()).isTrue();
        }

        @Test
        void whoCannotBeNotifiedAsksSoonThenRarely() {
            scripted.channelLive = false;
            scripted.acquire(LONG);
            List<Long> pauses = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                queuedAt(2, 100);
                pauses.add(pauseUntilNextPoll());
            }
            assertThat(pauses).containsExactly(20L, 40L, 80L, 160L, 320L, 640L, 1_280L, 2_000L, 2_000L);
        }

        @Test
        void aStrangersKeyIsPolledForInTheSameWay() {
            scripted.acquire(LONG);
            List<Long> pauses = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                scripted.next("acquire").answer(new Reply.Busy(0));
                pauses.add(pauseUntilNextPoll());
            }
            assertThat(pauses).containsExactly(20L, 40L, 80L);
        }

        @Test
        void theFirstInTheQueueAsksWhenTheLeaseBeforeItEnds() {
            scripted.acquire(LONG);
            scripted.next("acquire").answer(new Reply.Queued(1, 100, 700));
            assertThat(pauseUntilNextPoll()).isEqualTo(701);
        }

        @Test
        void whoIsFurtherBackAsksThenTooForTheFirstMayHaveDied() {
            scripted.acquire(LONG);
            scripted.next("acquire").answer(new Reply.Queued(61, 100, 700));
            assertThat(pauseUntilNextPoll()).isEqualTo(761);
        }

        @Test
        void aLongRetryIntervalKeepsNoDeadWaiterLongerInTheQueue() {
            Duration timeout = seconds(2);
            var settings = new EngineContext.Settings(Duration.ofMinutes(1), Duration.ofMillis(20), timeout, 64);
            assertThat(settings.patience())
                    .as("three times as often as it asks")
                    .isEqualTo(seconds(6));
        }

        @Test
        void aNewSubscriptionMakesAllWhoWaitAskAtOnce() {
            scripted.acquire(LONG);
            Sent acquire = queuedAt(2, 100);
            scripted.engine.onSubscribed();
            assertThat(scripted.next("acquire").id()).isEqualTo(acquire.id());
        }

        private long pauseUntilNextPoll() {
            long before = scripted.timer.nanoTime();
            long sentBefore = scripted.sentCount();
            while (scripted.sentCount() == sentBefore) {
                scripted.timer.tick(Duration.ofMillis(1));
            }
            return Duration.ofNanos(scripted.timer.nanoTime() - before).toMillis();
        }
    }

    @Nested
    class Turns {

        private final List<CompletableFuture<Lease>> waiting = new ArrayList<>();

        private Lease holderWithWaiters(int waiters) {
            Lease holder = scripted.granted(100, TTL);
            for (int i = 0; i < waiters; i++) {
                waiting.add(scripted.acquire(LONG));
            }
            return holder;
        }

        @Test
        void theLockIsPassedOnWithoutCommandsAndEachHoldHasItsToken() {
            Lease lease = holderWithWaiters(3);
            for (int i = 0; i < 3; i++) {
                lease.close();
                lease = waiting.get(i).join();
                assertThat(lease.fencingToken()).isEqualTo(101 + i);
            }
            scripted.nothingIsSent();
        }

        @Test
        void theNextHoldTakesOverTheDeadline() {
            Lease lease = holderWithWaiters(1);
            scripted.timer.tick(seconds(5));
            lease.close();
            assertThat(waiting.get(0).join().remainingLease()).isEqualTo(Duration.ofMillis(30_000 - 5_000 - 300 - 2));
        }

        @Test
        void onceOthersWaitTheTurnEndsAfterThoseWhoWaitedThen() {
            Lease lease = holderWithWaiters(2);
            scripted.push(ScriptedEngine.SESSION + "-1", 0, Duration.ZERO, 1);
            waiting.add(scripted.acquire(LONG));
            scripted.push(ScriptedEngine.SESSION + "-1", 0, Duration.ZERO, 2); // does not refill
            for (int i = 0; i < 2; i++) {
                lease.close();
                lease = waiting.get(i).join();
            }
            scripted.nothingIsSent();
            endTurn(lease);
            assertThat(waiting.get(2)).isNotDone();
        }

        /**
         * A lock that is kept for a shorter time than its lease has a hint for the first waiter, who may be the only
         * one.
         */
        @Test
        void aHintBehindWhichNobodyWaitsEndsNoTurn() {
            CompletableFuture<Lease> first = scripted.acquire(LONG);
            Sent acquire = queuedAt(1, 100);
            scripted.push(acquire.id(), 0, Duration.ZERO, 0);
            queuedAt(1, 100);
            scripted.push(acquire.id(), 101, seconds(6), 0);
            CompletableFuture<Lease> later = scripted.acquire(LONG);
            first.join().close();
            assertThat(later).isCompleted();
            scripted.nothingIsSent();
        }

        @Test
        void withoutTheChannelATurnIsAsShortAsIfOthersWaited() {
            scripted.channelLive = false;
            endTurn(holderWithWaiters(1));
        }

        @Test
        void theLimitEndsTheTurnEarlier() {
            scripted = new ScriptedEngine(1);
            Lease lease = holderWithWaiters(3);
            scripted.push(ScriptedEngine.SESSION + "-1", 0, Duration.ZERO, 1);
            lease.close();
            endTurn(waiting.get(0).join());
        }

        @Test
        void withLittleOfTheLeaseLeftTheTurnEnds() {
            Lease lease = scripted.acquire(LONG, TTL, false).getNow(null);
            assertThat(lease).isNull();
            scripted.next("acquire").answer(new Reply.Granted(100, 30_000, 0));
            CompletableFuture<Lease> next = scripted.acquire(LONG, TTL, false);
            scripted.timer.tick(seconds(20));
            Hold holder = scripted.engine
                    .name(LockKind.EXCLUSIVE, ScriptedEngine.NAME)
                    .holds()
                    .iterator()
                    .next();
            endTurn(holder);
            assertThat(next).isNotDone();
        }

        @Test
        void whoWantsOtherTermsIsServedUnderAnIdOfItsOwn() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Lease> other = scripted.acquire(LONG, seconds(10), true);
            Sent unlock = endTurn(lease);
            assertThat(unlock.argument(4)).isEqualTo("10000");
            unlock.answer(new Reply.Granted(500, 10_000, 0));
            assertThat(other.join().fencingToken()).isEqualTo(500);
        }

        /** The lock would be granted to the id of the one that has left, and the others would queue only then. */
        @Test
        void anIdThatWasAskedForOnTermsThatNobodyWantsAnyMoreGivesWayToOneOnOtherTerms() {
            CompletableFuture<Lease> gone = scripted.acquire(LONG, seconds(10), true);
            Sent acquire = queuedAt(1, 100);
            CompletableFuture<Lease> other = scripted.acquire(LONG);
            gone.cancel(false);
            assertThat(scripted.next("unlock").id()).isEqualTo(acquire.id());
            Sent again = queuedAt(1, 100);
            assertThat(again.argument(2)).isEqualTo(String.valueOf(TTL.toMillis()));
            scripted.push(again.id(), 101, seconds(6), 0);
            assertThat(other).isCompleted();
            scripted.nothingIsSent();
        }

        @Test
        void aTurnThatComesBackWithNobodyLeftIsGivenAwayAtOnce() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Lease> other = scripted.acquire(LONG, seconds(10), true);
            Sent unlock = endTurn(lease);
            other.cancel(false);
            scripted.nothingIsSent();
            unlock.answer(new Reply.Granted(500, 10_000, 0));
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            scripted.nothingIsSent();
            assertThat(scripted.engine.inUse()).isZero();
        }

        /** A copy of that unlock that runs late would queue the id again. */
        @Test
        void anIdThatAnUnlockWithoutAnAnswerWasToQueueIsCancelledOnceTheUnlockIsAnswered() {
            Lease lease = scripted.granted(100, TTL);
            CompletableFuture<Lease> other = scripted.acquire(LONG, seconds(10), true);
            Sent unlock = endTurn(lease);
            other.cancel(false);
            unlock.fail("timed out");
            Sent again = scripted.next("unlock");
            assertThat(again.id()).isEqualTo(unlock.id());
            scripted.nothingIsSent();
            again.answer(Reply.Plain.NOT_HOLDER);
            Sent cancel = scripted.next("unlock");
            assertThat(cancel.id()).isEqualTo(unlock.argument(3));
            cancel.answer(Reply.Plain.NOT_HOLDER);
            scripted.nothingIsSent();
            assertThat(scripted.engine.inUse()).isZero();
        }

        /** Ends a hold that is not passed on locally: one command releases it and queues the next. */
        private Sent endTurn(Lease lease) {
            return endTurn(Hold.of(lease));
        }

        private Sent endTurn(Hold hold) {
            scripted.engine.name(LockKind.EXCLUSIVE, ScriptedEngine.NAME).release(hold, null);
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.argument(3))
                    .startsWith(ScriptedEngine.SESSION + "-")
                    .isNotEqualTo(unlock.id());
            scripted.nothingIsSent();
            return unlock;
        }
    }
}
