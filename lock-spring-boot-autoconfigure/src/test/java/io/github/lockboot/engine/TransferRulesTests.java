package io.github.lockboot.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** A hold that changes its process, whatever becomes of the commands and their answers. */
class TransferRulesTests {

    private static final Duration WAIT = Duration.ofSeconds(10);

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    @Nested
    class Given {

        private final Actor holder = new Actor();
        private final AtomicInteger told = new AtomicInteger();
        private final Lease lease = scripted.granted(100, TTL);

        Given() {
            lease.onLost(told::incrementAndGet);
        }

        @AfterEach
        void stop() {
            holder.close();
        }

        private CompletableFuture<String> handOver() {
            CompletableFuture<String> text = holder.start(lease::handOver);
            Actor.await("it is sent", () -> scripted.sentCount() > 0);
            return text;
        }

        @Test
        void itIsNeitherBelievedNorRenewedFromThenOn() throws Exception {
            CompletableFuture<String> text = handOver();
            assertThat(lease.isValid()).isFalse();
            Sent sent = scripted.next("transfer");
            sent.answer(new Reply.Granted(100, TTL.toMillis(), 0));
            Transfer transfer = Transfer.parse(Actor.get(text));
            assertThat(transfer).isEqualTo(new Transfer(NAME, LockKind.EXCLUSIVE, sent.id(), 100, 100));
            assertThat(scripted.engine.isOurs(transfer.id())).isFalse();
            scripted.timer.tick(TTL.multipliedBy(2));
            scripted.nothingIsSent();
            assertThat(told).hasValue(0);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void theTokenIsThatOfTheHoldAndNotOfTheGrant() throws Exception {
            CompletableFuture<Lease> next = scripted.acquire(WAIT);
            lease.closeAfter(Duration.ZERO);
            Lease second = next.join();
            CompletableFuture<String> text = holder.start(second::handOver);
            Actor.await("it is sent", () -> scripted.sentCount() > 0);
            scripted.next("transfer").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            Transfer transfer = Transfer.parse(Actor.get(text));
            assertThat(transfer.token()).isEqualTo(second.fencingToken()).isEqualTo(101);
            assertThat(transfer.grantNumber()).isEqualTo(100);
        }

        @Test
        void itWaitsForTheAnswerToARenewal() throws Exception {
            scripted.timer.tick(TTL.dividedBy(2));
            Sent renewal = scripted.next("renew");
            CompletableFuture<String> text = holder.start(lease::handOver);
            Actor.await("it is given", () -> !lease.isValid());
            scripted.nothingIsSent();
            renewal.answer(new Reply.Renewed(TTL.toMillis(), 0));
            Actor.await("it is sent", () -> scripted.sentCount() > 0);
            scripted.next("transfer").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            Actor.get(text);
            assertThat(told).hasValue(0);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void whoWaitsHereAsksAnew() throws Exception {
            CompletableFuture<Lease> next = scripted.acquire(WAIT);
            CompletableFuture<String> text = handOver();
            scripted.next("transfer").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            Actor.get(text);
            scripted.next("acquire").answer(new Reply.Queued(1, 100, TTL.toMillis()));
            assertThat(next).isNotDone();
        }

        @Test
        void whatRedisNoLongerHasIsLost() {
            CompletableFuture<String> text = handOver();
            scripted.next("transfer").answer(Reply.Plain.NOT_HOLDER);
            assertThatExceptionOfType(LockLostException.class)
                    .isThrownBy(() -> Actor.get(text))
                    .withMessageContaining(NAME);
            assertThat(told).hasValue(1);
            assertThat(scripted.engine.inUse()).isZero();
        }

        /** Nobody has the text, so the lock is given back if it is still under the former id. */
        @Test
        void withoutAnAnswerNobodyHasItAndTheLockIsGivenBack() {
            CompletableFuture<String> text = handOver();
            scripted.next("transfer").expire();
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> Actor.get(text))
                    .withMessageContaining(NAME)
                    .withMessageContaining("acquire it again");
            assertThat(lease.isValid()).isFalse();
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.id()).isEqualTo(Hold.of(lease).acquisitionId());
            unlock.answer(Reply.Plain.NOT_HOLDER);
            assertThat(scripted.engine.inUse()).isZero();
            assertThat(told).hasValue(0);
        }
    }

    /** A release tells the store the last token, from which it counts on. */
    @Test
    void aTokenThatTheGrantDoesNotHaveIsRefused() {
        for (LockKind kind : List.of(LockKind.EXCLUSIVE, LockKind.LIMITED)) {
            Transfer last = new Transfer(NAME, kind, Transfer.idOf(kind, "a-1"), 200, 200 + kind.tokens() - 1);
            assertThat(Transfer.parse(last.text())).isEqualTo(last);
            for (long token : List.of(199L, -1L, 200 + kind.tokens(), Long.MAX_VALUE)) {
                Transfer forged = new Transfer(NAME, kind, Transfer.idOf(kind, "a-1"), 200, token);
                assertThatIllegalArgumentException().isThrownBy(() -> Transfer.parse(forged.text()));
            }
        }
        Transfer overflowing =
                new Transfer(NAME, LockKind.EXCLUSIVE, "transfer-EXCLUSIVE-a-1", Long.MIN_VALUE, Long.MAX_VALUE);
        assertThatIllegalArgumentException().isThrownBy(() -> Transfer.parse(overflowing.text()));
    }

    @Nested
    class TakenOver {

        private final Transfer transfer = new Transfer(NAME, LockKind.EXCLUSIVE, "transfer-other-1", 200, 207);

        private CompletableFuture<Lease> takeOver() {
            Terms terms = Terms.exclusive(TTL.toMillis(), true);
            LockRequest request =
                    new LockRequest(NAME, null, terms, WAIT.toNanos(), 0, true, false, LockRequest.ANY_NUMBER);
            return scripted.engine.takeOver(request, transfer);
        }

        private Lease taken() {
            CompletableFuture<Lease> lease = takeOver();
            scripted.next("transfer").answer(new Reply.Granted(200, TTL.toMillis(), 0));
            return lease.join();
        }

        @Test
        void itIsRenewedAndReleasedUnderItsNewId() {
            CompletableFuture<Lease> asked = takeOver();
            Sent sent = scripted.next("transfer");
            assertThat(sent.argument(5)).isEqualTo(transfer.id());
            assertThat(sent.argument(6)).isEqualTo("200");
            sent.answer(new Reply.Granted(200, TTL.toMillis(), 0));
            Lease lease = asked.join();
            assertThat(lease.fencingToken()).isEqualTo(207);
            scripted.timer.tick(TTL.dividedBy(2));
            Sent renewal = scripted.next("renew");
            assertThat(renewal.id()).isEqualTo(sent.id());
            assertThat(renewal.argument(2)).isEqualTo("200");
            renewal.answer(new Reply.Renewed(TTL.toMillis(), 0));
            lease.closeAfter(Duration.ZERO);
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.id()).isEqualTo(sent.id());
            assertThat(unlock.argument(2)).isEqualTo("207");
            unlock.answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void itsLeaseCountsFromBeforeItWasAskedFor() {
            CompletableFuture<Lease> asked = takeOver();
            scripted.timer.tick(Duration.ofSeconds(1));
            scripted.next("transfer").answer(new Reply.Granted(200, TTL.toMillis(), 0));
            assertThat(asked.join().remainingLease()).isLessThanOrEqualTo(TTL.minusSeconds(1));
        }

        @Test
        void whatAnotherHasTakenOverIsRefused() {
            CompletableFuture<Lease> asked = takeOver();
            scripted.next("transfer").answer(Reply.Plain.NOT_HOLDER);
            assertThat(asked).isCompletedExceptionally();
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(asked::join)
                    .withCauseInstanceOf(LockNotAcquiredException.class);
            scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
            assertThat(scripted.engine.inUse()).isZero();
        }

        /** The first copy may have run: the hold is the caller's then, and is found under its id. */
        @Test
        void anAnswerThatIsLostIsAskedForAgainUnderTheSameId() {
            CompletableFuture<Lease> asked = takeOver();
            Sent lost = scripted.next("transfer");
            lost.expire();
            assertThat(asked).isNotDone();
            scripted.timer.tick(Duration.ofSeconds(3));
            Sent again = scripted.next("transfer");
            assertThat(again.id()).isEqualTo(lost.id());
            again.answer(new Reply.Granted(200, TTL.toMillis(), 0));
            assertThat(asked.join().isValid()).isTrue();
        }

        @Test
        void withoutAnyAnswerItIsUnavailableAndWhatItMayHaveTakenIsGivenBack() {
            CompletableFuture<Lease> asked = takeOver();
            Sent sent = scripted.next("transfer");
            while (sent.script().equals("transfer")) {
                sent.expire();
                while (scripted.sentCount() == 0) {
                    scripted.timer.tick(Duration.ofSeconds(1));
                }
                sent = scripted.next();
            }
            assertThat(sent.script()).isEqualTo("unlock");
            assertThat(sent.argument(2)).as("the token that was used before").isEqualTo("207");
            sent.answer(Reply.Plain.RELEASED);
            assertThatExceptionOfType(CompletionException.class)
                    .isThrownBy(asked::join)
                    .withCauseInstanceOf(LockUnavailableException.class);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void whoeverCancelsItGivesItBack() {
            CompletableFuture<Lease> asked = takeOver();
            Sent sent = scripted.next("transfer");
            asked.cancel(true);
            sent.answer(new Reply.Granted(200, TTL.toMillis(), 0));
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.id()).isEqualTo(sent.id());
            assertThat(unlock.argument(2)).as("the token that was used before").isEqualTo("207");
            unlock.answer(Reply.Plain.RELEASED);
            assertThat(scripted.engine.inUse()).isZero();
        }

        @Test
        void nobodyHereIsServedUnderItAndNobodyIsOvertaken() {
            CompletableFuture<Lease> waiter = scripted.acquire(WAIT);
            scripted.next("acquire").answer(new Reply.Queued(1, 200, TTL.toMillis()));
            Lease lease = taken();
            lease.closeAfter(Duration.ZERO);
            Sent unlock = scripted.next("unlock");
            assertThat(unlock.argument(3)).doesNotContain("session"); // queues nobody
            unlock.answer(Reply.Plain.GRANTED_NEXT);
            assertThat(waiter).isNotDone();
        }

        @Test
        void anAnnouncedChangeReachesIt() {
            scripted.announcesChanges = true;
            Lease lease = taken();
            assertThat(scripted.engine.isHeldHere(NAME)).isTrue();
            scripted.timer.tick(Duration.ofSeconds(1));
            scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
            scripted.engine.onChanged(scripted.store.keyOf(NAME));
            scripted.timer.tick(Duration.ZERO);
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
            assertThat(lease.isValid()).isFalse();
            assertThat(scripted.engine.inUse()).isZero();
        }
    }
}
