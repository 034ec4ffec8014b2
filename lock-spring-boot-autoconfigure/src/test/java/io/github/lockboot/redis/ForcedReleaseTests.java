package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.leader.LeaderElection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A holder in the process that forces the release knows when the call returns. The next renewal, which would find it,
 * is a quarter of an hour away here, and Redis does not announce what the instance itself has done.
 */
class ForcedReleaseTests {

    private static final LockOptions LONG =
            LockOptions.defaults().withTtl(Duration.ofMinutes(45)).withWaitTime(Duration.ofMinutes(1));

    private RedisServer server;
    private TestRegistries registries;
    private RedisLockRegistry registry;
    private RedisLockRegistry elsewhere;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
        registry = registries.connected();
        elsewhere = registries.connected();
    }

    @AfterEach
    void stop() {
        registries.close();
        server.close();
    }

    /** The ids of the holders, in the order of their grants. */
    @SuppressWarnings("unchecked")
    private List<String> holders(String name) {
        List<Map<String, Object>> holders =
                (List<Map<String, Object>>) registry.inspector().stateOf(name).get("holders");
        return holders.stream().map(holder -> (String) holder.get("holderId")).toList();
    }

    private void force(String name, int which) {
        assertThat(registry.inspector().forceRelease(name, holders(name).get(which)))
                .isTrue();
    }

    private static void assertLost(Lease lease) {
        assertThat(lease.isValid()).isFalse();
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lease::close)
                .withMessageContaining("it was released by force");
    }

    @Test
    void theThreadThatHoldsTheLockHereKnowsAtOnceAndAnotherHasIt() throws Exception {
        NamedLock lock = registry.get("held", LONG);
        AtomicInteger losses = new AtomicInteger();
        lock.lock();
        lock.lock();
        lock.onLost(losses::incrementAndGet);
        force("held", 0);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        Lease next =
                elsewhere.tryAcquire("held", LONG.withWaitTime(Duration.ZERO)).orElseThrow();
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(lock::unlock)
                .withMessageContaining("it was released by force");
        Actor.await("the callback runs", () -> losses.get() == 1);
        assertThat(next.isValid()).isTrue();
        next.close();
        assertThat(registry.get("held").isLocked()).isFalse();
    }

    @Test
    void allReadersOfTheInstanceKnowAtOnceAndThoseElsewhereReadOn() throws Exception {
        GrantChannels.open(registry); // only with the channel a reader joins another
        List<Lease> here =
                List.of(registry.acquire("prices", LONG.shared()), registry.acquire("prices", LONG.shared()));
        Lease there = elsewhere.acquire("prices", LONG.shared());
        force("prices", 0);
        here.forEach(ForcedReleaseTests::assertLost);
        assertThat(there.isValid()).isTrue();
        there.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void theHolderOfThePermitKnowsAtOnceAndTheOthersKeepTheirs(int which) throws Exception {
        List<Lease> permits = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            permits.add(registry.acquire("calls", LONG.withPermits(3)));
        }
        force("calls", which);
        assertLost(permits.remove(which));
        assertThat(permits).allMatch(Lease::isValid);
        permits.forEach(Lease::close);
    }

    @Test
    void aLockThatStaysTakenAfterItsHoldIsFree() throws Exception {
        for (LockOptions options : List.of(LONG, LONG.shared(), LONG.withPermits(3))) {
            Actor.get(registry.acquire("kept", options).closeAfter(Duration.ofSeconds(Long.MAX_VALUE)));
            assertThat(holders("kept")).singleElement().asString().startsWith("kept-" + session());
            force("kept", 0);
            assertThat(registry.get("kept").isLocked()).isFalse();
        }
    }

    private String session() {
        return registry.inspector().session();
    }

    @Test
    void aLeaderKnowsAtOnceThatItLeadsNoLonger() throws Exception {
        LeaderElection election = LeaderElection.of(registry, "reports", LONG);
        election.start();
        Actor.await("it leads", election::isLeader);
        CompletableFuture<Lease> next = elsewhere.acquireAsync("leader:reports", LONG);
        Actor.await(
                "another waits",
                () -> StoredLock.at(server, "lock:leader:reports").isWaitedFor());
        force("leader:reports", 0);
        assertThat(election.isLeader()).isFalse();
        election.stop();
        Actor.get(next).close();
    }

    /** Its next caller here would have it beside another elsewhere. */
    @Test
    void aLockThatLingersIsNotTakenUpAgain() throws Exception {
        LockOptions lingering =
                LockOptions.defaults().withLinger(Duration.ofMinutes(1)).withWaitTime(Duration.ZERO);
        Actor.await("it lingers", () -> {
            registry.get("mine", lingering).lock();
            registry.get("mine", lingering).unlock();
            return registry.get("mine").isLocked();
        });
        force("mine", 0);
        Lease next =
                elsewhere.tryAcquire("mine", LONG.withWaitTime(Duration.ZERO)).orElseThrow();
        assertThat(registry.tryAcquire("mine", lingering)).isEmpty();
        next.close();
    }

    @Test
    void whoeverWaitsHereAndElsewhereGetsItsTurn() throws Exception {
        GrantChannels.open(elsewhere);
        Lease held = registry.acquire("queue", LONG);
        CompletableFuture<Lease> there = elsewhere.acquireAsync("queue", LONG);
        Actor.await(
                "another instance waits",
                () -> StoredLock.at(server, "lock:queue").isWaitedFor());
        CompletableFuture<Lease> here = registry.acquireAsync("queue", LONG);
        force("queue", 0);
        assertLost(held);
        Lease next = Actor.get(there);
        assertThat(here).isNotDone();
        next.close();
        Actor.get(here).close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aHolderOfAnotherRegistryOfTheProcessKnowsAtOnceToo(boolean sharing) throws Exception {
        RedisLockRegistry another = registries.registry(builder -> sharing ? builder.sharingConnections() : builder);
        Lease lease = another.acquire("shared", LONG);
        force("shared", 0);
        assertLost(lease);
    }

    @Test
    void anIdThatHoldsNoneLosesNothing() throws Exception {
        Lease lease = registry.acquire("held", LONG);
        Lease other = registry.acquire("other", LONG);
        assertThat(registry.inspector().forceRelease("held", holders("other").get(0)))
                .isFalse();
        assertThat(List.of(lease, other)).allMatch(Lease::isValid);
        lease.close();
        other.close();
    }

    @Test
    void withoutAnAnswerTheHolderIsNotLeftToBelieveThatItHasTheLock() throws Exception {
        RedisLockRegistry hasty = registries.registry(builder -> builder.commandTimeout(Duration.ofSeconds(2)));
        Actor.await("connected", () -> TestRegistries.canLock(hasty, "connecting"));
        Lease lease = hasty.acquire("silent", LONG);
        String id = holders("silent").get(0);
        server.pause();
        try {
            assertThatThrownBy(() -> hasty.inspector().forceRelease("silent", id))
                    .isNotInstanceOf(CompletionException.class);
        } finally {
            server.resume();
        }
        assertThat(lease.isValid()).as("Redis was not even asked who holds it").isTrue();
        lease.close();
    }
}
