package io.github.lockboot.redis;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** A lock goes round once on each topology. The whole contract runs there with {@code -Pfull}. */
class TopologiesTests {

    @Test
    void aLockIsHandedOverOnACluster() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(0)) {
            aLockIsHandedOver(new RedisClusterConfiguration(cluster.nodes()));
        }
    }

    @Test
    void aLockIsHandedOverBehindSentinels() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start(1)) {
            aLockIsHandedOver(new RedisSentinelConfiguration(sentinel.masterName(), Set.copyOf(sentinel.nodes())));
        }
    }

    private static void aLockIsHandedOver(RedisConfiguration redis) throws Exception {
        try (TestRegistries registries = TestRegistries.on(redis);
                Actor waiter = new Actor()) {
            NamedLock here = registries.connected().get("round trip");
            RedisLockRegistry elsewhere = registries.connected();
            NamedLock there = elsewhere.get("round trip");
            here.lock();
            long token = here.fencingToken();
            assertThat(waiter.call(() -> there.tryLock())).isFalse();
            CompletableFuture<Boolean> waiting = waiter.start(() -> there.tryLock(20, TimeUnit.SECONDS));
            Actor.await("it waits", () -> elsewhere.inspector().inUse() > 0);
            here.unlock();
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isTrue();
            assertThat(waiter.call(there::fencingToken)).isGreaterThan(token);
            waiter.run(there::unlock);
            assertThat(here.isLocked()).isFalse();
        }
    }
}
