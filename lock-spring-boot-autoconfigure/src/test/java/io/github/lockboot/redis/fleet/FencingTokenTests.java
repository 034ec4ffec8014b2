package io.github.lockboot.redis.fleet;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.Actor;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tokens of one name only grow, whatever happens to the state in Redis between two holds. */
class FencingTokenTests {

    private final Fleet fleet = new Fleet();
    private final RedisLockRegistry a = fleet.registry();
    private final RedisLockRegistry b = fleet.registry();
    private final List<Long> tokens = new ArrayList<>();

    @AfterEach
    void stop() {
        fleet.close();
    }

    private long tokenOfOneHold(RedisLockRegistry registry) {
        NamedLock lock = registry.get("fenced");
        lock.lock();
        try {
            return lock.fencingToken();
        } finally {
            lock.unlock();
        }
    }

    private void assertGrowing() {
        assertThat(tokens).doesNotHaveDuplicates().isSorted();
    }

    @Test
    void overHandOversInOneJvmAndBetweenJvms() throws Exception {
        NamedLock lock = a.get("fenced");
        Actor holder = fleet.holder(lock);
        List<Actor> others = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            NamedLock wanted = (i % 3 == 0 ? b : a).get("fenced");
            Actor actor = fleet.actor();
            actor.begin(() -> {
                for (int k = 0; k < 50; k++) {
                    wanted.lock();
                    tokens.add(wanted.fencingToken()); // under the lock
                    wanted.unlock();
                }
            });
            others.add(actor);
        }
        holder.run(lock::unlock);
        for (Actor actor : others) {
            actor.run(() -> {});
        }
        assertThat(tokens).hasSize(600);
        assertGrowing();
    }

    @Test
    void overFlushallAndARestartOfRedis() {
        tokens.add(tokenOfOneHold(a));
        fleet.server().command("FLUSHALL");
        tokens.add(tokenOfOneHold(b));
        fleet.server().restart();
        Actor.await("working again", () -> Fleet.canLock(a, "other"));
        tokens.add(tokenOfOneHold(a));
        assertGrowing();
    }

    @Test
    void overFlushallWhileHeld() throws Exception {
        NamedLock lock = a.get("fenced");
        Actor holder = fleet.holder(lock);
        tokens.add(holder.call(lock::fencingToken));
        fleet.server().command("FLUSHALL");
        tokens.add(tokenOfOneHold(b));
        assertGrowing();
        assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LockLostException.class);
    }

    @Test
    void overAnExpiryThatNobodyTold() throws Exception {
        NamedLock lock = a.get(
                "fenced", LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withoutRenewal());
        for (int i = 0; i < 3; i++) {
            Actor holder = fleet.holder(lock);
            tokens.add(holder.call(lock::fencingToken));
            tokens.add(tokenOfOneHold(b)); // waits for the expiry
            assertThatThrownBy(() -> holder.run(lock::unlock)).isInstanceOf(LockLostException.class);
        }
        assertGrowing();
    }
}
