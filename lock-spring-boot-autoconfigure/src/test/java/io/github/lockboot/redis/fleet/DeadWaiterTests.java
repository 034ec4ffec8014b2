package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.StoredLock;
import io.github.lockboot.fixture.StoredLock.Waiter;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Waiters that died in the queue; {@code testing/faults} kills real ones. */
class DeadWaiterTests {

    private static final Duration LONG_TTL = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofSeconds(2);

    /** Three command timeouts in which nobody sees it, and a waiter is dropped. */
    private static final UnaryOperator<RedisLockRegistry.Builder> USUAL =
            builder -> Fleet.ttl(LONG_TTL).apply(builder).commandTimeout(Duration.ofSeconds(2));

    private static final Duration CLAIM_LEASE = Duration.ofSeconds(6);
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(500);
    private static final Duration SLACK = Duration.ofSeconds(4); // for a busy machine

    private final Fleet fleet = new Fleet();

    @AfterEach
    void stop() {
        fleet.close();
    }

    @ParameterizedTest(name = "{0} dead")
    @ValueSource(ints = {1, 2, 10})
    void aHolderThatListensReleasesToTheFirstWaiterThatIsAlive(int dead) throws Exception {
        NamedLock lock = listening().get("x");
        Actor holder = fleet.holder(lock);
        queueNeverSeenAgain(dead);
        NamedLock wanted = listening().get("x");
        Actor waiter = fleet.actor();
        var served = waiter.begin(wanted::lock);
        fleet.awaitQueued("x", dead + 1);
        holder.run(lock::unlock);
        assertThat(StoredLock.at(fleet.server(), "lock:x").holders())
                .singleElement()
                .matches(next -> !next.id().startsWith("dead-"));
        Actor.get(served);
        waiter.run(wanted::unlock);
    }

    private RedisLockRegistry listening() {
        return GrantChannels.open(fleet.registry(USUAL));
    }

    @Test
    void manyDeadWaitersCostALiveOneNoMoreThanFew() throws Exception {
        NamedLock lock = fleet.registry(USUAL).get("x");
        Actor holder = fleet.holder(lock);
        queueNeverSeenAgain(60);
        NamedLock wanted = fleet.registry(USUAL).get("x");
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

    @Test
    void deadWaitersCostOneClaimLeaseTogetherWhereNobodyStaysQueued() throws Exception {
        NamedLock lock = fleet.registry(USUAL).get("x");
        Actor holder = fleet.holder(lock);
        queueNeverSeenAgain(5);
        NamedLock wanted = fleet.registry(USUAL).get("x");
        long released = System.nanoTime();
        holder.run(lock::unlock);
        Actor tries = fleet.actor();
        while (!tries.call(wanted::tryLock)) {
            Actor.pass(BETWEEN_TRIES);
        }
        Duration refused = Duration.ofNanos(System.nanoTime() - released);
        Figures.report("5 dead waiters before a caller that tries: served after %d ms", refused.toMillis());
        assertThat(refused).isLessThan(CLAIM_LEASE.plus(BETWEEN_TRIES).plus(SLACK));
        tries.run(wanted::unlock);
    }

    /** A queue as acquire.lua writes it, of sessions that never existed. */
    private void queueNeverSeenAgain(int waiters) {
        try (RedisProbe redis = fleet.server().probe()) {
            List<?> time = (List<?>) Objects.requireNonNull(redis.command("TIME"));
            long now = 1_000 * Long.parseLong((String) time.get(0));
            List<Waiter> queue = IntStream.range(0, waiters)
                    .mapToObj(i -> new Waiter("dead-" + i, 30_000, now, 0))
                    .toList();
            StoredLock.at(redis, "lock:x").withQueue(0, queue).storeAt(redis, "lock:x");
        }
    }
}
