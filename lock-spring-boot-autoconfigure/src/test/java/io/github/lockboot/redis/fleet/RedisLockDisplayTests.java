package io.github.lockboot.redis.fleet;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.redis.RedisLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** What a lock shows of those who hold it and wait for it. */
class RedisLockDisplayTests {

    private static final LockOptions THREE = LockOptions.defaults().withPermits(3);

    private final Fleet fleet = new Fleet();
    private final RedisLockRegistry here = fleet.registry();
    private final RedisLockRegistry there = fleet.registry();
    private final Actor other = fleet.actor();

    @AfterEach
    void stop() {
        fleet.close();
    }

    private static String session(RedisLockRegistry registry) {
        return registry.inspector().session();
    }

    @Test
    void whoHoldsAndHowManyWait() throws Exception {
        RedisLock lock = here.get("a");
        assertThat(lock.holders()).isEmpty();
        assertThat(lock.waiters()).isZero();
        other.run(there.get("a")::lock);
        assertThat(lock.holders()).singleElement().asString().startsWith(session(there));
        assertThat(lock.isHeldHere()).isFalse();
        assertThat(there.get("a").isHeldHere()).isTrue();
        Actor waiter = fleet.actor();
        CompletableFuture<Boolean> waiting = waiter.start(() -> lock.tryLock(20, TimeUnit.SECONDS));
        Actor.await("it waits", () -> there.get("a").waiters() == 1);
        other.run(there.get("a")::unlock);
        assertThat(Actor.get(waiting)).isTrue();
        assertThat(lock.isHeldHere()).isTrue();
        assertThat(lock.waiters()).isZero();
        waiter.run(lock::unlock);
        assertThat(lock.isHeldHere()).isFalse();
        fleet.awaitNothingLeft();
    }

    @Test
    void permitsThatNobodyHoldsAreFree() throws Exception {
        RedisLock lock = here.get("calls", THREE);
        assertThat(lock.freePermits()).isEqualTo(3);
        lock.lock();
        other.run(there.get("calls", THREE)::lock);
        assertThat(lock.freePermits()).isEqualTo(1);
        other.run(there.get("calls", THREE)::unlock);
        lock.unlock();
        other.run(there.get("calls")::lock);
        assertThat(lock.freePermits()).isZero();
        other.run(there.get("calls")::unlock);
        assertThatIllegalStateException()
                .isThrownBy(() -> here.get("calls").freePermits())
                .withMessageContaining("calls")
                .withMessageContaining("withPermits");
    }

    @Test
    void theSmallestNumberOfPermitsAmongTheHoldersCounts() throws Exception {
        RedisLock lock = here.get("calls", LockOptions.defaults().withPermits(10));
        lock.lock();
        assertThat(lock.freePermits()).isEqualTo(9);
        other.run(there.get("calls", THREE)::lock);
        assertThat(lock.freePermits()).isEqualTo(1);
        Lease third = here.acquire("calls", THREE);
        assertThat(lock.freePermits()).isZero();
        assertThat(Actor.get(fleet.actor().start(() -> lock.tryLock()))).isFalse();
        third.close();
        lock.unlock();
        other.run(there.get("calls", THREE)::unlock);
    }

    @Test
    void eachIsOneCommandButWhetherItIsHeldHereIsNone() {
        RedisLock lock = here.get("a", THREE);
        lock.lock();
        lock.holders(); // so that Redis knows the script
        fleet.server().command("CONFIG", "RESETSTAT");
        lock.isHeldHere();
        lock.holders();
        lock.waiters();
        lock.freePermits();
        assertThat(String.valueOf(fleet.server().command("INFO", "commandstats")))
                .contains("cmdstat_evalsha:calls=3,");
        lock.unlock();
    }
}
