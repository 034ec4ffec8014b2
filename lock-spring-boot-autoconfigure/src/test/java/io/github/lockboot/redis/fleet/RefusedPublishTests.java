package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Actor;
import io.github.lockboot.LogReader;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockInspector.Notification;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The user may listen, but its scripts may not publish. */
class RefusedPublishTests {

    private final Fleet fleet = new Fleet();

    @AfterEach
    void stop() {
        fleet.close();
    }

    private void allow(String right) {
        fleet.server().command("ACL", "SETUSER", "default", right);
    }

    private long scriptsRun() {
        return String.valueOf(fleet.server().command("INFO", "commandstats"))
                .lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:calls="))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(','))))
                .sum();
    }

    private static long refusals(LogReader log) {
        return log.warnings().stream()
                .filter(line -> line.startsWith("Redis refuses to publish on the channel ")
                        && line.contains(", so waiters only poll: "))
                .count();
    }

    @Test
    void theChannelIsNotLiveAndWaitersPollAsWithoutOne() throws Exception {
        allow("-publish");
        try (LogReader log = new LogReader()) {
            RedisLockRegistry registry = fleet.registry();
            registry.connect().join();
            NamedLock held = fleet.registry().get("x");
            Actor holder = fleet.holder(held);
            CompletableFuture<Void> waiting = fleet.actor().begin(registry.get("x")::lock);
            fleet.awaitQueued("x", 1);
            Actor.await("it is not live", () -> registry.inspector().check() == Notification.CUT);
            long before = scriptsRun();
            Actor.pass(Duration.ofMillis(1_500));
            assertThat(scriptsRun() - before)
                    .as("polls, which a live channel has every 2 s")
                    .isGreaterThan(3);
            assertThat(registry.inspector().check()).isEqualTo(Notification.CUT);
            holder.run(held::unlock);
            Actor.get(waiting);
            assertThat(refusals(log)).isEqualTo(1);
        }
    }

    @Test
    void theChannelIsLiveOnceTheRightIsGivenAndNotWhenItIsTaken() throws Exception {
        RedisLockRegistry registry = GrantChannels.open(fleet.registry());
        allow("-publish");
        NamedLock held = fleet.registry().get("x");
        Actor holder = fleet.holder(held);
        CompletableFuture<Void> waiting = fleet.actor().begin(registry.get("x")::lock);
        fleet.awaitQueued("x", 1);
        holder.run(held::unlock);
        Actor.get(waiting); // by a poll
        Actor.await("it is not live", () -> registry.inspector().check() == Notification.CUT);
        allow("+publish");
        Actor.await("it is live again", () -> GrantChannels.isLive(registry));
    }
}
