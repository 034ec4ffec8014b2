package io.github.lockboot.redis.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.engine.ScriptedEngine.Sent;
import io.github.lockboot.redis.protocol.Kind;
import io.github.lockboot.redis.protocol.Reply;
import org.junit.jupiter.api.Test;

import static io.github.lockboot.redis.engine.ScriptedEngine.NAME;
import static io.github.lockboot.redis.engine.ScriptedEngine.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What several holds of one thread or one JVM are to each other, and how the last of them ends. */
class HoldRulesTests {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final LockOptions OPTIONS =
            LockOptions.defaults().withTtl(TTL).withWaitTime(Duration.ZERO).withRenewal();

    private final ScriptedEngine scripted = new ScriptedEngine(64);
    private final NamedLock write = EngineLocks.of(scripted.engine, NAME, OPTIONS);
    private final NamedLock read = EngineLocks.of(scripted.engine, NAME, OPTIONS.shared());

    private CompletableFuture<Lease> shared() {
        return scripted.acquire(Kind.SHARED, LONG);
    }

    /** On the thread of the actor, to which Redis answers. */
    private boolean tryLock(Actor actor, NamedLock lock, Reply answer) {
        CompletableFuture<Boolean> result = actor.start(lock::tryLock);
        Actor.await("it asks or is answered", () -> scripted.sentCount() > 0 || result.isDone());
        if (!result.isDone()) {
            scripted.next("acquire").answer(answer);
        }
        return result.join();
    }

    private static Reply owner(long fence) {
        return new Reply.Owner(fence, TTL.toMillis(), 0);
    }

    @Test
    void aReaderWhoseWorkIsNotDoneIsWaitedForAlthoughAnotherIsKept() {
        CompletableFuture<Lease> kept = shared();
        scripted.next("acquire").answer(owner(100));
        Lease working = shared().join();
        kept.join().closeAfter(LONG);
        CompletableFuture<Void> drained = scripted.engine.drain(TTL.toNanos());
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isNotDone();
        working.closeAfter(Duration.ZERO);
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isDone();
    }

    @Test
    void aLeaseThatIsToCloseLaterIsDoneWhenTheRegistryIsClosed() {
        CompletableFuture<Void> closed = scripted.granted(100, TTL).closeAfter(LONG);
        scripted.engine.close();
        assertThat(closed).isCompleted();
    }

    @Test
    void aLeaseThatIsToCloseAfterTheRegistryIsDoneAtOnce() {
        Lease lease = scripted.granted(100, TTL);
        scripted.engine.close();
        assertThat(lease.closeAfter(LONG)).isCompleted();
    }

    @Test
    void aHoldOfAThreadThatIsToCloseLaterIsHeldNoLongerThanItsMaxHold() throws Exception {
        NamedLock lock = EngineLocks.of(scripted.engine, NAME, OPTIONS.withMaxHold(Duration.ofSeconds(5)));
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, lock, owner(100))).isTrue();
            CompletableFuture<Void> closed = actor.call(() -> lock.asLease().closeAfter(LONG));
            scripted.timer.tick(TTL.dividedBy(2));
            scripted.nothingIsSent();
            assertThat(actor.call(lock::isHeldByCurrentThread)).isTrue();
            scripted.timer.tick(TTL.dividedBy(2));
            assertThat(actor.call(lock::isHeldByCurrentThread)).isFalse();
            scripted.engine.close();
            assertThat(closed).isNotDone();
        }
    }

    @Test
    void eachWriterThatBecomesAReaderTellsRedisHoweverManyThereAre() {
        List<Hold> writers = new ArrayList<>();
        for (int i = 0; i <= 1_000; i++) {
            CompletableFuture<Lease> future = scripted.acquireNamed("n" + i, LONG);
            scripted.next("acquire").answer(owner(100));
            writers.add((Hold) future.join());
        }
        writers.forEach(writer -> scripted.engine.queue(writer.name()).downgrade(writer));
        assertThat(scripted.sentCount()).isEqualTo(1_001);
    }

    /** Another thread has released the write side, and the lock is on its way back to Redis. */
    @Test
    void theReadSideCannotBeTakenUnderAWriteSideThatIsBeingReleased() throws Exception {
        AtomicReference<Boolean> entered = new AtomicReference<>();
        Hold.Releaser releaser = new Hold.Releaser() {

            @Override
            public CompletableFuture<Hold.Release> release(Hold hold) {
                entered.set(hold.enterAgain(true));
                return CompletableFuture.completedFuture(Hold.Release.PASSED_ON);
            }

            @Override
            public void downgrade(Hold hold) {}

            @Override
            public CompletableFuture<Hold.Release> complete(Hold hold) {
                return release(hold);
            }

            @Override
            public void renewAgain(Hold hold) {}

            @Override
            public void endLapsed() {}
        };
        Hold granted = (Hold) scripted.granted(100, TTL);
        EngineContext context = scripted.engine.context();
        Hold hold = new Hold(context, releaser, "id", granted.grant(), granted.waiter());
        hold.claim();
        hold.exit(false);
        assertThat(entered).hasValue(false);
    }

    @Test
    void anUnlockAfterTheEndOfTheLeaseTellsOfTheLossAlsoIfItIsNotTheLast() throws Exception {
        try (Actor actor = new Actor()) {
            tryLock(actor, write, owner(100));
            actor.run(write::lock);
            scripted.timer.stopFor(TTL.multipliedBy(2));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(write::unlock));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(write::unlock));
        }
        scripted.nothingIsSent();
    }

    @Test
    void aWriterThatBecomesAReaderAfterTheEndOfItsLeaseIsToldOfTheLoss() throws Exception {
        try (Actor actor = new Actor()) {
            tryLock(actor, write, owner(100));
            actor.run(read::lock);
            scripted.timer.stopFor(TTL.multipliedBy(2));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(write::unlock));
            assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> actor.run(read::unlock));
        }
        scripted.nothingIsSent();
    }

    @Test
    void whatDependsOnTheDrainIsNotRunOnTheTimersThread() {
        scripted.granted(100, TTL);
        scripted.holdThreads();
        CompletableFuture<Void> drained =
                scripted.engine.drain(Duration.ofMillis(100).toNanos());
        scripted.timer.tick(Duration.ofSeconds(1));
        assertThat(drained).isNotDone();
        scripted.resumeThreads();
        assertThat(drained).isCompleted();
    }

    @Test
    void whatDependsOnTheConnectionIsNotRunOnTheTimersThreadOrTheChannels() {
        CompletableFuture<Void> connected = scripted.engine.connect("first");
        scripted.next("acquire").answer(owner(100));
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        scripted.holdThreads();
        scripted.engine.onSubscribed();
        scripted.timer.tick(Duration.ofSeconds(2));
        assertThat(connected).isNotDone();
        scripted.resumeThreads();
        assertThat(connected).isCompleted();
    }

    @Test
    void aThreadWhoseReadLeaseIsOverMayWrite() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, read, owner(100))).isTrue();
            scripted.timer.stopFor(TTL);
            assertThat(actor.call(read::isHeldByCurrentThread)).isFalse();
            assertThat(tryLock(actor, write, owner(200))).isTrue();
        }
    }

    @Test
    void aReadLeaseThatIsOverIsNotRenewedByALateAnswerWhileItsThreadWaitsToWrite() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, read, owner(100))).isTrue();
            scripted.timer.tick(TTL.dividedBy(3));
            Sent renewal = scripted.next("renew");
            scripted.timer.stopFor(TTL);
            CompletableFuture<Boolean> written = actor.start(write::tryLock);
            Actor.await("it asks", () -> scripted.sentCount() > 0);
            renewal.answer(new Reply.Renewed(TTL.toMillis(), 0));
            scripted.next("acquire").answer(owner(200));
            assertThat(written.join()).isTrue();
            assertThat(actor.call(read::isHeldByCurrentThread))
                    .as("under the write side only")
                    .isFalse();
        }
    }

    @Test
    void aThreadWhoseLeaseIsOverSinceItBecameAReaderMayWrite() throws Exception {
        try (Actor actor = new Actor()) {
            assertThat(tryLock(actor, write, owner(100))).isTrue();
            assertThat(tryLock(actor, read, owner(100))).isTrue();
            actor.run(write::unlock);
            scripted.next("downgrade").answer(new Reply.Renewed(TTL.toMillis(), 0));
            scripted.timer.stopFor(TTL);
            assertThat(actor.call(read::isHeldByCurrentThread)).isFalse();
            assertThat(tryLock(actor, write, owner(200))).isTrue();
        }
    }
}
