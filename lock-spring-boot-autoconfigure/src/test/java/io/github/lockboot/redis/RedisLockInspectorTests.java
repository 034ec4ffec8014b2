package io.github.lockboot.redis;

import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.redis.RedisLockInspector.Notification;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

class RedisLockInspectorTests {

    private final ScriptedEngine scripted = new ScriptedEngine(64);
    private final RedisLockInspector inspector =
            new RedisLockInspector(LettuceConnectionFactory::new, scripted.engine.store(), scripted.engine.channel());

    private Notification check() {
        CompletableFuture<Notification> asked = CompletableFuture.supplyAsync(inspector::check);
        Actor.await("it asks", () -> scripted.sentCount() == 1);
        scripted.next("inspect").answer(new Reply.Free());
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
}
