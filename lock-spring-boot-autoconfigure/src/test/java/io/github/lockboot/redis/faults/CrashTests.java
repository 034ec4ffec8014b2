package io.github.lockboot.redis.faults;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.faults.Event.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Processes that die or freeze while they hold or wait. */
class CrashTests {

    private static final Duration TTL = Duration.ofSeconds(3);
    private static final Duration LONG_TTL = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final Duration CLAIM_LEASE = Duration.ofSeconds(6);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SLACK = Duration.ofSeconds(1); // for a busy machine

    private final Fleet fleet = new Fleet();

    @AfterEach
    void stop() {
        fleet.close();
    }

    @Test
    void whenTheHolderIsKilledTheNextIsServedAfterItsLease() throws Exception {
        WorkerProcess holder = fleet.worker("holder", TTL);
        holder.tell("t lock x");
        holder.await(LONG, Kind.GRANTED);
        NamedLock lock = fleet.registry().get("x");
        Actor waiter = fleet.actor();
        var served = waiter.start(() -> {
            lock.lock();
            return System.nanoTime();
        });
        fleet.awaitQueued("x", 1);
        long killed = System.nanoTime();
        holder.kill();
        Duration waited = Duration.ofNanos(Actor.get(served) - killed);
        Figures.report("holder killed: next after %d ms, ttl %d ms", waited.toMillis(), TTL.toMillis());
        assertThat(waited).isLessThan(TTL.plus(POLL).plus(SLACK));
        waiter.run(lock::unlock);
    }

    @Test
    void deadWaitersAreSkippedWithinOneClaimLeaseHoweverMany() throws Exception {
        NamedLock lock = fleet.registry(Fleet.ttl(LONG_TTL)).get("x");
        Actor holder = fleet.holder(lock);
        List<WorkerProcess> dead = fleet.workers(5, LONG_TTL);
        for (int i = 0; i < dead.size(); i++) {
            dead.get(i).tell("t lock x");
            fleet.awaitQueued("x", i + 1);
        }
        NamedLock wanted = fleet.registry(Fleet.ttl(LONG_TTL)).get("x");
        Actor waiter = fleet.actor();
        var served = waiter.start(() -> {
            wanted.lock();
            return System.nanoTime();
        });
        fleet.awaitQueued("x", dead.size() + 1);
        dead.forEach(WorkerProcess::kill);
        long released = System.nanoTime();
        holder.run(lock::unlock);
        Duration waited = Duration.ofNanos(Actor.get(served) - released);
        Figures.report("5 dead waiters before a live one: served after %d ms", waited.toMillis());
        assertThat(waited).isLessThan(CLAIM_LEASE.plus(POLL).plus(SLACK));
        waiter.run(wanted::unlock);
    }

    @Test
    void moreDeadWaitersThanOneCallSkipsCostNoMoreThanFew() throws Exception {
        NamedLock lock = fleet.registry(Fleet.ttl(LONG_TTL)).get("x");
        Actor holder = fleet.holder(lock);
        fleet.server().command("HSET", "lock:x", "queue", neverSeenAgain(60));
        NamedLock wanted = fleet.registry(Fleet.ttl(LONG_TTL)).get("x");
        Actor waiter = fleet.actor();
        var served = waiter.start(() -> {
            wanted.lock();
            return System.nanoTime();
        });
        fleet.awaitQueued("x", 61);
        long released = System.nanoTime();
        holder.run(lock::unlock);
        Duration waited = Duration.ofNanos(Actor.get(served) - released);
        Figures.report("60 dead waiters before a live one: served after %d ms", waited.toMillis());
        assertThat(waited).isLessThan(CLAIM_LEASE.plus(POLL).plus(SLACK));
        waiter.run(wanted::unlock);
    }

    /** A queue as acquire.lua writes it, of sessions that never existed. */
    private String neverSeenAgain(int waiters) {
        List<?> time = (List<?>) Objects.requireNonNull(fleet.server().command("TIME"));
        return IntStream.range(0, waiters)
                .mapToObj(i -> "[\"dead-" + i + "\",30000," + time.get(0) + "000]")
                .collect(Collectors.joining(",", "[", "]"));
    }

    @Test
    void waitersThatDiedLongAgoCostNothing() throws Exception {
        NamedLock lock = fleet.registry(Fleet.ttl(LONG_TTL)).get("x");
        Actor holder = fleet.holder(lock);
        List<WorkerProcess> dead = fleet.workers(2, LONG_TTL);
        for (int i = 0; i < dead.size(); i++) {
            dead.get(i).tell("t lock x");
            fleet.awaitQueued("x", i + 1);
        }
        NamedLock wanted = fleet.registry(Fleet.ttl(LONG_TTL)).get("x");
        Actor waiter = fleet.actor();
        var served = waiter.start(() -> {
            wanted.lock();
            return System.nanoTime();
        });
        fleet.awaitQueued("x", 3);
        dead.forEach(WorkerProcess::kill);
        Actor.pass(Duration.ofSeconds(9)); // more than three polls unseen, beside one that is seen
        long released = System.nanoTime();
        holder.run(lock::unlock);
        Duration waited = Duration.ofNanos(Actor.get(served) - released);
        Figures.report("2 waiters dead for 9 s before a live one: served after %d ms", waited.toMillis());
        assertThat(waited).isLessThan(Duration.ofSeconds(1));
        waiter.run(wanted::unlock);
    }

    @Test
    void aHolderFrozenPastItsLeaseKnowsAtItsFirstLookAndChangesNothing() throws Exception {
        WorkerProcess frozen = fleet.worker("frozen", TTL);
        frozen.tell("t lock x");
        frozen.await(LONG, Kind.GRANTED);
        NamedLock lock = fleet.registry(Fleet.ttl(LONG_TTL)).get("x");
        Actor next = fleet.actor();
        var served = next.begin(lock::lock);
        fleet.awaitQueued("x", 1);
        frozen.pause();
        Actor.get(served);
        Object state = fleet.server().command("HGETALL", "lock:x");
        frozen.tell("t isHeld x");
        frozen.resume();
        Event answer = frozen.await(LONG, Kind.NOT_HELD);
        assertThat(frozen.find(Kind.HELD, event -> true)).isEmpty();
        frozen.await(LONG, Kind.LOST);
        frozen.tell("t unlock x");
        frozen.await(LONG, Kind.RELEASE_FAILED);
        frozen.awaitSaid("LockLostException");
        assertThat(answer.validUntil()).isZero();
        assertThat(frozen.events().stream().filter(event -> event.is(Kind.LOST)))
                .hasSize(1);
        assertThat(fleet.server().command("HGETALL", "lock:x"))
                .as("renewals and the release of the lost hold change nothing")
                .isEqualTo(state);
        next.run(lock::unlock);
    }
}
