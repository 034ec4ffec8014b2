package io.github.lockboot.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.LockUse;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.redis.protocol.Kind;
import io.github.lockboot.redis.protocol.RedisFailure.SeveralSlotsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Several locks that are asked for, or released, by one command. */
class TogetherRulesTests {

    private static final Reply.Owner OWNER = new Reply.Owner(7, ScriptedEngine.TTL.toMillis(), 0);
    private static final Reply.Busy BUSY = new Reply.Busy(0);

    private final RecordingLockListener listener = new RecordingLockListener();
    private final ScriptedEngine scripted = new ScriptedEngine(64, listener);

    private static LockRequest request(String name) {
        Terms terms = new Terms(Kind.EXCLUSIVE.permits(), ScriptedEngine.TTL.toMillis(), true);
        return new LockRequest(name, null, terms, 0, 0);
    }

    private List<CompletableFuture<Lease>> attempts(String... names) {
        List<CompletableFuture<Lease>> attempts = new ArrayList<>();
        scripted.engine.together(
                () -> Stream.of(names).forEach(name -> attempts.add(scripted.engine.attemptAsync(request(name)))));
        return attempts;
    }

    private List<Lease> granted(String... names) {
        List<CompletableFuture<Lease>> attempts = attempts(names);
        scripted.next("acquire all")
                .answer(new Reply.All(
                        Stream.of(names).map(name -> (Reply) OWNER).toList()));
        return attempts.stream().map(CompletableFuture::join).toList();
    }

    private List<CompletableFuture<Void>> released(List<Lease> leases) {
        List<CompletableFuture<Void>> released = new ArrayList<>();
        scripted.engine.together(() -> leases.forEach(lease -> released.add(lease.closeAfter(Duration.ZERO))));
        return released;
    }

    private HeldLocks.Wanted wanted(String name, Duration wait) {
        LockOptions options = LockOptions.defaults()
                .withTtl(ScriptedEngine.TTL)
                .withWaitTime(wait)
                .withRenewal();
        return new HeldLocks.Wanted(EngineLocks.of(scripted.engine, name, options), wait, null, null);
    }

    private static void assertFailed(List<CompletableFuture<Lease>> attempts, Class<?> with) {
        for (CompletableFuture<Lease> each : attempts) {
            assertThat(each)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(with);
        }
    }

    private void allIsOver() {
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    @Test
    void oneCommandTakesAllAndOneReleasesAll() {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        ScriptedEngine.Sent sent = scripted.next("acquire all");
        assertThat(sent.call().key()).isEqualTo("lock:a lock:b");
        assertThat(List.of(sent.argument(1), sent.argument(3))).containsOnly("30000");
        assertThat(sent.argument(0)).isNotEqualTo(sent.argument(2));
        scripted.nothingIsSent();
        sent.answer(new Reply.All(List.of(OWNER, OWNER)));
        List<CompletableFuture<Void>> released =
                released(attempts.stream().map(CompletableFuture::join).toList());
        ScriptedEngine.Sent unlock = scripted.next("unlock all");
        assertThat(List.of(unlock.argument(0), unlock.argument(2))).containsExactly(sent.argument(0), sent.argument(2));
        unlock.answer(new Reply.All(List.of(Reply.Plain.RELEASED, Reply.Plain.RELEASED)));
        assertThat(released).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
        allIsOver();
        assertThat(listener.told)
                .containsExactly(
                        "requested a",
                        "acquired a ASKED",
                        "requested b",
                        "acquired b ASKED",
                        "released a",
                        "released b");
    }

    /** Otherwise a listener would wait for ever for the end of what it was told last. */
    @Test
    void whatIsLostBeforeAllListenersLearnOfItIsToldAsLostAtTheEnd() {
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
        several.engine.together(() -> Stream.of("a", "b").forEach(name -> several.engine.attemptAsync(request(name))));
        ScriptedEngine.Sent sent = several.next("acquire all");
        loss.add(() -> several.engine.revoke(sent.argument(2), "deleted"));
        sent.answer(new Reply.All(List.of(OWNER, OWNER)));
        assertThat(listener.told)
                .containsExactly(
                        "requested a", "acquired a ASKED", "requested b", "acquired b ASKED", "lost b deleted");
    }

    @Test
    void whatOtherThreadsAskMeanwhileIsSentAtOnce() throws Exception {
        try (Actor other = new Actor()) {
            scripted.engine.together(() -> {
                CompletableFuture<Lease> first = scripted.engine.attemptAsync(request("a"));
                assertThat(first).isNotDone();
                try {
                    other.run(() -> scripted.engine.acquireAsync(request("c")));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                scripted.next("acquire").answer(BUSY);
                scripted.engine.attemptAsync(request("b"));
                scripted.nothingIsSent();
            });
        }
        scripted.next("acquire all").answer(new Reply.All(List.of(BUSY, BUSY)));
        allIsOver();
    }

    /** All or none is no question for one: the answer of Redis counts. */
    @Test
    void oneAloneIsAskedForAndReleasedByItsOwnCommand() {
        List<CompletableFuture<Lease>> attempts = attempts("a");
        scripted.next("acquire").answer(OWNER);
        List<CompletableFuture<Void>> released =
                released(attempts.stream().map(CompletableFuture::join).toList());
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(released).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
        allIsOver();
    }

    @Test
    void ifOneIsTakenNoneIsHeldAndNoListenerLearnsOfIt() {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        scripted.next("acquire all").answer(new Reply.All(List.of(BUSY, BUSY)));
        assertFailed(attempts, LockNotAcquiredException.class);
        allIsOver();
        assertThat(listener.told).isEmpty();
    }

    /** Redis may do what it was asked later, so it is asked to forget each id. */
    @Test
    void withoutAnAnswerEachIsGivenBack() {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        scripted.next("acquire all").fail("Redis did not answer in time");
        assertFailed(attempts, LockUnavailableException.class);
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        scripted.next("cancel").answer(Reply.Plain.UNKNOWN);
        allIsOver();
        assertThat(listener.told).containsExactly("requested a", "unavailable a", "requested b", "unavailable b");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void aReplyForAnotherNumberOfLocksIsNone(int replies) {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        scripted.next("acquire all")
                .answer(new Reply.All(
                        Stream.generate(() -> (Reply) OWNER).limit(replies).toList()));
        assertThat(attempts).allMatch(CompletableFuture::isCompletedExceptionally);
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        allIsOver();
    }

    /** The second by a proxy before a Cluster. */
    @Test
    void whatRedisRefusesNowTheCallerMayAskAgain() {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        scripted.next("acquire all").fail("LOADING Redis is loading the dataset in memory");
        assertFailed(attempts, LockNotAcquiredException.class);
        scripted.next("cancel").answer(Reply.Plain.UNKNOWN);
        scripted.next("cancel").answer(Reply.Plain.UNKNOWN);
        allIsOver();
        assertThat(listener.told).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TRYAGAIN Multiple keys request during rehashing of slot",
                "CROSSSLOT Keys in request don't hash to the same slot",
                "ERR eval/evalsha command keys must be in same slot"
            })
    void whatRedisRefusesForItsSeveralKeysIsSentOneByOne(String refusal) {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        scripted.next("acquire all").fail(refusal);
        scripted.next("acquire").answer(OWNER);
        scripted.next("acquire").answer(OWNER);
        List<CompletableFuture<Void>> released =
                released(attempts.stream().map(CompletableFuture::join).toList());
        scripted.next("unlock all").fail(refusal);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(released).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
        allIsOver();
        assertThat(listener.told).endsWith("released a", "released b");
    }

    @Test
    void keysOfSeveralSlotsAreTakenAndReleasedOneByOne() {
        List<CompletableFuture<Lease>> attempts = attempts("a", "b");
        scripted.next("acquire all").reply().completeExceptionally(new SeveralSlotsException());
        assertThat(attempts).allMatch(CompletableFuture::isCompletedExceptionally);
        allIsOver();
        List<CompletableFuture<Void>> released = released(granted("c", "d"));
        scripted.next("unlock all").reply().completeExceptionally(new SeveralSlotsException());
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(released).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
        allIsOver();
    }

    @Test
    void whatIsNotReleasedWithTheOthersIsReleasedAlone() {
        List<Lease> leases = granted("a", "b", "c");
        List<CompletableFuture<Void>> released = released(leases);
        scripted.next("unlock all")
                .answer(new Reply.All(List.of(Reply.Plain.SKIPPED, Reply.Plain.RELEASED, Reply.Plain.SKIPPED)));
        ScriptedEngine.Sent first = scripted.next("unlock");
        ScriptedEngine.Sent third = scripted.next("unlock");
        assertThat(List.of(first.call().key(), third.call().key())).containsExactly("lock:a", "lock:c");
        first.answer(Reply.Plain.HANDED_OVER);
        third.answer(Reply.Plain.NOT_OWNER);
        assertThat(released.get(0)).isCompleted();
        assertThat(released.get(2)).isCompletedExceptionally();
        allIsOver();
    }

    @Test
    void aReleaseWithoutAnAnswerIsRepeatedForEach() {
        List<CompletableFuture<Void>> released = released(granted("a", "b"));
        scripted.next("unlock all").fail("Redis did not answer in time");
        scripted.next("unlock").answer(Reply.Plain.NOT_OWNER);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(released).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
        allIsOver();
    }

    @Test
    void aThreadThatIsInterruptedBeforeTheAnswerHasNone() throws Exception {
        try (Actor caller = new Actor()) {
            Duration wait = Duration.ofMinutes(1);
            CompletableFuture<HeldLocks> taking =
                    caller.start(() -> LockRuntime.take(List.of(wanted("a", wait), wanted("b", wait))));
            Actor.await("it waits for the answer", () -> scripted.sentCount() == 1 && caller.isWaiting());
            caller.interrupt();
            assertThatExceptionOfType(LockNotAcquiredException.class)
                    .isThrownBy(() -> Actor.get(taking))
                    .withCauseInstanceOf(InterruptedException.class);
        }
        ScriptedEngine.Sent late = scripted.next("acquire all");
        scripted.next("cancel").answer(Reply.Plain.UNKNOWN);
        scripted.next("cancel").answer(Reply.Plain.UNKNOWN);
        late.answer(new Reply.All(List.of(OWNER, OWNER)));
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        scripted.next("cancel").answer(Reply.Plain.GIVEN_AWAY);
        allIsOver();
    }

    @Test
    void afterARefusalTheyAreAskedForOneByOneWithTheTimeThatIsLeft() throws Exception {
        try (Actor caller = new Actor()) {
            Duration wait = Duration.ofMinutes(1);
            CompletableFuture<HeldLocks> taking =
                    caller.start(() -> LockRuntime.take(List.of(wanted("a", wait), wanted("b", wait))));
            Actor.await("it has asked", () -> scripted.sentCount() == 1 && caller.isWaiting());
            scripted.next("acquire all").answer(new Reply.All(List.of(BUSY, BUSY)));
            Actor.await("it asks for the first", () -> scripted.sentCount() == 1 && caller.isWaiting());
            ScriptedEngine.Sent first = scripted.next("acquire");
            assertThat(first.call().key()).isEqualTo("lock:a");
            first.answer(OWNER);
            Actor.await("it asks for the second", () -> scripted.sentCount() == 1 && caller.isWaiting());
            ScriptedEngine.Sent second = scripted.next("acquire");
            assertThat(second.call().key()).isEqualTo("lock:b");
            second.answer(OWNER);
            HeldLocks held = Actor.get(taking);
            assertThat(held.size()).isEqualTo(2);
            CompletableFuture<Void> releasing = caller.begin(() -> held.release(true));
            Actor.await("it releases", () -> scripted.sentCount() == 1 && caller.isWaiting());
            scripted.next("unlock all").answer(new Reply.All(List.of(Reply.Plain.RELEASED, Reply.Plain.RELEASED)));
            Actor.get(releasing);
        }
        allIsOver();
    }

    @Test
    void aLockThatIsInUseHereIsWaitedForHere() throws Exception {
        CompletableFuture<Lease> held = scripted.acquireNamed("b", Duration.ZERO);
        scripted.next("acquire").answer(OWNER);
        try (Actor caller = new Actor()) {
            CompletableFuture<HeldLocks> taking = caller.start(
                    () -> LockRuntime.take(List.of(wanted("a", Duration.ZERO), wanted("b", Duration.ZERO))));
            Actor.await("it asks for the first", () -> scripted.sentCount() == 1 && caller.isWaiting());
            scripted.next("acquire").answer(OWNER);
            Actor.await("it gives that back", () -> scripted.sentCount() == 1 && caller.isWaiting());
            scripted.next("unlock").answer(Reply.Plain.RELEASED);
            assertThat(Actor.get(taking).refusal()).isNotNull();
        }
        CompletableFuture<Void> released = held.join().closeAfter(Duration.ZERO);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(released).isCompleted();
        allIsOver();
    }
}
