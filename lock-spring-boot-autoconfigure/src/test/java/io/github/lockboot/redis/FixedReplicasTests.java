package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.Replication;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** A fixed list of a master and replicas, whose roles change: Lettuce asks for them only when it connects. */
class FixedReplicasTests {

    private final RedisServer one = RedisServer.start();
    private final RedisServer other = RedisServer.start("--replicaof", one.host(), String.valueOf(one.port()));
    private TestRegistries registries;

    @BeforeEach
    void connect() {
        awaitReplica(other);
        RedisStaticMasterReplicaConfiguration nodes = new RedisStaticMasterReplicaConfiguration(one.host(), one.port());
        nodes.addNode(other.host(), other.port());
        registries = TestRegistries.on(nodes);
    }

    @AfterEach
    void close() {
        registries.close();
        one.close();
        other.close();
    }

    private static void awaitReplica(RedisServer replica) {
        Actor.await(
                "in step",
                () -> String.valueOf(replica.command("INFO", "replication")).contains("master_link_status:up"));
    }

    private RedisLockRegistry registry(Duration ttl) {
        return registries.registry(builder -> builder.commandTimeout(Duration.ofSeconds(1))
                .defaults(LockOptions.defaults().withTtl(ttl)));
    }

    private void promoteOther() {
        Replication.awaitCopied(one, List.of(other));
        other.command("REPLICAOF", "NO", "ONE");
    }

    @Test
    void whereTheMasterBecomesAReplicaLocksAreOnTheNewOne() {
        RedisLockRegistry registry = registry(Duration.ofSeconds(30));
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
        promoteOther();
        one.command("REPLICAOF", other.host(), String.valueOf(other.port()));
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
    }

    @Test
    void aHoldOutlivesAChangeOfRoles() {
        RedisLockRegistry registry = registry(Duration.ofSeconds(6));
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
        NamedLock lock = registry.get("a");
        AtomicInteger losses = new AtomicInteger();
        lock.lock();
        lock.onLost(losses::incrementAndGet);
        promoteOther();
        one.command("REPLICAOF", other.host(), String.valueOf(other.port()));
        Actor.awaitRenewals(6, lock::remainingLease); // for two leases
        assertThat(losses).hasValue(0);
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        lock.unlock();
        assertThat(other.command("EXISTS", "lock:a")).isEqualTo(0L);
    }

    @Test
    void whereTheMasterDiesLocksAreOnTheNewOne() {
        RedisLockRegistry registry = registry(Duration.ofSeconds(30));
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
        Replication.awaitCopied(one, List.of(other));
        one.kill();
        Actor.await("no master", () -> !TestRegistries.canLock(registry, "a"));
        other.command("REPLICAOF", "NO", "ONE");
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
    }

    @Test
    void whereTheMasterHangsLocksAreOnTheNewOne() {
        RedisLockRegistry registry = registry(Duration.ofSeconds(30));
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
        Replication.awaitCopied(one, List.of(other));
        one.pause();
        other.command("REPLICAOF", "NO", "ONE");
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
    }

    /** Lettuce connects, and knows no master until it is asked to connect again. */
    @Test
    void withoutAMasterAtFirstLocksAreOnTheOneThatComes() {
        one.kill();
        RedisLockRegistry registry = registry(Duration.ofSeconds(30));
        assertThat(TestRegistries.canLock(registry, "a")).isFalse();
        Actor.pass(Duration.ofSeconds(2));
        assertThat(TestRegistries.canLock(registry, "a")).isFalse();
        one.restart();
        Actor.await("locks", () -> TestRegistries.canLock(registry, "a"));
    }
}
