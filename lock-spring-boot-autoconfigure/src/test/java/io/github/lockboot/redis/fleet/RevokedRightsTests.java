package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The user of the locks loses rights while they are used, and gets them back. */
class RevokedRightsTests {

    private final Fleet fleet = new Fleet();

    @AfterEach
    void stop() {
        fleet.close();
    }

    private void set(String rights) {
        fleet.server().command(("ACL SETUSER default " + rights).split(" "));
    }

    private int subscribed() {
        return ((java.util.List<?>) fleet.server().command("PUBSUB", "CHANNELS", "lock:client:*")).size();
    }

    @Test
    void whoWasRefusedItsChannelHasItAgainSoonAfterItIsAllowed() throws Exception {
        RedisLockRegistry registry = fleet.registry();
        NamedLock held = fleet.registry().get("x");
        Actor holder = fleet.holder(held);
        CompletableFuture<Void> waiting = fleet.actor().begin(registry.get("x")::lock);
        Actor.await("it listens", () -> subscribed() == 1);
        set("resetchannels");
        fleet.server().command("CLIENT", "KILL", "TYPE", "pubsub");
        Actor.pass(Duration.ofSeconds(2)); // it connects again, and is refused
        assertThat(subscribed()).isZero();
        set("allchannels");
        long allowed = System.nanoTime();
        Actor.await("it listens again", () -> subscribed() == 1);
        Figures.report("channel allowed again: subscribed %d ms later", Figures.millisSince(allowed));
        holder.run(held::unlock);
        Actor.get(waiting);
    }
}
