package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.LockUse;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Several locks that are tried, or released, without waiting for one answer before the next is sent. */
class SeveralRulesTests {

    private static final Reply.Granted GRANTED = new Reply.Granted(7, ScriptedEngine.TTL.toMillis(), 0);
    private static final Reply.Busy BUSY = new Reply.Busy(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** How the locks may share. */
    enum How {
        EXCLUSIVE,
        SHARED,
        PERMITS;

        LockOptions of(LockOptions options) {
            return this == SHARED ? options.shared() : this == PERMITS ? options.withPermits(2) : options;
        }
    }

    /** Whose the holds are. */
    enum Whose {
        THREAD,
        CALL
    }

    private final RecordingLockListener listener = new RecordingLockListener();
    private final ScriptedEngine scripted = new ScriptedEngine(64, listener);

    private static LockRequest request(String name) {
        Terms terms = Terms.exclusive(ScriptedEngine.TTL.toMillis(), true);
        return new LockRequest(name, null, terms, 0, 0, false, false, LockRequest.ANY_NUMBER).attempted();
    }

    private List<CompletableFuture<Lease>> attempts(String... names) {
        return Stream.of(names)
                .map(name -> scripted.engine.acquireAsync(request(name)))
                .toList();
    }

    private NamedLock lock(String name, LockOptions options) {
        return EngineLocks.of(scripted.engine, name, options);
    }

    private static LockOptions options(How how, Duration wait) {
        return how.of(LockOptions.defaults()
                .withTtl(ScriptedEngine.TTL)
                .withWaitTime(wait)
                .withRenewal());
    }

    private LockContext wanted(String name, How how, Whose whose, Duration wait) {
        NamedLock lock = lock(name, options(how, wait));
        LockRequest request = ((EngineLock) lock).request;
        return HeldLocks.wanted(
                lock,
                whose == Whose.THREAD
                        ? null
                        : left -> scripted.engine.acquireAsync(request.waiting(LockRequest.nanosOf(left))),
                null);
    }

    private LockContext wanted(String name, Duration wait) {
        return wanted(name, How.EXCLUSIVE, Whose.THREAD, wait);
    }

    private void awaitCommands(Actor caller, int count) {
        Actor.await(
                count + " commands are sent before it waits",
                () -> scripted.sentCount() == count && caller.isWaiting());
    }

    private Sent next(String script, String name) {
        Sent next = scripted.next(script);
        assertThat(next.call().key()).isEqualTo("lock:" + name);
        return next;
    }

    /** An attempt to acquire the lock, which joins no queue. */
    private Sent nextAttempt(String name) {
        Sent attempt = next("acquire", name);
        assertThat(attempt.argument(4)).as("whether it queues").isEqualTo("0");
        return attempt;
    }

    private static void assertFailed(CompletableFuture<Lease> attempt, Class<?> with) {
        assertThat(attempt)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(with);
    }

    private void allIsOver() {
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    // --- one round trip ---------------------------------------------------------------------------------------

    @ParameterizedTest
    @EnumSource
    void ofAnyKindAllAreAskedForAndReleasedWithoutWaitingBetween(How how) throws Exception {
        for (Whose whose : Whose.values()) {
            try (Actor caller = new Actor()) {
                List<LockContext> wanted = Stream.of("a", "b", "c")
                        .map(name -> wanted(name, how, whose, MINUTE))
                        .toList();
                CompletableFuture<HeldLocks> taking = caller.start(() -> HeldLocks.acquire(wanted));
                awaitCommands(caller, 3);
                List<Sent> attempts =
                        Stream.of("a", "b", "c").map(this::nextAttempt).toList();
                attempts.forEach(each -> each.answer(GRANTED));
                HeldLocks held = Actor.get(taking);
                assertThat(held.size()).isEqualTo(3);
                CompletableFuture<Void> releasing = caller.begin(() -> held.release(true));
                awaitCommands(caller, 3);
                Stream.of("c", "b", "a")
                        .map(name -> next("unlock", name))
                        .toList()
                        .forEach(each -> each.answer(Reply.Plain.RELEASED));
                Actor.get(releasing);
            }
            allIsOver();
        }
    }

    @ParameterizedTest
    @EnumSource
    void soDoesACallThatBlocksNoThread(How how) {
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(Stream.of("a", "b")
                .map(name -> wanted(name, how, Whose.CALL, MINUTE))
                .toList());
        List<Sent> attempts = Stream.of("a", "b").map(this::nextAttempt).toList();
        scripted.nothingIsSent();
        attempts.forEach(each -> each.answer(GRANTED));
        CompletableFuture<Void> released = taking.join().releaseLater(true);
        List<Sent> unlocks =
                Stream.of("b", "a").map(name -> next("unlock", name)).toList();
        scripted.nothingIsSent();
        unlocks.forEach(each -> each.answer(Reply.Plain.RELEASED));
        assertThat(released).isCompleted();
        allIsOver();
    }

    // --- a part at a time -------------------------------------------------------------------------------------

    private static final int MANY = 2_000;
    private static final int MOST_AT_ONCE = 256;

    private List<LockContext> many(Whose whose) {
        return IntStream.range(0, MANY)
                .mapToObj(i -> wanted("lock " + i, How.EXCLUSIVE, whose, MINUTE))
                .toList();
    }

    /** Answers all, when no more are sent. {@return how many parts there were} */
    private int answerAll(String script, Reply reply, Runnable awaitPart) {
        int parts = 0;
        for (int left = MANY; left > 0; parts++) {
            awaitPart.run();
            int part = scripted.sentCount();
            assertThat(part).isBetween(1, MOST_AT_ONCE);
            left -= part;
            for (; part > 0; part--) {
                scripted.next(script).answer(reply);
            }
        }
        return parts;
    }

    @ParameterizedTest
    @EnumSource
    void noMoreThanSoManyCommandsOfACallAreUnderWay(Whose whose) throws Exception {
        try (Actor caller = new Actor()) {
            Runnable awaitPart = () -> Actor.await("it waits", () -> scripted.sentCount() > 0 && caller.isWaiting());
            CompletableFuture<HeldLocks> taking = caller.start(() -> HeldLocks.acquire(many(whose)));
            assertThat(answerAll("acquire", GRANTED, awaitPart)).isEqualTo(MANY / MOST_AT_ONCE + 1);
            HeldLocks held = Actor.get(taking);
            CompletableFuture<Void> releasing = caller.begin(() -> held.release(true));
            answerAll("unlock", Reply.Plain.RELEASED, awaitPart);
            Actor.get(releasing);
        }
        allIsOver();
    }

    @Test
    void norOfOneThatBlocksNoThread() {
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(many(Whose.CALL));
        Sent first = nextAttempt("lock 0");
        for (int i = 1; i < MOST_AT_ONCE; i++) {
            nextAttempt("lock " + i).answer(GRANTED);
        }
        scripted.nothingIsSent();
        first.answer(GRANTED);
        for (int i = MOST_AT_ONCE; i < MANY; i++) {
            nextAttempt("lock " + i).answer(GRANTED);
        }
        CompletableFuture<Void> released = taking.join().releaseLater(true);
        Sent last = next("unlock", "lock " + (MANY - 1));
        for (int i = 1; i < MOST_AT_ONCE; i++) {
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }
        scripted.nothingIsSent();
        last.answer(Reply.Plain.RELEASED);
        for (int i = MOST_AT_ONCE; i < MANY; i++) {
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }
        assertThat(released).isCompleted();
        allIsOver();
    }

    @Test
    void afterTheFirstThatIsTakenNoFurtherPartIsTried() {
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(many(Whose.CALL));
        nextAttempt("lock 0").answer(BUSY);
        for (int i = 1; i < MOST_AT_ONCE; i++) {
            nextAttempt("lock " + i).answer(GRANTED);
        }
        for (int i = 1; i < MOST_AT_ONCE; i++) {
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
        }
        assertThat(next("acquire", "lock 0").argument(4))
                .as("whether it queues")
                .isEqualTo("1");
        scripted.nothingIsSent();
        taking.cancel(false);
    }

    // --- if one is taken --------------------------------------------------------------------------------------

    /** The time that has passed counts. */
    @Test
    void thoseFromTheFirstThatIsTakenOnAreAcquiredOneByOne() throws Exception {
        try (Actor caller = new Actor()) {
            CompletableFuture<HeldLocks> taking = caller.start(
                    () -> HeldLocks.acquire(List.of(wanted("a", MINUTE), wanted("b", MINUTE), wanted("c", MINUTE))));
            awaitCommands(caller, 3);
            nextAttempt("a").answer(GRANTED);
            nextAttempt("b").answer(BUSY);
            nextAttempt("c").answer(GRANTED);
            awaitCommands(caller, 1);
            next("unlock", "c").answer(Reply.Plain.RELEASED);
            awaitCommands(caller, 1);
            Sent second = next("acquire", "b");
            assertThat(second.argument(4)).as("whether it queues").isEqualTo("1");
            second.answer(GRANTED);
            awaitCommands(caller, 1);
            next("acquire", "c").answer(GRANTED);
            HeldLocks held = Actor.get(taking);
            CompletableFuture<Void> releasing = caller.begin(() -> held.release(true));
            awaitCommands(caller, 3);
            Stream.of("c", "b", "a").forEach(name -> next("unlock", name).answer(Reply.Plain.RELEASED));
            Actor.get(releasing);
        }
        allIsOver();
        assertThat(listener.told)
                .containsExactly(
                        "requested a",
                        "acquired a ASKED",
                        "requested c",
                        "acquired c ASKED",
                        "released c",
                        "requested b",
                        "acquired b ASKED",
                        "requested c",
                        "acquired c ASKED",
                        "released c",
                        "released b",
                        "released a");
    }

    @Test
    void soDoesACallThatBlocksNoThreadIfOneIsTaken() {
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(Stream.of("a", "b", "c")
                .map(name -> wanted(name, How.EXCLUSIVE, Whose.CALL, MINUTE))
                .toList());
        nextAttempt("a").answer(GRANTED);
        nextAttempt("b").answer(BUSY);
        nextAttempt("c").answer(GRANTED);
        Sent release = next("unlock", "c");
        scripted.nothingIsSent();
        release.answer(Reply.Plain.RELEASED);
        next("acquire", "b").answer(GRANTED);
        next("acquire", "c").answer(GRANTED);
        assertThat(taking.join().size()).isEqualTo(3);
    }

    /** Its listener is notified of one refusal, and the name in the exception is that of the lock that was taken. */
    @Test
    void withoutTimeToWaitARefusalIsTheOutcome() throws Exception {
        try (Actor caller = new Actor()) {
            CompletableFuture<HeldLocks> taking = caller.start(
                    () -> HeldLocks.acquire(List.of(wanted("a", Duration.ZERO), wanted("b", Duration.ZERO))));
            awaitCommands(caller, 2);
            nextAttempt("a").answer(GRANTED);
            nextAttempt("b").answer(BUSY);
            awaitCommands(caller, 1);
            nextAttempt("b").answer(BUSY);
            awaitCommands(caller, 1);
            next("unlock", "a").answer(Reply.Plain.RELEASED);
            HeldLocks refused = Actor.get(taking);
            assertThat(refused.refusedAt()).isEqualTo(1);
            assertThat(refused.refusal().getLockName()).isEqualTo("b");
        }
        allIsOver();
        assertThat(listener.told)
                .containsExactly("requested a", "acquired a ASKED", "requested b", "notAcquired b", "released a");
    }

    @Test
    void anAttemptThatIsRefusedIsNoUseOfTheLock() {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        nextAttempt("a").answer(BUSY);
        nextAttempt("b").answer(BUSY);
        attempts.forEach(each -> assertFailed(each, LockNotAcquiredException.class));
        allIsOver();
        assertThat(listener.told).isEmpty();
    }

    @Test
    void whatRedisRefusesNowTheCallerMayAskAgain() {
        List<CompletableFuture<Lease>> attempts = attempts("a");
        nextAttempt("a").fail("LOADING Redis is loading the dataset in memory");
        assertFailed(attempts.get(0), LockNotAcquiredException.class);
        next("unlock", "a").answer(Reply.Plain.NOT_HOLDER);
        allIsOver();
        assertThat(listener.told).isEmpty();
    }

    // --- locks in use here ------------------------------------------------------------------------------------

    @Test
    void aLockThatAnotherCallerHereHasIsRefusedWithoutACommand() throws Exception {
        CompletableFuture<Lease> held = scripted.acquireNamed("b", Duration.ZERO);
        scripted.next("acquire").answer(GRANTED);
        try (Actor caller = new Actor()) {
            CompletableFuture<HeldLocks> taking = caller.start(
                    () -> HeldLocks.acquire(List.of(wanted("a", Duration.ZERO), wanted("b", Duration.ZERO))));
            awaitCommands(caller, 1);
            nextAttempt("a").answer(GRANTED);
            awaitCommands(caller, 1);
            next("unlock", "a").answer(Reply.Plain.RELEASED);
            assertThat(Actor.get(taking).refusedAt()).isEqualTo(1);
        }
        CompletableFuture<Void> released = held.join().closeAfter(Duration.ZERO);
        next("unlock", "b").answer(Reply.Plain.RELEASED);
        assertThat(released).isCompleted();
        allIsOver();
    }

    @Test
    void aLockThatTheThreadHasIsEnteredAgain() throws Exception {
        try (Actor caller = new Actor()) {
            NamedLock second = lock("b", options(How.EXCLUSIVE, MINUTE));
            CompletableFuture<Void> locking = caller.begin(second::lock);
            awaitCommands(caller, 1);
            next("acquire", "b").answer(GRANTED);
            Actor.get(locking);
            CompletableFuture<HeldLocks> taking =
                    caller.start(() -> HeldLocks.acquire(List.of(wanted("a", MINUTE), wanted("b", MINUTE))));
            awaitCommands(caller, 1);
            nextAttempt("a").answer(GRANTED);
            HeldLocks held = Actor.get(taking);
            assertThat(caller.call(second::getHoldCount)).isEqualTo(2);
            CompletableFuture<Void> releasing = caller.begin(() -> held.release(true));
            awaitCommands(caller, 1);
            next("unlock", "a").answer(Reply.Plain.RELEASED);
            Actor.get(releasing);
            assertThat(caller.call(second::getHoldCount)).isEqualTo(1);
        }
    }

    /** Also if it is a reader's lock or a permit. */
    @ParameterizedTest
    @EnumSource
    void aNameThatIsWantedTwiceIsHeldTwice(How how) throws Exception {
        try (Actor caller = new Actor()) {
            CompletableFuture<HeldLocks> taking = caller.start(() -> HeldLocks.acquire(
                    List.of(wanted("a", how, Whose.THREAD, MINUTE), wanted("a", how, Whose.THREAD, MINUTE))));
            answerUntil(taking);
            HeldLocks held = Actor.get(taking);
            assertThat(held.size()).isEqualTo(2);
            answerUntil(caller.begin(() -> held.release(true)));
            NamedLock lock = lock("a", options(how, MINUTE));
            assertThat(caller.call(lock::getHoldCount)).isZero();
        }
        allIsOver();
    }

    private void answerUntil(CompletableFuture<?> done) {
        Actor.await("it is done", () -> {
            if (scripted.sentCount() > 0) {
                Sent next = scripted.next();
                next.answer(next.script().equals("acquire") ? GRANTED : Reply.Plain.RELEASED);
            }
            return done.isDone();
        });
    }

    @Test
    void aLockThatTheThreadHasAsAnotherKindIsRefusedAndNoneIsKept() throws Exception {
        try (Actor caller = new Actor()) {
            NamedLock reader = lock("b", options(How.SHARED, MINUTE));
            CompletableFuture<Void> locking = caller.begin(reader::lock);
            awaitCommands(caller, 1);
            next("acquire", "b").answer(GRANTED);
            Actor.get(locking);
            CompletableFuture<HeldLocks> taking =
                    caller.start(() -> HeldLocks.acquire(List.of(wanted("a", MINUTE), wanted("b", MINUTE))));
            awaitCommands(caller, 1);
            nextAttempt("a").answer(GRANTED);
            awaitCommands(caller, 1);
            next("unlock", "a").answer(Reply.Plain.RELEASED);
            assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> Actor.get(taking));
        }
    }

    // --- without an answer ------------------------------------------------------------------------------------

    /** Redis may do later what it was asked, so it is asked to forget the id. */
    @Test
    void withoutAnAnswerTheCallFailsAndTheOthersAreReleased() throws Exception {
        try (Actor caller = new Actor()) {
            CompletableFuture<HeldLocks> taking =
                    caller.start(() -> HeldLocks.acquire(List.of(wanted("a", MINUTE), wanted("b", MINUTE))));
            awaitCommands(caller, 2);
            nextAttempt("a").fail("Redis did not answer in time");
            next("acquire", "b").answer(GRANTED);
            next("unlock", "a").answer(Reply.Plain.RELEASED);
            awaitCommands(caller, 1);
            next("unlock", "b").answer(Reply.Plain.RELEASED);
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(() -> Actor.get(taking))
                    .satisfies(failure -> assertThat(failure.getLockName()).isEqualTo("a"));
        }
        allIsOver();
        assertThat(listener.told)
                .containsExactly("requested a", "unavailable a", "requested b", "acquired b ASKED", "released b");
    }

    @Test
    void aReleaseWithoutAnAnswerIsRepeated() {
        CompletableFuture<HeldLocks> taking = HeldLocks.acquireAsync(Stream.of("a", "b")
                .map(name -> wanted(name, How.EXCLUSIVE, Whose.CALL, MINUTE))
                .toList());
        nextAttempt("a").answer(GRANTED);
        nextAttempt("b").answer(GRANTED);
        CompletableFuture<Void> released = taking.join().releaseLater(true);
        next("unlock", "b").fail("Redis did not answer in time");
        next("unlock", "a").answer(Reply.Plain.RELEASED);
        assertThat(released).isCompleted();
        next("unlock", "b").answer(Reply.Plain.NOT_HOLDER);
        allIsOver();
    }

    /** The first is answered, the second is waited for, and the third has not been looked at. */
    @Test
    void anInterruptNamesTheLockThatWasWaitedForAndNoneIsHeld() throws Exception {
        try (Actor caller = new Actor()) {
            CompletableFuture<HeldLocks> taking = caller.start(
                    () -> HeldLocks.acquire(List.of(wanted("a", MINUTE), wanted("b", MINUTE), wanted("c", MINUTE))));
            awaitCommands(caller, 3);
            nextAttempt("a").answer(GRANTED);
            Sent late = nextAttempt("b");
            nextAttempt("c").answer(GRANTED);
            Actor.await("it waits for the second", caller::isWaiting);
            caller.interrupt();
            awaitCommands(caller, 2);
            next("unlock", "c").answer(Reply.Plain.RELEASED);
            next("unlock", "a").answer(Reply.Plain.RELEASED);
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> Actor.get(taking))
                    .withCauseInstanceOf(InterruptedException.class)
                    .satisfies(failure -> assertThat(failure.getLockName()).isEqualTo("b"));
            late.answer(GRANTED);
            next("unlock", "b").answer(Reply.Plain.RELEASED);
        }
        allIsOver();
    }

    // --- listeners --------------------------------------------------------------------------------------------

    /** Otherwise a listener would wait for ever for the end of what it was told last. */
    @Test
    void whatIsLostBeforeAllListenersLearnOfItIsReportedAsLostAtTheEnd() {
        List<Runnable> loss = new ArrayList<>();
        LockListener slow = new LockListener() {
            @Override
            public void requested(LockUse use) {
                if (use.name().equals("b")) {
                    loss.forEach(Runnable::run);
                }
            }
        };
        ScriptedEngine several = new ScriptedEngine(64, slow, listener);
        Stream.of("a", "b").forEach(name -> several.engine.acquireAsync(request(name)));
        Sent first = several.next("acquire");
        Sent second = several.next("acquire");
        loss.add(() -> several.engine.revoke(second.id(), "deleted"));
        first.answer(GRANTED);
        second.answer(GRANTED);
        assertThat(listener.told)
                .containsExactly(
                        "requested a", "acquired a ASKED", "requested b", "acquired b ASKED", "lost b deleted");
    }

    /** A thread that tries a lock may ask about others before it waits for the answer. */
    @Test
    void anAttemptOfAThreadIsAwaitedWhenItLikes() throws Exception {
        EngineLock first = (EngineLock) lock("a", options(How.EXCLUSIVE, MINUTE));
        Callable<@Nullable Lease> attempt = first.attempt(true);
        nextAttempt("a").answer(GRANTED);
        assertThat(first.isHeldByCurrentThread()).isFalse();
        assertThat(attempt.call()).isNull();
        assertThat(first.isHeldByCurrentThread()).isTrue();
    }
}
