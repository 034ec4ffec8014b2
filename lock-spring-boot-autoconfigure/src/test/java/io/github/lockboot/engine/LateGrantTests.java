package io.github.lockboot.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A grant whose lease is over when its caller learns of it. Nobody else has the lock, so that is no contention. */
class LateGrantTests {

    private static final Duration TTL = Duration.ofSeconds(1);
    private static final Duration LATE = Duration.ofMillis(1_500);

    private final ScriptedEngine scripted = new ScriptedEngine(64);

    static List<Kind> kinds() {
        return List.of(Kind.EXCLUSIVE, Kind.SHARED, Kind.limitedTo(3));
    }

    /** Redis grants the lock, and the answer takes longer than the lease. It is given back and asked for again. */
    private void grantLate() {
        Sent acquire = scripted.next("acquire");
        scripted.timer.tick(LATE);
        acquire.answer(new Reply.Granted(100, TTL.toMillis(), 0));
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
    }

    private static void assertUnavailable(CompletableFuture<?> call) {
        assertThat(call)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockUnavailableException.class)
                .withMessageContaining("Redis granted the lock, but too late");
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aTryOfAFreeLockThatRedisAnswersTooLateIsAnOutage(Kind kind) {
        CompletableFuture<Lease> trying = scripted.acquire(kind, Duration.ZERO, TTL);
        grantLate();
        assertUnavailable(trying);
        scripted.nothingIsSent();
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aWaitForAFreeLockThatRedisAnswersTooLateAgainAndAgainIsAnOutage(Kind kind) {
        CompletableFuture<Lease> waiting = scripted.acquire(kind, Duration.ofSeconds(5), TTL);
        grantLate();
        grantLate();
        grantLate();
        assertThat(waiting).isNotDone();
        scripted.timer.tick(Duration.ofSeconds(5));
        assertUnavailable(waiting);
    }

    @Test
    void aThreadLearnsTheSame() throws Exception {
        NamedLock lock = EngineLocks.of(
                scripted.engine,
                ScriptedEngine.NAME,
                LockOptions.defaults().withTtl(TTL).withWaitTime(Duration.ZERO).withRenewal());
        try (Actor actor = new Actor()) {
            CompletableFuture<Boolean> trying = actor.start(lock::tryLock);
            Actor.await("it waits", () -> scripted.sentCount() == 1 && actor.isWaiting());
            Sent acquire = scripted.next("acquire");
            scripted.timer.tick(LATE);
            acquire.answer(new Reply.Granted(100, TTL.toMillis(), 0));
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> Actor.get(trying))
                    .withMessageContaining("Redis granted the lock, but too late")
                    .withMessageContaining("(its lease ran out)");
        }
    }

    @Test
    void aCallWithSeveralLocksAsksAgainAndThenLearnsTheSame() throws Exception {
        LockOptions options =
                LockOptions.defaults().withTtl(TTL).withWaitTime(Duration.ZERO).withRenewal();
        List<LockContext> both = List.of(
                HeldLocks.wanted(EngineLocks.of(scripted.engine, "a", options), null, null),
                HeldLocks.wanted(EngineLocks.of(scripted.engine, "b", options), null, null));
        try (Actor actor = new Actor()) {
            CompletableFuture<HeldLocks> taking = actor.start(() -> HeldLocks.acquire(both));
            Actor.await("it waits", () -> scripted.sentCount() == 2 && actor.isWaiting());
            answerLate(scripted.next("acquire"), scripted.next("acquire"));
            Actor.await("it gives them back and asks again", () -> scripted.sentCount() == 3 && actor.isWaiting());
            scripted.next("unlock");
            scripted.next("unlock");
            answerLate(scripted.next("acquire"));
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> Actor.get(taking))
                    .withMessageContaining("Redis granted the lock, but too late");
        }
    }

    private void answerLate(Sent... commands) {
        scripted.timer.tick(LATE);
        Stream.of(commands).forEach(each -> each.answer(new Reply.Granted(100, TTL.toMillis(), 0)));
    }

    /** As a process that is stopped between the answer and the caller that wakes. */
    @Test
    void aGrantThatItsCallerSeesTooLateIsAnOutage() {
        CompletableFuture<Lease> trying = scripted.acquire(Duration.ZERO, TTL, true);
        scripted.holdThreads();
        scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
        scripted.timer.stopFor(LATE);
        scripted.resumeThreads();
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertUnavailable(trying);
        scripted.nothingIsSent();
    }

    @Test
    void ifAnotherHasItByTheNextAnswerThatIsContention() {
        CompletableFuture<Lease> waiting = scripted.acquire(Duration.ofSeconds(2), TTL, true);
        grantLate();
        scripted.next("acquire").answer(new Reply.Queued(1, 200, 30_000));
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(waiting)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockNotAcquiredException.class);
    }

    @Test
    void ifTheNextAnswerComesInTimeTheLockIsHeld() {
        CompletableFuture<Lease> waiting = scripted.acquire(Duration.ofSeconds(5), TTL, true);
        grantLate();
        scripted.next("acquire").answer(new Reply.Granted(101, TTL.toMillis(), 0));
        assertThat(waiting.join().isValid()).isTrue();
    }

    /** It was held here until then: whoever waits behind it is refused as ever. */
    @Test
    void whoeverWaitsForALockThatIsLostHereIsRefused() {
        CompletableFuture<Lease> held = scripted.acquire(Duration.ZERO, TTL, false);
        scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
        CompletableFuture<Lease> waiting = scripted.acquire(Duration.ofSeconds(2), TTL, false);
        scripted.timer.tick(Duration.ofMillis(1_500));
        assertThat(held.join().isValid()).isFalse();
        scripted.next("acquire");
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(waiting)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(LockNotAcquiredException.class);
    }
}
