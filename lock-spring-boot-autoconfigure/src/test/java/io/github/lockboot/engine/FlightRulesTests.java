package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Those who follow and those who complete, with answers and messages in the order that would break it. */
class FlightRulesTests {

    private static final Duration LONG = Duration.ofMinutes(10);

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    private CompletableFuture<Optional<Lease>> follow() {
        return scripted.engine.acquireOrFollowAsync(new LockRequest(
                NAME, null, new Terms(Kind.EXCLUSIVE.permits(), TTL.toMillis(), true), LONG.toNanos(), 0, false));
    }

    private void completedElsewhere(long token) {
        scripted.engine.onCompletion(new Push("another-1", token, 0, 0, "lock:" + NAME));
    }

    private Lease lead(long token) {
        CompletableFuture<Optional<Lease>> leader = follow();
        scripted.next("acquire").answer(new Reply.Owner(token, TTL.toMillis(), 0));
        return leader.join().orElseThrow();
    }

    /** Without waiting for the answer. */
    private CompletableFuture<Hold.Release> complete(Lease lease) {
        return scripted.engine.queue(NAME).complete((Hold) lease);
    }

    private Sent queued(long token) {
        Sent acquire = scripted.next("acquire");
        acquire.answer(new Reply.Queued(1, token, 30_000));
        return acquire;
    }

    @AfterEach
    void nothingIsLeft() {
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Nested
    class Following {

        @Test
        void oneMessageCompletesAllAndNothingIsSent() {
            CompletableFuture<Optional<Lease>> one = follow();
            queued(100);
            CompletableFuture<Optional<Lease>> other = follow();
            completedElsewhere(100);
            assertThat(one.join()).isEmpty();
            assertThat(other.join()).isEmpty();
        }

        @Test
        void theLastTokenOfTheHolderMayBeLaterThanItsGrant() {
            CompletableFuture<Optional<Lease>> follower = follow();
            queued(100);
            completedElsewhere(107);
            assertThat(follower.join()).isEmpty();
        }

        @Test
        void anOldMessageCompletesButThePlaceInTheQueueIsGivenUp() {
            CompletableFuture<Optional<Lease>> follower = follow();
            Sent acquire = queued(100);
            completedElsewhere(90);
            assertThat(follower.join()).isEmpty();
            Sent cancel = scripted.next("cancel");
            assertThat(cancel.id()).isEqualTo(acquire.id());
            cancel.answer(Reply.Plain.LEFT);
        }

        @Test
        void aMessageThatOvertakesTheAnswerCompletesAndTheIdIsCancelled() {
            CompletableFuture<Optional<Lease>> follower = follow();
            Sent acquire = scripted.next("acquire");
            completedElsewhere(100);
            assertThat(follower.join()).isEmpty();
            acquire.answer(new Reply.Owner(101, 30_000, 0));
            scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        }

        @Test
        void aPollUnderWayMayQueueTheIdAgainSoItIsCancelled() {
            CompletableFuture<Optional<Lease>> follower = follow();
            Sent acquire = queued(100);
            scripted.timer.tick(Duration.ofSeconds(2));
            Sent poll = scripted.next("acquire");
            completedElsewhere(100);
            assertThat(follower.join()).isEmpty();
            poll.answer(new Reply.Queued(1, 105, 30_000));
            Sent cancel = scripted.next("cancel");
            assertThat(cancel.id()).isEqualTo(acquire.id());
            cancel.answer(Reply.Plain.LEFT);
        }

        @Test
        void aQuestionWithUnknownOutcomeMayQueueTheIdAgainSoItIsCancelled() {
            CompletableFuture<Optional<Lease>> follower = follow();
            queued(100);
            scripted.timer.tick(Duration.ofSeconds(2));
            scripted.next("acquire").fail("cut");
            completedElsewhere(100);
            assertThat(follower.join()).isEmpty();
            scripted.next("cancel").answer(Reply.Plain.UNKNOWN);
        }

        @Test
        void aMissedMessageCostsAPoll() {
            CompletableFuture<Optional<Lease>> follower = follow();
            queued(100);
            scripted.timer.tick(Duration.ofSeconds(2));
            scripted.next("acquire").answer(new Reply.Owner(200, 30_000, 0));
            complete(follower.join().orElseThrow());
            scripted.next("complete").answer(Reply.Plain.COMPLETED);
        }

        @Test
        void aRetryBySettingOutAgainIsUnderANewId() {
            follow();
            Sent first = queued(100);
            completedElsewhere(100);
            CompletableFuture<Optional<Lease>> again = follow();
            Sent second = scripted.next("acquire");
            assertThat(second.id()).isNotEqualTo(first.id());
            scripted.push(first.id(), 101, Duration.ofSeconds(6), 0); // a zombie of the first is freed
            Sent freed = scripted.next("unlock");
            assertThat(freed.id()).isEqualTo(first.id());
            freed.answer(Reply.Plain.RELEASED);
            second.answer(new Reply.Owner(102, 30_000, 0));
            again.join().orElseThrow().closeAfter(Duration.ZERO);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }

        @Test
        void whoWaitsForTheLockItselfAsksAgain() {
            CompletableFuture<Lease> plain = scripted.acquire(LONG);
            Sent acquire = queued(100);
            CompletableFuture<Optional<Lease>> follower = follow();
            completedElsewhere(100);
            assertThat(follower.join()).isEmpty();
            Sent again = scripted.next("acquire");
            assertThat(again.id()).isEqualTo(acquire.id());
            again.answer(new Reply.Owner(101, 30_000, 0));
            plain.join().closeAfter(Duration.ZERO);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }

        @Test
        void aMessageThatConcernsNobodyHereIsNothing() {
            completedElsewhere(100);
            scripted.engine.onCompletion(new Push("another-1", 1, 0, 0, "other:" + NAME));
        }

        @Test
        void aHoldInThisJvmStaysWhatIsSaidElsewhere() {
            Lease lease = lead(100);
            CompletableFuture<Optional<Lease>> follower = follow();
            completedElsewhere(90);
            assertThat(follower.join()).isEmpty();
            assertThat(lease.isValid()).isTrue();
            lease.closeAfter(Duration.ZERO);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }

        @Test
        void theWaitOfAFollowerEndsAtItsTime() {
            CompletableFuture<Optional<Lease>> follower = follow();
            queued(100);
            follower.cancel(false);
            scripted.next("cancel").answer(Reply.Plain.LEFT);
            CompletableFuture<Optional<Lease>> brief = scripted.engine.acquireOrFollowAsync(new LockRequest(
                    NAME,
                    null,
                    new Terms(Kind.EXCLUSIVE.permits(), TTL.toMillis(), true),
                    Duration.ofSeconds(1).toNanos(),
                    0,
                    false));
            queued(100);
            scripted.timer.tick(Duration.ofSeconds(1));
            assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> failureOf(brief));
            scripted.next("cancel").answer(Reply.Plain.LEFT);
        }
    }

    @Nested
    class Completing {

        @Test
        void thoseOfThisJvmAreDoneWithoutWaitingForRedis() {
            Lease lease = lead(100);
            CompletableFuture<Optional<Lease>> follower = follow();
            CompletableFuture<Hold.Release> outcome = complete(lease);
            assertThat(follower.join()).isEmpty();
            assertThat(lease.isValid()).isFalse();
            Sent complete = scripted.next("complete");
            assertThat(complete.argument(2)).isEqualTo("100");
            complete.answer(Reply.Plain.COMPLETED);
            assertThat(outcome.join()).isEqualTo(Hold.Release.RELEASED);
        }

        @Test
        void whoComesAfterwardsIsNotDone() {
            Lease lease = lead(100);
            complete(lease);
            CompletableFuture<Optional<Lease>> next = follow();
            assertThat(next).isNotDone();
            scripted.next("complete").answer(Reply.Plain.COMPLETED);
            scripted.engine.onCompletion(new Push(ScriptedEngine.SESSION + "-1", 100, 0, 1, "lock:" + NAME));
            assertThat(next).isNotDone();
            scripted.next("acquire").answer(new Reply.Owner(101, 30_000, 0));
            next.join().orElseThrow().closeAfter(Duration.ZERO);
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }

        @Test
        void aCompletionOfUnknownOutcomeIsSettledAsARelease() {
            Lease lease = lead(100);
            CompletableFuture<Hold.Release> outcome = complete(lease);
            Sent complete = scripted.next("complete");
            complete.fail("cut");
            assertThat(outcome.join()).isEqualTo(Hold.Release.UNKNOWN);
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.id()).isEqualTo(complete.id());
            unlock.answer(Reply.Plain.HANDED_OVER);
        }

        @Test
        void aCompletionThatRedisRefusesIsALoss() {
            Lease lease = lead(100);
            CompletableFuture<Hold.Release> outcome = complete(lease);
            scripted.next("complete").answer(Reply.Plain.NOT_OWNER);
            assertThat(outcome.join()).isEqualTo(Hold.Release.LOST);
        }

        @Test
        void aRefusalThatMayAnswerOurOwnSecondCopyIsNone() {
            Lease lease = lead(100);
            CompletableFuture<Hold.Release> outcome = complete(lease);
            scripted.epoch++;
            scripted.next("complete").answer(Reply.Plain.NOT_OWNER);
            assertThat(outcome.join()).isEqualTo(Hold.Release.RELEASED);
        }

        @Test
        void aLeaseThatRanOutCompletesNobody() {
            Lease lease = lead(100);
            scripted.timer.tick(Duration.ofSeconds(11));
            scripted.next("renew").answer(Reply.Plain.NOT_OWNER);
            CompletableFuture<Optional<Lease>> follower = follow();
            assertThatExceptionOfType(LockLostException.class).isThrownBy(((Hold) lease)::complete);
            assertThat(follower).isNotDone();
            follower.cancel(false);
            scripted.next("acquire").answer(new Reply.Queued(1, 200, 30_000));
            scripted.next("cancel").answer(Reply.Plain.LEFT);
        }

        @Test
        void completingTwiceIsOnce() {
            Lease lease = lead(100);
            complete(lease);
            scripted.next("complete").answer(Reply.Plain.COMPLETED);
            ((Hold) lease).complete();
            lease.close();
        }
    }

    private static void failureOf(CompletableFuture<?> failed) throws Throwable {
        try {
            failed.getNow(null);
        } catch (CompletionException e) {
            throw e.getCause();
        }
    }
}
