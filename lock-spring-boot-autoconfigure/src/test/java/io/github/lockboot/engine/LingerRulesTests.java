package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.SESSION;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What each event does to a lock that lingers: its last hold is released, and it stays for a while. */
class LingerRulesTests {

    private static final Duration WAIT = Duration.ofMinutes(10);
    private static final Duration LINGER = Duration.ofSeconds(1);
    private static final Duration LEASE = Duration.ofMillis(LockStore.CLAIM_LEASE_MILLIS);
    private static final Duration TICK = Duration.ofMillis(1);

    private final ScriptedEngine scripted = new ScriptedEngine(64);
    private final AtomicInteger losses = new AtomicInteger();

    private CompletableFuture<Lease> request(Duration wait, Duration linger) {
        Terms terms = Terms.exclusive(ScriptedEngine.TTL.toMillis(), true).lingering(linger.toNanos());
        return scripted.engine.acquireAsync(
                new LockRequest(NAME, null, terms, wait.toNanos(), 0, true, false, LockRequest.ANY_NUMBER));
    }

    private CompletableFuture<Lease> request() {
        return request(Duration.ZERO, LINGER);
    }

    private Lease granted(long token, Duration linger) {
        CompletableFuture<Lease> request = request(WAIT, linger);
        scripted.next("acquire").answer(new Reply.Granted(token, LEASE.toMillis(), 0));
        request.join().onLost(losses::incrementAndGet);
        return request.join();
    }

    /** A lock that lingers from now on. */
    private void lingering(long token, Duration linger) {
        granted(token, linger).close();
        scripted.nothingIsSent();
    }

    private void lingering() {
        lingering(100, LINGER);
    }

    /** It has been given back, with this token as the last one. */
    private void assertGivenBack(long lastToken) {
        Sent unlock = scripted.next("unlock");
        assertThat(unlock.id()).isEqualTo(SESSION + "-1");
        assertThat(unlock.argument(2)).isEqualTo(String.valueOf(lastToken));
        unlock.answer(Reply.Plain.RELEASED);
        assertAllIsOver();
    }

    private void assertAllIsOver() {
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
        assertThat(losses).hasValue(0);
        scripted.timer.tick(WAIT);
        scripted.nothingIsSent();
    }

    @Test
    void itsLeaseIsAsShortAsThatOfAWaiterThatIsGrantedTheLock() {
        request();
        assertThat(scripted.next("acquire").argument(2)).isEqualTo("6000");
    }

    @Test
    void aShorterLeaseStays() {
        Terms terms = Terms.exclusive(2_000, true).lingering(LINGER.toNanos());
        assertThat(terms.ttlMillis()).isEqualTo(2_000);
    }

    @Test
    void whoComesBackIsServedWithTheNextTokenAndWithoutACommand() {
        lingering();
        for (int token = 101; token < 110; token++) {
            Lease again = request().join();
            assertThat(again.fencingToken()).isEqualTo(token);
            assertThat(again.isValid()).isTrue();
            again.close();
        }
        scripted.nothingIsSent();
    }

    @Test
    void itIsGivenBackWhenItsTimeIsOver() {
        lingering();
        scripted.timer.tick(LINGER.minus(TICK));
        scripted.nothingIsSent();
        scripted.timer.tick(TICK);
        assertGivenBack(100);
    }

    @Test
    void onceItIsGivenBackNothingIsPlannedForIt() {
        granted(100, Duration.ZERO).close();
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        int planned = scripted.timer.planned();
        lingering(200, LINGER);
        scripted.push(SESSION + "-2", 0, Duration.ZERO, 1);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(scripted.timer.planned()).isEqualTo(planned);
    }

    @Test
    void itsTimeCountsFromTheLastRelease() {
        lingering();
        scripted.timer.tick(LINGER.dividedBy(2));
        Lease again = request().join();
        scripted.timer.tick(LINGER.dividedBy(4));
        again.close();
        scripted.timer.tick(LINGER.minus(TICK));
        scripted.nothingIsSent();
        scripted.timer.tick(TICK);
        assertGivenBack(101);
    }

    @Test
    void itIsRenewedForAsLongAsItLingers() {
        lingering(100, LEASE.multipliedBy(2));
        for (int i = 0; i < 5; i++) {
            scripted.timer.tick(LEASE.dividedBy(3));
            Sent renewal = scripted.next("renew");
            assertThat(renewal.argument(3)).isEqualTo("6000");
            renewal.answer(new Reply.Renewed(LEASE.toMillis(), 0));
        }
        assertThat(request(Duration.ZERO, LEASE.multipliedBy(2)).join().isValid())
                .isTrue();
    }

    @Test
    void itIsRenewedAlthoughItsLastHoldWasHeldTooLong() {
        Terms terms = Terms.exclusive(LEASE.toMillis(), true).lingering(LEASE.toNanos());
        CompletableFuture<Lease> stuck = scripted.engine.acquireAsync(
                new LockRequest(NAME, null, terms, WAIT.toNanos(), 1, true, false, LockRequest.ANY_NUMBER));
        scripted.next("acquire").answer(new Reply.Granted(100, LEASE.toMillis(), 0));
        scripted.timer.tick(LEASE.dividedBy(2));
        scripted.nothingIsSent();
        stuck.join().close();
        scripted.timer.tick(TICK);
        scripted.next("renew").answer(new Reply.Renewed(LEASE.toMillis(), 0));
    }

    @Test
    void aHintGivesItBackAtOnce() {
        lingering();
        scripted.push(SESSION + "-1", 0, Duration.ZERO, 1);
        assertGivenBack(100);
    }

    @Test
    void afterAHintThatCameDuringTheHoldItDoesNotLinger() {
        Lease lease = granted(100, LINGER);
        scripted.push(SESSION + "-1", 0, Duration.ZERO, 1);
        lease.closeAfter(Duration.ZERO);
        assertGivenBack(100);
    }

    @Test
    void whereOthersWaitedWhenItWasGrantedItDoesNotLinger() {
        CompletableFuture<Lease> request = request(WAIT, LINGER);
        scripted.next("acquire").answer(new Reply.Granted(100, LEASE.toMillis(), 1));
        request.join().closeAfter(Duration.ZERO);
        assertGivenBack(100);
    }

    @Test
    void aHintThatWasLostIsMadeUpForByTheNextRenewal() {
        lingering(100, LEASE.multipliedBy(2));
        scripted.timer.tick(LEASE.dividedBy(3));
        scripted.next("renew").answer(new Reply.Renewed(LEASE.toMillis(), 1));
        assertGivenBack(100);
    }

    @Test
    void withoutTheChannelItDoesNotLinger() {
        Lease lease = granted(100, LINGER);
        scripted.channelLive = false;
        lease.closeAfter(Duration.ZERO);
        assertGivenBack(100);
    }

    @Test
    void whenTheChannelIsLostItIsGivenBackWithinASecond() {
        lingering(100, LEASE.multipliedBy(2));
        scripted.channelLive = false;
        scripted.timer.tick(Duration.ofSeconds(1));
        assertGivenBack(100);
    }

    @Test
    void whoWantsOtherTermsAsksRightBehindTheRelease() {
        lingering();
        CompletableFuture<Lease> other = scripted.acquire(Duration.ZERO);
        Sent unlock = scripted.next("unlock");
        Sent acquire = scripted.next("acquire");
        unlock.answer(Reply.Plain.RELEASED);
        acquire.answer(new Reply.Granted(200, ScriptedEngine.TTL.toMillis(), 0));
        assertThat(other.join().fencingToken()).isEqualTo(200);
    }

    @Test
    void whoFindsTooLittleOfTheLeaseAsksRightBehindTheRelease() {
        lingering(100, LEASE);
        scripted.timer.stopFor(LEASE.multipliedBy(3).dividedBy(4));
        CompletableFuture<Lease> next = request(Duration.ZERO, LEASE);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.next("acquire").answer(new Reply.Granted(200, LEASE.toMillis(), 0));
        assertThat(next.join().fencingToken()).isEqualTo(200);
    }

    @Test
    void whoFindsItsLeaseInDoubtAsksRightBehindTheRelease() {
        lingering(100, LEASE);
        scripted.timer.setWallForwardBy(LEASE);
        CompletableFuture<Lease> next = request(Duration.ZERO, LEASE);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.next("acquire").answer(new Reply.Granted(200, LEASE.toMillis(), 0));
        assertThat(next.join().isValid()).isTrue();
    }

    @Test
    @Tag("not-for-mutants")
    void withItsLastTokenItDoesNotLinger() {
        lingering();
        for (long token = 101; token < 100 + LockStore.TOKENS_PER_GRANT - 1; token++) {
            request().join().close();
        }
        scripted.nothingIsSent();
        request().join().closeAfter(Duration.ZERO);
        assertGivenBack(100 + LockStore.TOKENS_PER_GRANT - 1);
    }

    @Test
    void whoWaitsHereComesFirst() {
        Lease lease = granted(100, LINGER);
        CompletableFuture<Lease> next = request(WAIT, LINGER);
        lease.close();
        assertThat(next.join().fencingToken()).isEqualTo(101);
        next.join().close();
        scripted.nothingIsSent();
    }

    @Test
    void whoComesWhileAnotherHasItAgainIsRefused() {
        lingering();
        Lease again = request().join();
        assertThatThrownBy(request()::join).hasCauseInstanceOf(LockNotAcquiredException.class);
        assertThat(again.isValid()).isTrue();
    }

    @Test
    void aDowngradedHoldDoesNotLinger() {
        Hold hold = Hold.of(granted(100, LINGER));
        scripted.engine.name(LockKind.EXCLUSIVE, NAME).downgrade(hold);
        scripted.next("downgrade").answer(new Reply.Granted(100, LEASE.toMillis(), 0));
        hold.closeAfter(Duration.ZERO);
        assertGivenBack(100);
    }

    @Nested
    class Lost {

        @Test
        void toAnotherNobodyIsTold() {
            lingering(100, LEASE);
            scripted.timer.tick(LEASE.dividedBy(3));
            scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
            assertAllIsOver();
        }

        @Test
        void withItsLeaseNobodyIsTold() {
            lingering(100, WAIT);
            for (int i = 0; i < LEASE.toMillis(); i += 100) {
                scripted.timer.tick(Duration.ofMillis(100));
                while (scripted.sentCount() > 0) {
                    Sent sent = scripted.next();
                    if (sent.script().equals("renew")) {
                        sent.fail("no answer");
                    } else {
                        sent.answer(Reply.Plain.NOT_HOLDER); // it is asked to forget the id
                    }
                }
            }
            assertAllIsOver();
        }

        @Test
        void whoComesThenAsks() {
            lingering(100, LEASE);
            scripted.engine.revoke(SESSION + "-1", "taken by another");
            CompletableFuture<Lease> next = request(Duration.ZERO, LEASE);
            scripted.next("acquire").answer(new Reply.Granted(200, LEASE.toMillis(), 0));
            assertThat(next.join().fencingToken()).isEqualTo(200);
        }
    }

    @Nested
    class AtShutdown {

        @Test
        void itIsGivenBackAtOnce() {
            lingering();
            CompletableFuture<Void> stopped = scripted.engine.stopGranting();
            assertThat(stopped).isNotDone();
            CompletableFuture<Void> drained = scripted.engine.drain(WAIT.toNanos());
            assertGivenBack(100);
            assertThat(stopped).isCompleted();
            assertThat(drained).isCompleted();
        }

        @Test
        void aHoldThatEndsThenDoesNotLinger() {
            Lease lease = granted(100, LINGER);
            scripted.engine.stopGranting();
            lease.closeAfter(Duration.ZERO);
            assertGivenBack(100);
        }

        @Test
        void whoComesIsRefused() {
            lingering();
            scripted.engine.stopGranting();
            assertThatThrownBy(request()::join).hasCauseInstanceOf(LockUnavailableException.class);
            assertGivenBack(100);
        }
    }
}
