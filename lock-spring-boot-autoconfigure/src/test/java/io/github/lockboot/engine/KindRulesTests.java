package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What readers, permits and a writer who becomes a reader cost, and what their holds are worth, with answers in a
 * chosen order.
 */
class KindRulesTests {

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration NONE = Duration.ZERO;
    private static final Kind TWO = Kind.limitedTo(2);

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    private static Reply.Granted owner(long grantNumber, long waiters, long token) {
        return new Reply.Granted(grantNumber, ScriptedEngine.TTL.toMillis(), waiters, token);
    }

    private Lease granted(Kind kind, long grantNumber) {
        CompletableFuture<Lease> future = scripted.acquire(kind, LONG);
        scripted.next("acquire").answer(owner(grantNumber, 0, grantNumber));
        return future.join();
    }

    private static CompletableFuture<Void> release(CompletableFuture<Lease> lease) {
        return lease.join().closeAfter(Duration.ZERO);
    }

    @Test
    void whoJoinsAReaderThatIsStuckIsRenewedAndTheStuckOneIsLostOnceItIsAlone() {
        Terms terms = Terms.shared(ScriptedEngine.TTL.toMillis(), true);
        CompletableFuture<Lease> stuck = scripted.engine.acquireAsync(new LockRequest(
                ScriptedEngine.NAME, null, terms, LONG.toNanos(), 1, true, false, LockRequest.ANY_NUMBER));
        scripted.next("acquire").answer(owner(100, 0, 100));
        scripted.timer.tick(ScriptedEngine.TTL.dividedBy(2));
        scripted.nothingIsSent();
        CompletableFuture<Lease> later = scripted.acquire(Kind.SHARED, LONG);
        scripted.timer.tick(Duration.ofSeconds(1));
        scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
        scripted.timer.tick(Duration.ofSeconds(11));
        scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
        assertThat(later.join().isValid()).isTrue();
        assertThat(stuck.join().isValid()).isTrue();
        release(later);
        scripted.timer.tick(ScriptedEngine.TTL);
        scripted.nothingIsSent();
        assertThat(stuck.join().isValid()).isFalse();
    }

    @Nested
    class Readers {

        private final CompletableFuture<Lease> first = scripted.acquire(Kind.SHARED, LONG);

        private Sent firstIs(Reply answer) {
            Sent acquire = scripted.next("acquire");
            assertThat(acquire.argument(3)).isEqualTo(Kind.SHARED.toString());
            acquire.answer(answer);
            return acquire;
        }

        @Test
        void aFurtherOneCostsNoCommandAndHasTheSameToken() {
            firstIs(owner(100, 0, 70));
            CompletableFuture<Lease> second = scripted.acquire(Kind.SHARED, LONG);
            assertThat(second).isCompleted();
            assertThat(second.join().fencingToken())
                    .isEqualTo(first.join().fencingToken())
                    .isEqualTo(70);
            scripted.nothingIsSent();
        }

        @Test
        void whoTriesOnceIsServedBesideOthers() {
            firstIs(owner(100, 0, 100));
            assertThat(scripted.acquire(Kind.SHARED, NONE)).isCompleted();
            scripted.nothingIsSent();
        }

        @Test
        void nobodyJoinsOthersOnceTheRegistryIsClosing() {
            firstIs(owner(100, 0, 100));
            scripted.engine.stopGranting();
            assertThatThrownBy(scripted.acquire(Kind.SHARED, LONG)::join)
                    .hasCauseInstanceOf(LockUnavailableException.class);
            assertThat(first.join().isValid()).isTrue();
            release(first);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        /** The clock is set, or the machine sleeps, between its grant and its claim. */
        @Test
        void whoseGrantIsDoubtedBeforeItIsClaimedAsksForItselfAndTakesNoneFromOthers() {
            firstIs(owner(100, 0, 100));
            assertThat(first.join().isValid()).isTrue();
            scripted.holdThreads();
            CompletableFuture<Lease> second = scripted.acquire(Kind.SHARED, LONG);
            scripted.timer.setWallForwardBy(ScriptedEngine.TTL);
            scripted.resumeThreads();
            assertThat(second).isNotDone();
            scripted.next("acquire").answer(owner(200, 0, 200));
            assertThat(second.join().fencingToken()).isEqualTo(200);
            scripted.timer.tick(Duration.ofSeconds(1));
            scripted.next("renew").answer(new Reply.Renewed(30_000, 0));
            assertThat(first.join().isValid()).isTrue();
            assertThat(second.join().isValid()).isTrue();
        }

        @Test
        void onlyTheLastReleaseIsSent() {
            firstIs(owner(100, 0, 100));
            CompletableFuture<Lease> second = scripted.acquire(Kind.SHARED, LONG);
            assertThat(release(first)).isCompleted();
            scripted.nothingIsSent();
            assertThat(second.join().isValid()).isTrue();
            CompletableFuture<Void> last = release(second);
            assertThat(scripted.next("unlock").argument(2))
                    .as("readers use up no tokens")
                    .isEqualTo("0");
            assertThat(last).isNotDone();
        }

        @Test
        void onceOthersAreKnownToWaitALaterOneAsksUnderANewId() {
            Sent acquire = firstIs(owner(100, 0, 100));
            scripted.push(acquire.id(), 0, Duration.ZERO, 1);
            CompletableFuture<Lease> later = scripted.acquire(Kind.SHARED, LONG);
            assertThat(later).isNotDone();
            assertThat(scripted.next("acquire").id()).isNotEqualTo(acquire.id());
            scripted.nothingIsSent();
        }

        @Test
        void aHintThatOvertakesTheGrantCountsOnceItIsKnown() {
            Sent acquire = scripted.next("acquire");
            scripted.push(acquire.id(), 0, Duration.ZERO, 1);
            acquire.answer(owner(100, 0, 100));
            assertThat(first).isCompleted();
            scripted.acquire(Kind.SHARED, LONG);
            assertThat(scripted.next("acquire").id()).isNotEqualTo(acquire.id());
            scripted.nothingIsSent();
        }

        @Test
        void aRenewalTellsThatOthersWait() {
            firstIs(owner(100, 0, 100));
            scripted.timer.tick(Duration.ofSeconds(11));
            scripted.next("renew").answer(new Reply.Renewed(30_000, 1));
            scripted.acquire(Kind.SHARED, LONG);
            scripted.next("acquire");
        }

        @Test
        void onceOthersAreKnownToWaitNobodyJoinsInPlaceOfOneThatWaitedHere() {
            firstIs(owner(100, 0, 100));
            scripted.timer.tick(Duration.ofSeconds(11));
            Sent renewal = scripted.next("renew");
            scripted.timer.tick(Duration.ofSeconds(12));
            CompletableFuture<Lease> second = scripted.acquire(Kind.SHARED, LONG);
            renewal.answer(new Reply.Renewed(30_000, 1));
            CompletableFuture<Lease> third = scripted.acquire(Kind.SHARED, LONG);
            assertThat(first.join().isValid()).isTrue();
            assertThat(second).as("too little of the lease was left").isNotDone();
            assertThat(third).isNotDone();
        }

        @Test
        void withoutTheChannelALaterOneAsksBecauseNothingWouldTellThatOthersWait() {
            scripted.channelLive = false;
            firstIs(owner(100, 0, 100));
            scripted.acquire(Kind.SHARED, LONG);
            scripted.next("acquire");
        }

        @Test
        void allThatWaitAreServedByOneGrant() {
            CompletableFuture<Lease> second = scripted.acquire(Kind.SHARED, LONG);
            CompletableFuture<Lease> third = scripted.acquire(Kind.SHARED, LONG);
            Sent acquire = firstIs(new Reply.Queued(1, 100, 30_000));
            assertThat(first).isNotDone();
            scripted.push(acquire.id(), 101, Duration.ofSeconds(6), 1);
            assertThat(first).isCompleted();
            assertThat(second).isCompleted();
            assertThat(third).isCompleted();
            scripted.nothingIsSent();
        }

        @Test
        void aLeaseThatEndsIsLostByAll() {
            firstIs(owner(100, 0, 100));
            CompletableFuture<Lease> second = scripted.acquire(Kind.SHARED, LONG);
            scripted.timer.tick(Duration.ofSeconds(11));
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
            assertThat(first.join().isValid()).isFalse();
            assertThat(second.join().isValid()).isFalse();
            assertThat(scripted.engine.inUse()).isZero();
        }

        /** The answer to the readers before it, who want another ttl, says nothing of it. */
        @Test
        void aWaitThatEndsBeforeTheAnswerIsDecidedByIt() {
            CompletableFuture<Lease> other =
                    scripted.acquire(Kind.SHARED, Duration.ofMillis(500), ScriptedEngine.TTL.dividedBy(2));
            firstIs(owner(100, 0, 100));
            Sent asked = scripted.next("acquire");
            scripted.timer.tick(Duration.ofSeconds(1));
            assertThat(other).isNotDone();
            asked.answer(owner(101, 0, 100));
            assertThat(other).isCompleted();
        }

        @Test
        void aWriterOfThisJvmQueuesInRedisLikeAnyOther() {
            firstIs(owner(100, 0, 100));
            CompletableFuture<Lease> writer = scripted.acquire(Kind.EXCLUSIVE, LONG);
            Sent acquire = scripted.next("acquire");
            assertThat(acquire.argument(3)).isEqualTo(Kind.EXCLUSIVE.toString());
            acquire.answer(new Reply.Queued(1, 100, 30_000));
            assertThat(writer).isNotDone();
        }
    }

    @Nested
    class Permits {

        @Test
        void eachHasAnIdOfItsOwn() {
            granted(TWO, 100);
            CompletableFuture<Lease> second = scripted.acquire(TWO, LONG);
            Sent acquire = scripted.next("acquire");
            assertThat(acquire.argument(3)).isEqualTo("2");
            acquire.answer(owner(164, 0, 164));
            assertThat(second.join().fencingToken()).isEqualTo(164);
        }

        @Test
        void oneThatIsFreedPassesOnHereWithATokenOfItsGrant() {
            CompletableFuture<Lease> first = CompletableFuture.completedFuture(granted(TWO, 100));
            CompletableFuture<Lease> waiting = scripted.acquire(TWO, LONG);
            Sent acquire = scripted.next("acquire");
            acquire.answer(new Reply.Queued(1, 200, 30_000));
            assertThat(release(first)).isCompleted();
            assertThat(waiting.join().fencingToken()).isEqualTo(101);
            assertThat(scripted.next("unlock").id())
                    .as("its own is not needed any more")
                    .isEqualTo(acquire.id());
            scripted.nothingIsSent();
        }

        /** However many permits this JVM has, and however many come later. */
        @Test
        void aTurnServesThoseThatWaitedWhenItBecameKnownThatOthersWait() {
            Deque<CompletableFuture<Lease>> held = new ArrayDeque<>();
            List<String> ids = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                held.add(scripted.acquire(TWO, LONG));
                Sent acquire = scripted.next("acquire");
                ids.add(acquire.id());
                acquire.answer(owner(100 * (i + 1), 0, 100 * (i + 1)));
            }
            Deque<CompletableFuture<Lease>> waiting = new ArrayDeque<>();
            for (int i = 0; i < 5; i++) {
                waiting.add(scripted.acquire(TWO, LONG));
            }
            scripted.next("acquire").answer(new Reply.Queued(2, 300, 30_000));
            ids.forEach(id -> scripted.push(id, 0, Duration.ZERO, 1));
            int served = 0;
            while (!held.isEmpty()) {
                release(held.remove());
                if (waiting.element().isDone()) {
                    served++;
                    held.add(waiting.remove());
                    waiting.add(scripted.acquire(TWO, LONG));
                } else {
                    scripted.next("unlock");
                }
            }
            assertThat(served).isEqualTo(5);
        }

        /**
         * The id that this JVM has queued for its next permit tells the holders, of which this JVM is one, that it
         * waits.
         */
        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void itsOwnIdInTheQueueIsNotTakenForAnotherJvm(boolean hintIsFirst) {
            CompletableFuture<Lease> holder = CompletableFuture.completedFuture(granted(TWO, 100));
            String held = ScriptedEngine.SESSION + "-1";
            CompletableFuture<Lease> next = scripted.acquire(TWO, LONG);
            Sent acquire = scripted.next("acquire");
            if (hintIsFirst) {
                scripted.push(held, 0, Duration.ZERO, 1);
            }
            acquire.answer(new Reply.Queued(1, 200, 30_000));
            scripted.push(held, 0, Duration.ZERO, 1);
            scripted.timer.tick(Duration.ofSeconds(11));
            while (scripted.sentCount() > 0) {
                Sent sent = scripted.next();
                sent.answer(
                        sent.script().equals("acquire")
                                ? new Reply.Queued(1, 200, 30_000)
                                : new Reply.Renewed(30_000, 1));
            }
            release(holder);
            assertThat(next).isCompleted();
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            CompletableFuture<Lease> later = scripted.acquire(TWO, LONG);
            scripted.next("acquire").answer(new Reply.Queued(1, 200, 30_000));
            release(next);
            assertThat(later).isCompleted();
        }

        @Test
        void anIdBeforeItsOwnIsThatOfAnother() {
            CompletableFuture<Lease> holder = CompletableFuture.completedFuture(granted(TWO, 100));
            CompletableFuture<Lease> next = scripted.acquire(TWO, LONG);
            Sent acquire = scripted.next("acquire");
            scripted.push(ScriptedEngine.SESSION + "-1", 0, Duration.ZERO, 1);
            acquire.answer(new Reply.Queued(2, 200, 30_000));
            CompletableFuture<Lease> later = scripted.acquire(TWO, LONG);
            release(holder);
            assertThat(next).isCompleted();
            release(next);
            assertThat(later).isNotDone();
        }

        @Test
        void itPassesOnOnlyAsOftenAsItHasTokens() {
            CompletableFuture<Lease> holder = CompletableFuture.completedFuture(granted(TWO, 100));
            for (int i = 1; i < 64; i++) {
                CompletableFuture<Lease> next = scripted.acquire(TWO, LONG);
                scripted.next("acquire").answer(new Reply.Queued(1, 300, 30_000));
                release(holder);
                assertThat(next.join().fencingToken()).isEqualTo(100 + i);
                scripted.next("unlock");
                holder = next;
            }
            scripted.acquire(TWO, LONG);
            scripted.next("acquire").answer(new Reply.Queued(1, 300, 30_000));
            release(holder);
            assertThat(scripted.next("unlock").argument(2)).isEqualTo("163");
        }

        @Test
        void whoTriesOnceAsksBesideThoseThatAreHeld() {
            granted(TWO, 100);
            CompletableFuture<Lease> tried = scripted.acquire(TWO, NONE);
            Sent acquire = scripted.next("acquire");
            assertThat(acquire.argument(4)).as("whether to queue").isEqualTo("0");
            acquire.answer(owner(164, 0, 164));
            assertThat(tried).isCompleted();
        }

        @Test
        void freePermitsAreAskedForOneAfterTheOther() {
            CompletableFuture<Lease> one = scripted.acquire(TWO, NONE);
            CompletableFuture<Lease> other = scripted.acquire(TWO, NONE);
            scripted.next("acquire").answer(owner(100, 0, 100));
            assertThat(one).isCompleted();
            assertThat(other).isNotDone();
            scripted.next("acquire").answer(owner(164, 0, 164));
            assertThat(other).isCompleted();
            scripted.nothingIsSent();
            CompletableFuture<Lease> third = scripted.acquire(TWO, NONE);
            scripted.next("acquire").answer(new Reply.Busy(1_000));
            assertThat(third).isCompletedExceptionally();
        }

        @Test
        void oneTooManyIsRefusedByItsOwnAnswer() {
            CompletableFuture<Lease> one = scripted.acquire(TWO, NONE);
            CompletableFuture<Lease> other = scripted.acquire(TWO, NONE);
            CompletableFuture<Lease> third = scripted.acquire(TWO, NONE);
            scripted.next("acquire").answer(owner(100, 0, 100));
            scripted.next("acquire").answer(owner(164, 0, 164));
            assertThat(List.of(one, other)).allMatch(CompletableFuture::isDone);
            scripted.next("acquire").answer(new Reply.Busy(1_000));
            assertThatThrownBy(third::join).hasCauseInstanceOf(LockNotAcquiredException.class);
        }

        @Test
        void permitsThatAreTakenAreAskedForByOne() {
            CompletableFuture<Lease> one = scripted.acquire(TWO, LONG);
            CompletableFuture<Lease> other = scripted.acquire(TWO, LONG);
            scripted.next("acquire").answer(new Reply.Queued(1, 100, 1_000));
            CompletableFuture<Lease> third = scripted.acquire(TWO, LONG);
            scripted.nothingIsSent();
            assertThat(List.of(one, other, third)).noneMatch(CompletableFuture::isDone);
        }

        @Test
        void aPermitThatMayHaveBeenGrantedIsGivenBackIfNobodyIsLeftToHaveIt() {
            CompletableFuture<Lease> one = scripted.acquire(TWO, LONG);
            CompletableFuture<Lease> other = scripted.acquire(TWO, LONG);
            scripted.next("acquire").answer(owner(100, 0, 100));
            Sent second = scripted.next("acquire");
            other.cancel(true);
            second.answer(owner(164, 0, 164));
            Sent cancelled = scripted.next("unlock");
            assertThat(cancelled.id()).isEqualTo(second.id());
            cancelled.answer(Reply.Plain.RELEASED);
            release(one);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void aPermitOfWhichNothingIsKnownIsAskedForAgainUnderTheSameId() {
            CompletableFuture<Lease> one = scripted.acquire(TWO, LONG);
            CompletableFuture<Lease> other = scripted.acquire(TWO, LONG);
            scripted.next("acquire").answer(owner(100, 0, 100));
            assertThat(one).isCompleted();
            Sent second = scripted.next("acquire");
            second.fail("cut");
            assertThat(other).isNotDone();
            scripted.timer.tick(Duration.ofMillis(20));
            Sent again = scripted.next("acquire");
            assertThat(again.id()).isEqualTo(second.id());
            again.answer(owner(164, 0, 164));
            assertThat(other).isCompleted();
        }

        @Test
        void aWaitThatEndsBeforeTheAnswerIsDecidedByIt() {
            CompletableFuture<Lease> first = scripted.acquire(TWO, LONG);
            CompletableFuture<Lease> second = scripted.acquire(TWO, Duration.ofMillis(500));
            scripted.next("acquire").answer(owner(100, 0, 100));
            assertThat(first).isCompleted();
            Sent asked = scripted.next("acquire");
            scripted.timer.tick(Duration.ofSeconds(1));
            assertThat(second).isNotDone();
            asked.answer(new Reply.Busy(1_000));
            assertThatThrownBy(second::join).hasCauseInstanceOf(LockNotAcquiredException.class);
        }

        @Test
        void aWaitWithoutAnAnswerIsNoContention() {
            CompletableFuture<Lease> first = scripted.acquire(TWO, LONG);
            CompletableFuture<Lease> second = scripted.acquire(TWO, NONE);
            scripted.next("acquire").answer(owner(100, 0, 100));
            assertThat(first).isCompleted();
            scripted.next("acquire");
            scripted.timer.tick(Duration.ofSeconds(6));
            assertThatThrownBy(second::join).hasCauseInstanceOf(LockUnavailableException.class);
        }

        @Test
        void theLossOfOneLeavesTheOthers() {
            Lease lost = granted(TWO, 100);
            Lease kept = granted(TWO, 164);
            scripted.timer.tick(Duration.ofSeconds(11));
            scripted.next("renew").answer(new Reply.All(List.of(Reply.Plain.NOT_HOLDER, new Reply.Renewed(30_000, 0))));
            scripted.nothingIsSent();
            assertThat(lost.isValid()).isFalse();
            assertThat(kept.isValid()).isTrue();
        }
    }

    @Nested
    class WriterThatBecomesReader {

        private final CompletableFuture<Lease> writer = CompletableFuture.completedFuture(granted(Kind.EXCLUSIVE, 100));

        private Sent downgrade() {
            scripted.engine.name(LockKind.EXCLUSIVE, ScriptedEngine.NAME).downgrade(Hold.of(writer.join()));
            return scripted.next("downgrade");
        }

        @Test
        void keepsItsHoldAndItsToken() {
            downgrade().answer(new Reply.Granted(100, 30_000, 0));
            assertThat(writer.join().isValid()).isTrue();
            assertThat(writer.join().fencingToken()).isEqualTo(100);
            release(writer);
            scripted.next("unlock");
            scripted.nothingIsSent();
        }

        @Test
        void hasLostItsHoldIfRedisNoLongerHasIt() {
            downgrade().answer(Reply.Plain.NOT_HOLDER);
            assertThat(writer.join().isValid()).isFalse();
        }

        @Test
        void repeatsTheCommandUntilItIsAnswered() {
            downgrade().fail("cut");
            assertThat(writer.join().isValid()).isTrue();
            scripted.timer.tick(Duration.ofSeconds(1));
            scripted.next("downgrade").answer(new Reply.Granted(100, 30_000, 0));
            scripted.timer.tick(Duration.ofSeconds(5));
            scripted.nothingIsSent();
        }

        @Test
        void isNotFollowedByAWriterWithoutRedis() {
            CompletableFuture<Lease> next = scripted.acquire(Kind.EXCLUSIVE, LONG);
            scripted.nothingIsSent();
            downgrade().answer(new Reply.Granted(100, 30_000, 0));
            Sent acquire = scripted.next("acquire");
            acquire.answer(new Reply.Queued(1, 100, 30_000));
            release(writer);
            assertThat(scripted.next("unlock").argument(3))
                    .as("the next writer has asked already")
                    .isEmpty();
            assertThat(next).isNotDone();
            scripted.push(acquire.id(), 102, Duration.ofSeconds(6), 0);
            assertThat(next).isCompleted();
        }
    }
}
