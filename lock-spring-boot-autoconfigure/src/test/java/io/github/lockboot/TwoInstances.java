package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.redis.RedisLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A part of the contract: two registries on the same locks, which stand for two instances of an application, and
 * threads of both. The tests of all parts run side by side, because most of them wait for leases to end.
 */
@Execution(ExecutionMode.CONCURRENT)
abstract class TwoInstances {

    static final Duration SHORT_TTL = Duration.ofSeconds(1);
    static final Duration LONGER_THAN_SHORT_TTL = Duration.ofMillis(1_300);

    /** Of leases that are renewed in time, also on a machine that stands still for two seconds. */
    static final Duration RENEWED_TTL = Duration.ofSeconds(4);

    static final Duration LONGER_THAN_RENEWED_TTL = Duration.ofMillis(4_500);
    static final LockOptions EXCLUSIVE = LockOptions.defaults();
    static final LockOptions SHARED = LockOptions.defaults().shared();

    /** A wait that ends in time, so it can be long. */
    static final Duration LONG = Duration.ofSeconds(25);

    /** A wait for what is free. */
    private static final Duration SOON = Duration.ofSeconds(10);

    final String name;
    private final LockRegistryContract contract;
    private final List<Actor> actors = new ArrayList<>();

    TwoInstances(LockRegistryContract contract) {
        this.contract = contract;
        this.name = contract.name;
    }

    final LockRegistry registry() {
        return contract.registry();
    }

    final LockRegistry otherRegistry() {
        return contract.otherRegistry();
    }

    final List<LockRegistry> both() {
        return List.of(registry(), otherRegistry());
    }

    @AfterEach
    void actorsLeave() {
        actors.forEach(Actor::close);
    }

    // --- locks ------------------------------------------------------------------------------------------------

    /** The read side, wherever a test needs one. */
    static NamedLock readLock(LockRegistry registry, String name, LockOptions options) {
        return registry.get(name, options.shared());
    }

    /** The write side, wherever a test needs one. */
    static NamedLock writeLock(LockRegistry registry, String name, LockOptions options) {
        return registry.get(name, options);
    }

    static LockOptions fixedLease(LockOptions kind) {
        return kind.withTtl(SHORT_TTL).withoutRenewal();
    }

    static LockOptions renewedLease(LockOptions kind) {
        return kind.withTtl(RENEWED_TTL).withRenewal();
    }

    static LockTemplate template(LockRegistry registry) {
        return new LockTemplate(registry, Duration.ofSeconds(20));
    }

    /** Lets a time pass, at once where the registry can do so. */
    final void pass(Duration time) {
        contract.pass(time);
    }

    final void assertFree() throws Exception {
        NamedLock lock = otherRegistry().get(name);
        actor().run(() -> {
            assertThat(lock.tryLock(5, TimeUnit.SECONDS)).isTrue();
            lock.unlock();
        });
    }

    // --- threads ----------------------------------------------------------------------------------------------

    final Actor actor() {
        Actor actor = new Actor();
        actors.add(actor);
        return actor;
    }

    /** A thread that has got the lock. */
    final Caller holder(NamedLock lock) throws Exception {
        Caller holder = caller(lock, SOON);
        holder.awaitGrant();
        return holder;
    }

    /** A thread that waits for the lock, behind all who waited before it in either instance. */
    final Caller waiter(LockRegistry registry, NamedLock lock) {
        Caller waiter = caller(lock, LONG);
        Actor.await("it waits", waiter.actor::isWaiting);
        awaitArrival(registry);
        waiter.assertWaits();
        return waiter;
    }

    private Caller caller(NamedLock lock, Duration atMost) {
        Actor actor = actor();
        return new Caller(actor, lock, actor.start(() -> lock.tryLock(atMost.toMillis(), TimeUnit.MILLISECONDS)));
    }

    /**
     * Waits until what the registry has sent about the name has arrived: a later command on the same key has been
     * answered. Some clients keep the order of one key only.
     */
    final void awaitArrival(LockRegistry registry) {
        NamedLock lock = registry.get(name);
        if (lock instanceof RedisLock redisLock) {
            redisLock.waiters(); // asks Redis also if a thread of this process holds it
        } else {
            lock.isLocked();
        }
    }

    /**
     * Waits until a thread that comes now is refused, though it would be compatible with the holders: it may not
     * overtake a waiter.
     */
    final void awaitRefusal(NamedLock lock) {
        Actor comer = actor();
        Actor.await("nobody overtakes the waiter", LONG, () -> !takesAndGivesBack(comer, lock));
    }

    private static boolean takesAndGivesBack(Actor comer, NamedLock lock) {
        return comer.start(() -> {
                    boolean taken = lock.tryLock();
                    if (taken) {
                        lock.unlock();
                    }
                    return taken;
                })
                .join();
    }

    /** No other thread gets it now, neither at once nor within a moment, and none waits afterwards. */
    final void assertRefused(NamedLock lock) throws Exception {
        Actor other = actor();
        assertThat(other.call(() -> lock.tryLock())).isFalse();
        assertThat(other.call(() -> lock.tryLock(20, TimeUnit.MILLISECONDS))).isFalse();
        both().forEach(this::awaitArrival); // it has left the queue, or the next release would grant it the lock
    }

    /** A thread that waits for a lock, and then holds it. */
    record Caller(Actor actor, NamedLock lock, CompletableFuture<Boolean> granted) {

        void assertWaits() {
            assertThat(granted).isNotDone();
        }

        void awaitGrant() throws Exception {
            assertThat(Actor.get(granted)).isTrue();
            assertThat(holds()).isTrue();
        }

        boolean holds() throws Exception {
            return actor.call(lock::isHeldByCurrentThread);
        }

        long token() throws Exception {
            return actor.call(lock::fencingToken);
        }

        void run(Actor.Step step) throws Exception {
            actor.run(step);
        }

        void unlock() throws Exception {
            actor.run(lock::unlock);
        }

        /** It is told at once that it would wait for itself, and what to do, and keeps what it holds. */
        void assertMayNotAskFor(NamedLock other) throws Exception {
            long token = token();
            for (Actor.Step asking : List.<Actor.Step>of(
                    other::lock,
                    other::lockInterruptibly,
                    other::tryLock,
                    () -> other.tryLock(20, TimeUnit.SECONDS),
                    () -> other.tryLock(Duration.ofSeconds(20), SHORT_TTL))) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> actor.run(asking))
                        .withMessageContaining(lock.getName())
                        .withMessageMatching("(?s).*(release|unlock).*");
            }
            assertThat(actor.call(other::getHoldCount)).isZero();
            assertThat(token()).isEqualTo(token);
        }
    }
}
