package io.github.lockboot.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Who is refused because others wait, with answers in a chosen order. */
class MaxWaitingRulesTests {

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration NONE = Duration.ZERO;

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    private CompletableFuture<Lease> acquire(int maxWaiting, Kind kind) {
        return scripted.acquireBehindFewerThan(maxWaiting, kind, LONG);
    }

    private List<CompletableFuture<Lease>> acquire(int callers, int maxWaiting, Kind kind) {
        return Stream.generate(() -> acquire(maxWaiting, kind)).limit(callers).toList();
    }

    private static Reply.Granted granted(long grantNumber) {
        return new Reply.Granted(grantNumber, ScriptedEngine.TTL.toMillis(), 0);
    }

    private static void assertRefused(int waiting, CompletableFuture<Lease> caller) {
        assertThatThrownBy(caller::join)
                .cause()
                .isInstanceOf(LockNotAcquiredException.class)
                .hasMessageContaining("too many callers of this instance wait for it already: " + waiting
                        + ", and maxWaiting of group 'group' is ");
    }

    private static void assertRefused(int waiting, List<CompletableFuture<Lease>> callers) {
        callers.forEach(caller -> assertRefused(waiting, caller));
    }

    @Test
    void oneHoldsSoManyWaitAndAllOthersAreRefusedWithoutACommand() {
        Lease held = scripted.granted(100, ScriptedEngine.TTL);
        List<CompletableFuture<Lease>> waiting = acquire(20, 20, Kind.EXCLUSIVE);
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        assertRefused(20, acquire(179, 20, Kind.EXCLUSIVE));
        scripted.nothingIsSent();
        held.closeAfter(NONE);
        assertThat(waiting.get(0)).isCompleted();
        CompletableFuture<Lease> next = acquire(20, Kind.EXCLUSIVE);
        assertThat(next).isNotDone();
        assertRefused(20, acquire(20, Kind.EXCLUSIVE));
        scripted.nothingIsSent();
    }

    /** Until then nobody knows who has to wait: it may be nobody, or the first one, too. */
    @Test
    void aBurstOnALockOfWhichNothingIsKnownIsDecidedByTheFirstAnswer() {
        List<CompletableFuture<Lease>> burst = acquire(10, 1, Kind.EXCLUSIVE);
        assertThat(burst).noneMatch(CompletableFuture::isDone);
        scripted.next("acquire").answer(granted(100));
        assertThat(burst.get(0)).isCompleted();
        assertThat(burst.get(1)).isNotDone();
        assertRefused(1, burst.subList(2, 10));
        scripted.nothingIsSent();
    }

    @Test
    void ofABurstOnALockThatAnotherInstanceHoldsOneWaits() {
        List<CompletableFuture<Lease>> burst = acquire(10, 1, Kind.EXCLUSIVE);
        scripted.next("acquire").answer(new Reply.Queued(1, 100, 30_000));
        assertThat(burst.get(0)).isNotDone();
        assertRefused(1, burst.subList(1, 10));
        assertRefused(1, acquire(1, Kind.EXCLUSIVE));
    }

    @Test
    void readersThatAreServedTogetherDoNotWait() {
        List<CompletableFuture<Lease>> readers = acquire(10, 1, Kind.SHARED);
        scripted.next("acquire").answer(granted(100));
        assertThat(readers).allMatch(CompletableFuture::isDone).noneMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(acquire(1, Kind.SHARED)).isCompleted();
    }

    @Test
    void ofReadersBehindAWriterSoManyWait() {
        List<CompletableFuture<Lease>> readers = acquire(10, 3, Kind.SHARED);
        scripted.next("acquire").answer(new Reply.Queued(1, 100, 30_000));
        assertThat(readers.subList(0, 3)).noneMatch(CompletableFuture::isDone);
        assertRefused(3, readers.subList(3, 10));
    }

    @Test
    void callersForWhomThereArePermitsDoNotWait() {
        List<CompletableFuture<Lease>> callers = acquire(5, 1, Kind.limitedTo(2));
        scripted.next("acquire").answer(granted(100));
        assertThat(callers.subList(1, 5)).noneMatch(CompletableFuture::isDone);
        scripted.next("acquire").answer(granted(200));
        assertThat(callers.subList(0, 2)).allMatch(CompletableFuture::isDone);
        scripted.next("acquire").answer(new Reply.Queued(1, 200, 30_000));
        assertThat(callers.get(2)).isNotDone();
        assertRefused(1, callers.subList(3, 5));
        assertRefused(1, acquire(1, Kind.limitedTo(2)));
        scripted.nothingIsSent();
    }

    @Test
    void aCallerThatTriesOnceIsNeitherCountedNorRefusedForTheNumber() {
        CompletableFuture<Lease> first = scripted.acquireBehindFewerThan(1, Kind.EXCLUSIVE, NONE);
        CompletableFuture<Lease> waits = acquire(1, Kind.EXCLUSIVE);
        CompletableFuture<Lease> tries = scripted.acquireBehindFewerThan(1, Kind.EXCLUSIVE, NONE);
        scripted.next("acquire").answer(granted(100));
        assertThat(first).isCompleted();
        assertThat(waits).isNotDone();
        assertThatThrownBy(tries::join).hasMessageContaining("another caller held it");
    }

    @Test
    void eachCallerHasItsOwnLimit() {
        scripted.granted(100, ScriptedEngine.TTL);
        CompletableFuture<Lease> any = scripted.acquire(LONG);
        assertRefused(1, acquire(1, Kind.EXCLUSIVE));
        CompletableFuture<Lease> three = acquire(3, Kind.EXCLUSIVE);
        assertRefused(2, acquire(2, Kind.EXCLUSIVE));
        assertThat(List.of(any, three, scripted.acquire(LONG))).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void whoLeavesMakesRoom() {
        scripted.granted(100, ScriptedEngine.TTL);
        CompletableFuture<Lease> leaving = acquire(1, Kind.EXCLUSIVE);
        assertRefused(1, acquire(1, Kind.EXCLUSIVE));
        leaving.cancel(true);
        assertThat(acquire(1, Kind.EXCLUSIVE)).isNotDone();
        CompletableFuture<Lease> brief = scripted.acquireBehindFewerThan(2, Kind.EXCLUSIVE, Duration.ofSeconds(1));
        scripted.timer.tick(Duration.ofSeconds(2));
        assertThat(brief).isCompletedExceptionally();
        assertThat(acquire(2, Kind.EXCLUSIVE)).isNotDone();
    }

    /** Its grant came too late, and it is the first again. */
    @Test
    void aCallerThatIsPutBackDoesNotDriveOutOneThatWaits() {
        Lease held = scripted.granted(100, ScriptedEngine.TTL);
        CompletableFuture<Lease> first = acquire(1, Kind.EXCLUSIVE);
        scripted.holdThreads();
        held.closeAfter(NONE);
        CompletableFuture<Lease> second = acquire(1, Kind.EXCLUSIVE);
        scripted.timer.setWallForwardBy(ScriptedEngine.TTL);
        scripted.resumeThreads();
        assertThat(List.of(first, second)).noneMatch(CompletableFuture::isDone);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        Sent asked = scripted.next("acquire");
        assertRefused(2, acquire(1, Kind.EXCLUSIVE));
        asked.answer(new Reply.Queued(1, 100, 30_000));
        assertThat(List.of(first, second)).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void duringAnOutageNoMoreWaitThanBefore() {
        CompletableFuture<Lease> waits = acquire(1, Kind.EXCLUSIVE);
        scripted.next("acquire").answer(new Reply.Queued(1, 100, 30_000));
        scripted.timer.tick(Duration.ofSeconds(2));
        scripted.next("acquire").fail("cut");
        assertRefused(1, acquire(1, Kind.EXCLUSIVE));
        assertThat(waits).isNotDone();
    }

    @Test
    void anOutageIsNoRefusal() {
        List<CompletableFuture<Lease>> burst = acquire(3, 1, Kind.EXCLUSIVE);
        scripted.next("acquire").expire();
        burst.forEach(caller -> assertThatThrownBy(caller::join).hasCauseInstanceOf(LockUnavailableException.class));
    }
}
