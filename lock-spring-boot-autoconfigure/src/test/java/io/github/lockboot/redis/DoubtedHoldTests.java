package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.lockboot.Actor;
import io.github.lockboot.HeldLocks;
import io.github.lockboot.Lease;
import io.github.lockboot.LockContext.Keep;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.EngineLocks;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.ScriptedEngine;
import io.github.lockboot.engine.ScriptedEngine.Sent;
import io.github.lockboot.internal.HeldByThread;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A thread whose lease has run out by the time of day, but not by the monotonic clock: the machine slept, or somebody
 * set the clock.
 */
class DoubtedHoldTests {

    private static final Duration TTL = ScriptedEngine.TTL;

    private final ScriptedEngine scripted = new ScriptedEngine(64);
    private final NamedLock lock = EngineLocks.of(
            scripted.engine,
            ScriptedEngine.NAME,
            LockOptions.defaults().withTtl(TTL).withWaitTime(Duration.ZERO).withRenewal());
    private final Actor holder = new Actor();

    @BeforeEach
    void holdAndDoubt() throws Exception {
        CompletableFuture<Boolean> locked = holder.start(lock::tryLock);
        Actor.await("it asks", () -> scripted.sentCount() > 0);
        scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
        assertThat(Actor.get(locked)).isTrue();
        scripted.timer.setWallForwardBy(TTL);
    }

    @AfterEach
    void end() {
        holder.close();
    }

    private void release() throws Exception {
        CompletableFuture<Void> released = holder.start(() -> {
            lock.unlock();
            return null;
        });
        Actor.await("it releases", () -> scripted.sentCount() > 0);
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        Actor.get(released);
        assertThat(scripted.engine.inUse()).isZero();
    }

    /** It would wait for itself otherwise. */
    @Test
    void itsThreadEntersItAgain() throws Exception {
        assertThat(holder.<Boolean>call(lock::tryLock)).isTrue();
        holder.run(lock::unlock);
        scripted.nothingIsSent();
        release();
    }

    @Test
    void itIsRenewedAndGoesOn() throws Exception {
        scripted.timer.tick(Duration.ofSeconds(1));
        scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
        assertThat(holder.<Boolean>call(lock::isHeldByCurrentThread)).isTrue();
        release();
    }

    /** {@code if (lock.isHeldByCurrentThread()) lock.unlock()} has passed it by: nobody would ever release it. */
    @Test
    void onceItsThreadWasToldThatItHasNoHoldItIsNotRenewed() throws Exception {
        assertThat(holder.<Boolean>call(lock::isHeldByCurrentThread)).isFalse();
        scripted.timer.tick(TTL);
        scripted.nothingIsSent();
        assertThat(scripted.engine.inUse()).isZero();
    }

    /** Code under the annotation or the template: its lock is released, whatever it was told. */
    @Test
    void whatTheLibraryAsksForItselfDoesNotEndTheRenewal() throws Exception {
        holder.run(() -> {
            HeldLocks held = HeldLocks.acquire(List.of(HeldLocks.wanted(lock, null, null)));
            assertThat(held.findLoss("before a commit")).isNotNull();
            assertThat(held.innermost().isValid()).isFalse();
            scripted.timer.tick(Duration.ofSeconds(1));
            scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
            assertThat(held.innermost().isValid()).isTrue();
            held.release(true);
        });
        release();
    }

    /** The next submit would run at once. */
    @Test
    void itIsKeptAfterItsCall() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        try (Actor caller = new Actor()) {
            CompletableFuture<Void> call = caller.begin(() -> keep(held -> {
                scripted.timer.setWallForwardBy(TTL);
                over.set(true);
            }));
            Actor.await("it is kept", () -> over.get() && scripted.sentCount() > 0);
            Sent kept = scripted.next("keep");
            assertThat(kept.call().key()).isEqualTo("lock:kept");
            kept.answer(Reply.Plain.KEPT);
            Actor.get(call);
        }
    }

    @Test
    void whatIsOverByTheMonotonicClockIsNotKept() {
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(() -> keep(held -> scripted.timer.stopFor(TTL)))
                .withMessageContaining("kept");
    }

    private void keep(Consumer<HeldLocks> body) {
        Function<Duration, CompletableFuture<Lease>> leasing = wait -> {
            CompletableFuture<Lease> lease = scripted.acquireNamed("kept", wait);
            scripted.next("acquire").answer(new Reply.Granted(100, TTL.toMillis(), 0));
            return lease;
        };
        HeldLocks held =
                HeldLocks.acquire(List.of(HeldLocks.wanted(lock, leasing, new Keep(Duration.ofMinutes(1), false))));
        held.runAndRelease(() -> held.call(() -> false, () -> {
            body.accept(held);
            return null;
        }));
    }

    /** Commits are not checked for it any more, so its thread must not believe in it again. */
    @Test
    void aHoldThatWasGivenUpIsNotValidAgainAlthoughAnotherReaderHasItRenewed() throws Exception {
        release();
        NamedLock shared = EngineLocks.of(
                scripted.engine, ScriptedEngine.NAME, lock.options().shared());
        try (Actor another = new Actor()) {
            CompletableFuture<Boolean> locked = holder.start(shared::tryLock);
            Actor.await("it asks", () -> scripted.sentCount() > 0);
            scripted.next("acquire").answer(new Reply.Granted(200, TTL.toMillis(), 0));
            assertThat(Actor.get(locked)).isTrue();
            assertThat(another.<Boolean>call(shared::tryLock)).isTrue();
            scripted.timer.setWallForwardBy(TTL);
            assertThat(holder.<Boolean>call(shared::isHeldByCurrentThread)).isFalse();
            holder.run(HeldByThread::ignoreThoseGivenUp);
            scripted.timer.tick(Duration.ofSeconds(1));
            scripted.next("renew").answer(new Reply.Renewed(TTL.toMillis(), 0));
            assertThat(another.<Boolean>call(shared::isHeldByCurrentThread)).isTrue();
            assertThat(holder.<Boolean>call(shared::isHeldByCurrentThread)).isFalse();
            holder.run(shared::unlock);
        }
    }
}
