package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where leases have to be acknowledged, the answer to a question counts, and what is not acknowledged is given back.
 */
class AcknowledgementRulesTests {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration CLAIM = Duration.ofSeconds(6);
    private static final Reply GRANTED = new Reply.Granted(101, 30_000, 0);

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    @BeforeEach
    void acknowledge() {
        scripted.acknowledging = true;
    }

    private Sent queued() {
        Sent acquire = scripted.next("acquire");
        acquire.answer(new Reply.Queued(1, 100, 30_000));
        return acquire;
    }

    private static void fail(Sent acquire) {
        acquire.reply().completeExceptionally(new NotAcknowledgedException("0 of 1 replicas", null));
    }

    private void isUnavailable(CompletableFuture<Lease> future) {
        assertThat(future)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockUnavailableException.class)
                .withMessageContaining("lock.redis.acknowledge")
                .withCauseInstanceOf(NotAcknowledgedException.class);
    }

    @Test
    void aGrantThatIsNotAcknowledgedIsGivenBackAndFailsAllWhoWait() {
        CompletableFuture<Lease> first = scripted.acquire(LONG);
        CompletableFuture<Lease> second = scripted.acquire(LONG);
        fail(scripted.next("acquire"));
        isUnavailable(first);
        isUnavailable(second);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aPushedGrantIsAskedForAndHasTheLeaseOfTheAnswer() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.push(acquire.id(), 101, CLAIM, 0);
        assertThat(future).isNotDone();
        Sent again = scripted.next("acquire");
        assertThat(again.id()).isEqualTo(acquire.id());
        again.answer(GRANTED);
        assertThat(future.join().fencingToken()).isEqualTo(101);
        assertThat(future.join().remainingLease()).isEqualTo(Duration.ofMillis(30_000 - 300 - 2));
        scripted.nothingIsSent();
    }

    @Test
    void aPushedGrantThatIsNotAcknowledgedFailsAtOnceAlsoBehindAnAnswer() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.push(acquire.id(), 101, CLAIM, 0);
        fail(scripted.next("acquire"));
        isUnavailable(future);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aPollUnderWayIsTheQuestionForAPushedGrantIfItFindsTheGrant() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.timer.tick(Duration.ofSeconds(2));
        Sent poll = scripted.next("acquire");
        scripted.push(acquire.id(), 101, CLAIM, 0);
        scripted.nothingIsSent();
        poll.answer(GRANTED);
        assertThat(future.join().isValid()).isTrue();
        scripted.nothingIsSent();
    }

    @Test
    void aPollThatRanBeforeThePushedGrantIsRepeatedAtOnce() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.timer.tick(Duration.ofSeconds(2));
        Sent poll = scripted.next("acquire");
        scripted.push(acquire.id(), 101, CLAIM, 0);
        poll.answer(new Reply.Queued(1, 100, 30_000));
        scripted.next("acquire").answer(GRANTED);
        assertThat(future.join().isValid()).isTrue();
    }

    @Test
    void aPushThatOvertakesItsQueuedAnswerIsAskedFor() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = scripted.next("acquire");
        scripted.push(acquire.id(), 101, CLAIM, 0);
        acquire.answer(new Reply.Queued(1, 100, 30_000));
        scripted.next("acquire").answer(GRANTED);
        assertThat(future.join().isValid()).isTrue();
        scripted.nothingIsSent();
    }

    @Test
    void aGrantByTheUnlockThatQueuedTheIdIsAskedFor() {
        CompletableFuture<Lease> first = scripted.acquire(LONG);
        Sent acquire = scripted.next("acquire");
        CompletableFuture<Lease> second = scripted.acquire(LONG);
        acquire.answer(new Reply.Granted(100, 30_000, 5));
        scripted.push(acquire.id(), 0, Duration.ZERO, 5);
        CompletableFuture<Lease> third = scripted.acquire(LONG);
        first.join().close();
        second.join().close();
        scripted.next("unlock").answer(new Reply.Granted(70_000, 30_000, 0));
        assertThat(third).isNotDone();
        scripted.next("acquire").answer(new Reply.Granted(70_000, 30_000, 0));
        assertThat(third.join().fencingToken()).isEqualTo(70_000);
        scripted.nothingIsSent();
    }

    @Test
    void whatANewMasterDoesNotKnowIsQueuedOrGrantedThere() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.push(acquire.id(), 101, CLAIM, 0);
        scripted.next("acquire").answer(new Reply.Queued(1, 200, 30_000));
        assertThat(future).isNotDone();
        scripted.push(acquire.id(), 201, CLAIM, 0);
        scripted.next("acquire").answer(new Reply.Granted(201, 30_000, 0));
        assertThat(future.join().fencingToken()).isEqualTo(201);
    }

    @Test
    void whoLeavesBeforeItIsAcknowledgedGivesItBack() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = scripted.next("acquire");
        future.cancel(false);
        scripted.nothingIsSent();
        acquire.answer(GRANTED);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aHoldThatIsPassedOnInThisJvmNeedsNoQuestion() {
        CompletableFuture<Lease> first = scripted.acquire(LONG);
        scripted.next("acquire").answer(GRANTED);
        CompletableFuture<Lease> second = scripted.acquire(LONG);
        first.join().close();
        assertThat(second.join().isValid()).isTrue();
        scripted.nothingIsSent();
    }
}
