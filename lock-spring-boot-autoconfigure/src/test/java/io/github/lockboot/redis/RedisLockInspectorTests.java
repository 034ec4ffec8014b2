package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.ScriptedEngine;
import io.github.lockboot.redis.RedisLockInspector.Notification;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RedisLockInspectorTests {

    private final ScriptedEngine scripted = new ScriptedEngine(64);
    private final RedisLockInspector inspector = new RedisLockInspector(
            () -> scripted.store, () -> scripted.engine, scripted.engine::inUse, () -> "0123456789");

    private Notification check() {
        CompletableFuture<Notification> asked = CompletableFuture.supplyAsync(inspector::check);
        Actor.await("it asks", () -> scripted.sentCount() == 1);
        scripted.next("show").answer(new Reply.Shown(-2, 0, 0, List.of(), ""));
        return asked.join();
    }

    @Test
    void whoWaitsIsNotifiedWhileTheChannelIsLive() {
        assertThat(check()).isEqualTo(Notification.LIVE);
    }

    @Test
    void whoWaitsPollsWhileTheChannelIsCut() {
        scripted.channelLive = false;
        assertThat(check()).isEqualTo(Notification.CUT);
    }

    @Test
    void whatIsHeldOrReleasedWithoutAnAnswerIsInUse() {
        assertThat(inspector.inUse()).isZero();
        Lease lease = scripted.granted(100, ScriptedEngine.TTL);
        assertThat(inspector.inUse()).isPositive();
        lease.closeAfter(Duration.ZERO);
        assertThat(inspector.inUse()).isPositive();
        scripted.next("unlock").answer(Reply.Plain.RELEASED);
        assertThat(inspector.inUse()).isZero();
    }

    @Test
    void whoWaitsIsInUseUntilTheWaitEnds() {
        CompletableFuture<Lease> waiting = scripted.acquire(Duration.ofMinutes(1));
        scripted.next("acquire").answer(new Reply.Queued(1, 99, ScriptedEngine.TTL.toMillis()));
        assertThat(inspector.inUse()).isPositive();
        waiting.cancel(false);
        scripted.next("unlock").answer(Reply.Plain.NOT_HOLDER);
        assertThat(inspector.inUse()).isZero();
    }
}
