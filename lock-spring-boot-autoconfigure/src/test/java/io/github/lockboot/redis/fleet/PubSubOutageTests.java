package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Nothing pushed arrives, as where an ACL grants no channels: everything works, slower. */
class PubSubOutageTests {

    private static final Duration CLAIM_LEASE = Duration.ofSeconds(6);
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final int WAITERS = 4;
    private static final int ROUNDS = 10;

    private final Fleet fleet = new Fleet();
    private final UnaryOperator<RedisLockRegistry.Builder> strict = builder -> builder.localHandoffLimit(0);

    @AfterEach
    void stop() {
        fleet.close();
    }

    private void cutChannels() {
        fleet.server().command("ACL", "SETUSER", "default", "resetchannels");
        fleet.server().command("CLIENT", "KILL", "TYPE", "pubsub");
    }

    @Test
    void whereThereNeverWasAChannelWaitersAreServedInTime() throws Exception {
        cutChannels();
        everyWaiterIsServedInTime(() -> {});
    }

    @Test
    void whereTheChannelIsCutWhileTheyWaitTheyAreServedInTime() throws Exception {
        everyWaiterIsServedInTime(this::cutChannels);
    }

    @Test
    void aChannelOnWhichNothingComesIsNotLiveAndSubscribedToAnew() throws Exception {
        TcpProxy proxy = fleet.proxy();
        RedisLockRegistry registry = fleet.registry(proxy, UnaryOperator.identity());
        RecordingLockListener told = new RecordingLockListener();
        registry.addListener(told);
        registry.connect().join();
        RedisLockRegistry elsewhere = fleet.registry();
        awaitMessage(elsewhere, registry, told);
        long connections = proxy.connections();
        proxy.muteSubscriptions();
        told.clear();
        handOver(elsewhere, registry);
        told.await("acquired x ASKED");
        long missed = System.nanoTime();
        Actor.await("it is subscribed to on another connection", () -> proxy.connections() > connections);
        Actor.await("it is live again", () -> GrantChannels.isLive(registry));
        Figures.report(
                "a dead channel: live again %d ms after a grant that it did not tell", Figures.millisSince(missed));
        told.clear();
        awaitMessage(elsewhere, registry, told);
        fleet.awaitNothingLeft();
    }

    @Test
    void aChannelThatIsCutAgainWhileItIsReplacedIsLiveSoonAfter() {
        List<RedisLockRegistry> registries = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            registries.add(fleet.registry());
            registries.get(i).connect().join();
        }
        for (int i = 0; i < 30; i++) {
            fleet.server().command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            fleet.server().command("CLIENT", "KILL", "TYPE", "pubsub");
            Actor.pass(Duration.ofMillis(100));
        }
        registries.forEach(registry -> Actor.await("it is live", () -> GrantChannels.isLive(registry)));
    }

    /** Hands over until a message tells of it: who asks just then has the grant in an answer. */
    private void awaitMessage(RedisLockRegistry from, RedisLockRegistry to, RecordingLockListener told)
            throws Exception {
        for (int i = 0; i < ROUNDS && !told.told.contains("acquired x GRANTED"); i++) {
            told.clear();
            handOver(from, to);
            told.await("released x");
        }
        assertThat(told.told).contains("acquired x GRANTED");
    }

    /** From the one to the other, who waits for it. */
    private void handOver(RedisLockRegistry from, RedisLockRegistry to) throws Exception {
        NamedLock held = from.get("x");
        Actor holder = fleet.holder(held);
        NamedLock wanted = to.get("x");
        Actor waiter = fleet.actor();
        CompletableFuture<Void> served = waiter.begin(wanted::lock);
        fleet.awaitQueued("x", 1);
        Actor.await("subscribed", () -> GrantChannels.isLive(to));
        holder.run(held::unlock);
        Actor.get(served);
        waiter.run(wanted::unlock);
    }

    private void everyWaiterIsServedInTime(Runnable whileTheyWait) throws Exception {
        NamedLock lock = fleet.registry(strict).get("silent");
        Actor holder = fleet.holder(lock);
        List<CompletableFuture<Long>> served = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            NamedLock wanted = fleet.registry(strict).get("silent");
            served.add(fleet.actor().start(() -> {
                wanted.lock();
                long got = System.nanoTime();
                wanted.unlock();
                return got;
            }));
            fleet.awaitQueued("silent", i + 1);
        }
        whileTheyWait.run();
        List<Long> times = new ArrayList<>();
        long released = System.nanoTime();
        holder.run(lock::unlock);
        for (CompletableFuture<Long> each : served) {
            times.add((Actor.get(each) - released) / 1_000_000);
        }
        long worst = 0;
        for (int i = 0; i < WAITERS; i++) {
            worst = Math.max(worst, times.get(i) - (i == 0 ? 0 : times.get(i - 1)));
        }
        Figures.report("no pub/sub: %d waiters served after ms %s", WAITERS, times);
        assertThat(Duration.ofMillis(worst)).isLessThan(CLAIM_LEASE.plus(POLL));
        fleet.awaitNothingLeft();
    }
}
