package io.github.lockboot.redis;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** A slot moves while its lock is used, by a user that may do no more than locks and a Cluster need. */
@Tag("full")
class MovingSlotAclTests {

    private static final int MOVES = 6;

    @Test
    void noCommandIsRefused() throws Exception {
        List<String> commands = TestApplications.both(AclUser.COMMANDS, AclUser.IN_A_CLUSTER);
        try (RedisCluster cluster = RedisCluster.start(0, server -> AclUser.addTo(server, commands));
                TestRegistries registries = TestRegistries.on(asUser(cluster));
                Actor actor = new Actor()) {
            NamedLock lock = registries.registry().get("a");
            AtomicInteger moves = new AtomicInteger();
            var using = actor.begin(() -> {
                while (moves.get() < MOVES) {
                    lock.lock();
                    lock.unlock();
                }
            });
            while (moves.getAndIncrement() < MOVES && !using.isDone()) {
                List<RedisServer> servers = cluster.servers();
                cluster.moveSlotOf(
                        "lock:a", servers.get((servers.indexOf(cluster.ownerOf("lock:a")) + 1) % servers.size()));
            }
            Actor.get(using);
            assertThat(cluster.servers().stream().flatMap(server -> AclUser.refusals(server).stream()))
                    .isEmpty();
        }
    }

    private static RedisClusterConfiguration asUser(RedisCluster cluster) {
        RedisClusterConfiguration redis = new RedisClusterConfiguration(cluster.nodes());
        redis.setUsername(AclUser.NAME);
        redis.setPassword(AclUser.PASSWORD);
        return redis;
    }
}
