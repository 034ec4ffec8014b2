package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import org.junit.jupiter.api.Test;

import static io.github.lockboot.engine.ScriptedEngine.NAME;
import static io.github.lockboot.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A release that is sent, and not awaited: what its answer does when it comes. */
class SentReleaseRulesTests {

    private static final Duration LONG = Duration.ofMinutes(1);

    private final RecordingLockListener listener = new RecordingLockListener();
    private final ScriptedEngine scripted = new ScriptedEngine(64, listener);
    private final AtomicInteger losses = new AtomicInteger();

    private CompletableFuture<Lease> request() {
        Terms terms = Terms.exclusive(TTL.toMillis(), true);
        return scripted.engine.acquireAsync(
                new LockRequest(NAME, null, terms, LONG.toNanos(), 0, false, false, LockRequest.ANY_NUMBER));
    }

    private Lease granted(long token) {
        CompletableFuture<Lease> request = request();
        scripted.next("acquire").answer(new Reply.Granted(token, TTL.toMillis(), 0));
        Lease lease = request.join();
        lease.onLost(losses::incrementAndGet);
        listener.clear();
        return lease;
    }

    private void assertToldOnly(String what) {
        scripted.timer.tick(LONG);
        assertThat(listener.told).containsExactly(what);
        assertThat(losses).hasValue(what.startsWith("lost") ? 1 : 0);
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void itsCallerGoesOnAndTheReleaseIsToldWithTheAnswer() {
        Lease lease = granted(100);
        lease.close();
        assertThat(lease.isValid()).isFalse();
        assertThat(listener.told).isEmpty();
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertToldOnly("released name");
    }

    @Test
    void aFutureOfItIsDoneAtOnce() {
        Lease lease = granted(100);
        assertThat(lease.closeAfter(Duration.ZERO)).isCompleted();
        assertThat(listener.told).isEmpty();
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertToldOnly("released name");
    }

    @Test
    void whoComesRightBehindAsksRightBehind() {
        granted(100).close();
        CompletableFuture<Lease> next = request();
        Sent unlock = scripted.next("unlock");
        scripted.next("acquire").answer(new Reply.Granted(200, TTL.toMillis(), 0));
        assertThat(next.join().fencingToken()).isEqualTo(200);
        unlock.answer(Reply.Plain.RELEASED);
        assertThat(next.join().isValid()).isTrue();
    }

    @Test
    void aLossThatTheAnswerShowsIsToldOnceAndNotThrown() {
        Lease lease = granted(100);
        lease.close();
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        assertToldOnly("lost name it had already ended when it was released");
    }

    @Test
    void aLossThatTheFutureDoesNotKnowIsToldAllTheSame() {
        Lease lease = granted(100);
        CompletableFuture<Void> closed = lease.closeAfter(Duration.ZERO);
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        assertThat(closed).isCompleted();
        assertToldOnly("lost name it had already ended when it was released");
    }

    @Test
    void whatASecondCopyMayHaveAnsweredIsNoLoss() {
        granted(100).close();
        scripted.epoch++;
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        assertToldOnly("released name");
    }

    @Test
    void aLossThatIsKnownIsThrown() {
        Lease lease = granted(100);
        scripted.timer.tick(TTL.dividedBy(3));
        scripted.next("renew").answer(Reply.Plain.NOT_HOLDER);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
        scripted.nothingIsSent();
        assertToldOnly("lost name it had already ended when it was renewed");
    }

    @Test
    void aLeaseThatIsOverByOurClockIsALossThatIsThrown() {
        Lease lease = granted(100);
        scripted.timer.stopFor(TTL);
        assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
        scripted.nothingIsSent();
        assertToldOnly("lost name its lease ran out");
    }

    @Test
    void anUnknownOutcomeIsToldAndSettled() {
        granted(100).close();
        scripted.next("unlock").fail("no answer");
        assertThat(listener.told).containsExactly("released name unknown");
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertToldOnly("released name unknown");
    }

    @Test
    void theShutdownWaitsForTheAnswer() {
        granted(100).close();
        scripted.engine.stopGranting();
        CompletableFuture<Void> drained = scripted.engine.drain(LONG.toNanos());
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isNotDone();
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isCompleted();
    }

    @Test
    void whoWaitsHereGetsItWithoutACommand() {
        Lease lease = granted(100);
        CompletableFuture<Lease> next = request();
        lease.close();
        assertThat(next.join().fencingToken()).isEqualTo(101);
        assertThat(listener.told).contains("released name");
        scripted.nothingIsSent();
    }

    /** Each would be repeated by every instance once Redis is back. */
    @Test
    void beyondAThousandReleasesWithoutAnswerALockIsLeftToExpire() {
        for (int i = 0; i <= 1_000; i++) {
            CompletableFuture<Lease> future = scripted.acquireNamed("n" + i, LONG);
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            future.join().closeAfter(Duration.ZERO);
            scripted.next("unlock").expire();
            if (i < 1_000) {
                scripted.next("unlock"); // repeated
            }
            scripted.nothingIsSent();
        }
    }
}
