package io.github.lockboot.redis.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.redis.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.RedisFailure.NotAcknowledgedException;
import io.github.lockboot.redis.protocol.Reply;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What is granted counts once it is confirmed, and what is not confirmed is given back. */
class AcknowledgementRulesTests {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration CLAIM = Duration.ofSeconds(6);

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

    private static void confirm(Sent confirm, Duration lease) {
        confirm.answer(new Reply.Renewed(lease.toMillis(), 0));
    }

    private static void fail(Sent confirm) {
        confirm.reply().completeExceptionally(new NotAcknowledgedException("0 of 1 replicas"));
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
    void aGrantCountsOnceItIsConfirmedWithTheLeaseThatIsConfirmed() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        assertThat(future).isNotDone();
        Sent confirm = scripted.next("confirm");
        assertThat(confirm.argument(4)).isEqualTo("100");
        scripted.timer.stopFor(Duration.ofSeconds(1));
        confirm(confirm, Duration.ofSeconds(20));
        assertThat(future.join().remainingLease()).isEqualTo(Duration.ofMillis(20_000 - 1_000 - 200 - 2));
        assertThat(future.join().fencingToken()).isEqualTo(100);
        scripted.nothingIsSent();
    }

    @Test
    void aLeaseThatIsLongerThanItsTtlCountsAsTheTtl() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        confirm(scripted.next("confirm"), Duration.ofHours(1));
        assertThat(future.join().remainingLease()).isLessThan(ScriptedEngine.TTL);
    }

    @Test
    void aGrantThatIsNotAcknowledgedIsGivenBackAndFailsAllWhoWait() {
        CompletableFuture<Lease> first = scripted.acquire(LONG);
        CompletableFuture<Lease> second = scripted.acquire(LONG);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        fail(scripted.next("confirm"));
        isUnavailable(first);
        isUnavailable(second);
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aPushedGrantIsConfirmedToo() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.push(acquire.id(), 101, CLAIM, 0);
        assertThat(future).isNotDone();
        confirm(scripted.next("confirm"), CLAIM);
        assertThat(future.join().remainingLease()).isEqualTo(Duration.ofMillis(6_000 - 60 - 2));
    }

    @Test
    void aPushedGrantThatIsNotAcknowledgedFailsAtOnce() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.timer.tick(Duration.ofSeconds(2));
        Sent poll = scripted.next("acquire");
        scripted.push(acquire.id(), 101, CLAIM, 0);
        fail(scripted.next("confirm"));
        isUnavailable(future);
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        poll.answer(new Reply.Owner(101, 30_000, 0));
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void anAnswerAndAPushOfOneGrantAreConfirmedOnce() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.timer.tick(Duration.ofSeconds(2));
        Sent poll = scripted.next("acquire");
        scripted.push(acquire.id(), 101, CLAIM, 0);
        Sent confirm = scripted.next("confirm");
        poll.answer(new Reply.Owner(101, 30_000, 0));
        scripted.nothingIsSent();
        confirm(confirm, CLAIM);
        assertThat(future.join().isValid()).isTrue();
    }

    @Test
    void anAnswerThatRenewsWithoutAcknowledgementDoesNotProlong() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        Sent acquire = queued();
        scripted.timer.tick(Duration.ofSeconds(2));
        Sent poll = scripted.next("acquire");
        scripted.push(acquire.id(), 101, CLAIM, 0);
        confirm(scripted.next("confirm"), CLAIM);
        poll.answer(new Reply.Owner(101, 30_000, 0));
        assertThat(future.join().remainingLease()).isLessThan(CLAIM);
    }

    @Test
    void whatANewMasterDoesNotKnowIsAskedForAgain() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        scripted.next("confirm").answer(Reply.Plain.NOT_OWNER);
        Sent again = scripted.next("acquire");
        again.answer(new Reply.Owner(200, 30_000, 0));
        confirm(scripted.next("confirm"), ScriptedEngine.TTL);
        assertThat(future.join().fencingToken()).isEqualTo(200);
    }

    @Test
    void aZeroWaitLastsUntilTheGrantIsConfirmed() {
        CompletableFuture<Lease> granted = scripted.acquire(Duration.ZERO);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        confirm(scripted.next("confirm"), ScriptedEngine.TTL);
        assertThat(granted.join().isValid()).isTrue();
        CompletableFuture<Lease> refused = scripted.acquire(Duration.ZERO);
        assertThat(refused)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockNotAcquiredException.class);
    }

    @Test
    void whoLeavesBeforeItIsConfirmedGivesItBack() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        Sent confirm = scripted.next("confirm");
        future.cancel(false);
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        confirm(confirm, ScriptedEngine.TTL);
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void aHoldThatIsPassedOnInThisJvmNeedsNoConfirmation() {
        CompletableFuture<Lease> first = scripted.acquire(LONG);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        confirm(scripted.next("confirm"), ScriptedEngine.TTL);
        CompletableFuture<Lease> second = scripted.acquire(LONG);
        first.join().close();
        assertThat(second.join().isValid()).isTrue();
        scripted.nothingIsSent();
    }

    @Test
    void aConfirmationThatIsLostFailsWhoWait() {
        CompletableFuture<Lease> future = scripted.acquire(LONG);
        scripted.next("acquire").answer(new Reply.Owner(100, 30_000, 0));
        scripted.next("confirm");
        scripted.timer.tick(Duration.ofSeconds(10));
        assertThat(future).isCompletedExceptionally();
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
    }
}
