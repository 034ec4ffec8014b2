package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.RecordingLockListener;
import io.github.lockboot.engine.LockEngine;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.internal.Threads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** A registry that has never been connected yet. */
class FirstConnectionTests {

    private static final LockOptions PATIENT = LockOptions.defaults().withWaitTime(Duration.ofMinutes(1));

    private final CountDownLatch go = new CountDownLatch(1);
    private RedisServer server;
    private TestRegistries registries;
    private RedisLockRegistry registry;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        registry = registries.registry(builder -> builder.commandTimeout(Duration.ofSeconds(1))
                .threads(name -> task ->
                        Threads.daemons(name).newThread(name.equals("lock-connector") ? () -> runSlowly(task) : task)));
    }

    /** As in a process that has just started, on a busy machine. */
    private void runSlowly(Runnable task) {
        try {
            go.await();
        } catch (InterruptedException end) {
            return;
        }
        task.run();
    }

    @AfterEach
    void stop() {
        go.countDown();
        registries.close();
        server.close();
    }

    @Test
    void whoeverHasTheTimeWaitsForItLongerThanForACommand() throws Exception {
        CompletableFuture<Lease> patient = registry.acquireAsync("x", PATIENT);
        assertThatThrownBy(() -> registry.get("y").tryLock())
                .as("it has the time of a command, which has passed")
                .isInstanceOf(LockUnavailableException.class);
        assertThat(patient).isNotDone();
        go.countDown();
        Lease lease = Actor.get(patient);
        assertThat(lease.isValid()).isTrue();
        lease.close();
        Actor.await("nothing is left", () -> registry.inspector().inUse() == 0);
        assertThat(server.command("EXISTS", "lock:y")).isEqualTo(0L);
    }

    @Test
    void whoeverHasNotTheTimeLearnsThatItIsBeingMade() {
        String why = "(the connection is still being made)";
        NamedLock lock = registry.get("x");
        assertThatThrownBy(lock::tryLock).hasMessageContaining(why).hasCauseInstanceOf(NotConnectedException.class);
        assertThatThrownBy(lock::isLocked).hasMessageContaining(why).hasCauseInstanceOf(NotConnectedException.class);
    }

    @Test
    void connectingAheadWaitsForItHoweverLongItTakes() throws Exception {
        CompletableFuture<Void> connected = registry.connect();
        Actor.pass(Duration.ofMillis(3_500)); // more than three commands may take
        assertThat(connected).isNotDone();
        go.countDown();
        Actor.get(connected);
    }

    @Test
    void whoeverWaitsIsToldAtOnceThatThereIsNone() {
        server.kill();
        CompletableFuture<Lease> patient = registry.acquireAsync("x", PATIENT);
        go.countDown();
        assertThat(patient)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void theFirstLineOfTheFailureSaysWhyThereIsNone() {
        server.kill();
        go.countDown();
        assertThatThrownBy(() -> registry.get("x").tryLock())
                .hasMessageStartingWith("lock 'x' is unavailable: " + "Redis" + LockEngine.NO_ANSWER
                        + " (no connection to Redis: Connection refused: ");
    }

    @Test
    void theFirstLineOfALaterFailureSaysThatThereIsNoneAnyMore() throws Exception {
        go.countDown();
        Actor.get(registry.connect());
        server.kill();
        assertThatThrownBy(
                        () -> registry.get("x").tryLock()) // sent before the end of the connection is noticed, or not
                .message()
                .containsAnyOf("(the connection was lost before Redis answered)", "(no connection to Redis: ");
        assertThatThrownBy(() -> registry.get("x").tryLock()).hasMessageContaining("(no connection to Redis: ");
    }

    @Test
    void itCanBeMadeAheadAndSoCanTheChannel() throws Exception {
        RecordingLockListener listener = new RecordingLockListener();
        registry.addListener(listener);
        go.countDown();
        Actor.get(registry.connect());
        assertThat(server.command("KEYS", "*")).isEqualTo(List.of());
        Actor.await("the channel is live", () -> GrantChannels.isLive(registry));
        assertThat(listener.told).as("of a lock that nobody asked for").isEmpty();
    }

    @Test
    void whoGivesUpMakingItAheadLeavesNoLock() throws Exception {
        registry.connect().cancel(false);
        CompletableFuture<Void> second = registry.connect();
        go.countDown();
        Actor.get(second);
        Actor.await("nothing is left", () -> registry.inspector().inUse() == 0);
        assertThat(server.command("KEYS", "*")).isEqualTo(List.of());
    }
}
