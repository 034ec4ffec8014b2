package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.FakeRedis;
import io.github.lockboot.fixture.FakeRedis.Answer;
import io.github.lockboot.fixture.RedisBinary;
import io.github.lockboot.fixture.RedisClock;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry.Acknowledge;
import io.github.lockboot.redis.protocol.RedisProgram;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A holder knows that Redis has lost its lock long before the next renewal, which is a quarter of an hour away here.
 */
class AnnouncedLossTests {

    private static final LockOptions LONG = LockOptions.defaults().withTtl(Duration.ofMinutes(45));
    private static final Duration LONG_BEFORE_THE_RENEWAL = Duration.ofSeconds(20);

    /** What takes the lock from its holder. */
    enum Harm {
        DEL,
        UNLINK,
        FLUSHALL,
        RENAME,
        SET,
        EVICTED;

        void on(RedisServer server, String key) {
            switch (this) {
                case DEL, UNLINK -> server.command(name(), key);
                case FLUSHALL -> server.command("FLUSHALL");
                case RENAME -> server.command("RENAME", key, key + ":old");
                case SET -> server.command("SET", key, "mine");
                case EVICTED -> {
                    server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random");
                    server.command("CONFIG", "SET", "maxmemory", "1");
                }
            }
        }
    }

    static Stream<Arguments> harms() {
        return Stream.of(RedisProgram.values())
                .flatMap(program -> Stream.of(Harm.values()).map(harm -> Arguments.of(program, harm)));
    }

    @ParameterizedTest
    @MethodSource("harms")
    void aLossIsKnown(RedisProgram program, Harm harm) throws Exception {
        try (RedisServer server = program.start();
                TestRegistries registries = TestRegistries.on(server)) {
            Lease lease = hold(registries.connected(), LONG);
            awaitTracked(server);
            harm.on(server, "lock:held");
            awaitLoss(lease);
        }
    }

    @Test
    void aLossIsKnownWhenTheKeyExpiresBecauseTheClockOfRedisIsSet() throws Exception {
        Optional<RedisClock> made = RedisClock.of(RedisBinary.find());
        assumeTrue(
                made.isPresent(),
                "A clock of Redis that steps: it needs Linux, a C compiler and a dynamically linked Redis");
        try (RedisClock clock = made.orElseThrow();
                RedisServer server =
                        RedisServer.builder().binary(clock.program()).start();
                TestRegistries registries = TestRegistries.on(server)) {
            Lease lease = hold(registries.connected(), LONG);
            awaitTracked(server);
            clock.step(Duration.ofHours(1));
            awaitLoss(lease);
        }
    }

    @Test
    void aLossIsKnownToReaders() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server)) {
            Lease lease = hold(registries.connected(), LONG.shared());
            awaitTracked(server);
            server.command("FLUSHALL");
            awaitLoss(lease);
        }
    }

    @Test
    void aLossIsKnownWhereOthersWait() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server)) {
            Lease lease = hold(registries.connected(), LONG);
            CompletableFuture<Lease> next = registries.connected().acquireAsync("held", LONG);
            awaitTracked(server);
            server.command("DEL", "lock:held");
            awaitLoss(lease);
            Actor.get(next).close();
        }
    }

    @Test
    void aLossIsKnownWhileTheConnectionIsCut() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server)) {
            Lease lease = hold(registries.connected(), LONG);
            for (int i = 0; i < 3; i++) {
                awaitTracked(server);
                server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            }
            awaitTracked(server);
            assertThat(lease.isValid()).isTrue();
            cutAndDelete(server);
            awaitLoss(lease);
        }
    }

    /** Redis forgets what it tracked for a connection before it could announce anything. */
    private static void cutAndDelete(RedisServer server) {
        try (RedisProbe probe = server.probe()) {
            probe.command("MULTI");
            probe.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            probe.command("DEL", "lock:held");
            probe.command("EXEC");
        }
    }

    @Test
    @Tag("full")
    void aLossIsKnownBehindSentinels() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start(1);
                TestRegistries registries = TestRegistries.on(
                        new RedisSentinelConfiguration(sentinel.masterName(), Set.copyOf(sentinel.nodes())))) {
            for (Harm harm : List.of(Harm.DEL, Harm.FLUSHALL, Harm.SET)) {
                Lease lease = hold(registries.connected(), LONG);
                awaitTracked(sentinel.master());
                harm.on(sentinel.master(), "lock:held");
                awaitLoss(lease);
                forget(sentinel.master());
            }
        }
    }

    @Test
    @Tag("full")
    void aLossIsKnownOnACluster() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(0);
                TestRegistries registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()))) {
            RedisServer owner = cluster.ownerOf("lock:held");
            for (Harm harm : List.of(Harm.DEL, Harm.FLUSHALL, Harm.SET)) {
                Lease lease = hold(registries.connected(), LONG);
                awaitTracked(owner);
                harm.on(owner, "lock:held");
                awaitLoss(lease);
                forget(owner);
            }
        }
    }

    // --- where nothing is announced ---------------------------------------------------------------------------

    @Test
    void withResp2LocksWorkAsBefore() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(at(server), resp2())) {
            locksWork(server, registries.connected());
        }
    }

    @Test
    void withoutTheRightToTrackKeysLocksWorkAsBefore() throws Exception {
        try (RedisServer server =
                AclUser.addTo(RedisServer.builder(), AclUser.COMMANDS).start()) {
            server.command("ACL", "SETUSER", AclUser.NAME, "-client");
            RedisStandaloneConfiguration redis = at(server);
            redis.setUsername(AclUser.NAME);
            redis.setPassword(AclUser.PASSWORD);
            try (TestRegistries registries = TestRegistries.on(redis)) {
                locksWork(server, registries.connected());
            }
        }
    }

    @Test
    void onConnectionsOfTheApplicationLocksWorkAsBefore() throws Exception {
        try (RedisServer server = RedisServer.start();
                TestRegistries registries = TestRegistries.on(server)) {
            RedisLockRegistry sharing = registries.registry(RedisLockRegistry.Builder::sharingConnections);
            Actor.await("connected", () -> TestRegistries.canLock(sharing, "connecting"));
            locksWork(server, sharing);
        }
    }

    /** Before Redis there may be a proxy that knows fewer commands. */
    @ParameterizedTest
    @ValueSource(strings = {"TRACKING", "CACHING"})
    void behindAProxyThatClosesTheConnectionLocksWorkAsBefore(String word) throws Exception {
        try (RedisServer server = RedisServer.start();
                TcpProxy proxy = TcpProxy.to(server);
                TestRegistries registries = TestRegistries.at(proxy.host(), proxy.port())) {
            RedisLockRegistry registry = registries.connected();
            proxy.closeOn(word);
            long before = proxy.connections();
            locksWork(server, registry);
            assertThat(proxy.connections() - before)
                    .as("one in place of the connection that was closed, and that of the channel")
                    .isBetween(1L, 2L);
        }
    }

    @Test
    void behindAProxyThatClosesTheConnectionOfManyLeasesEachIsRenewed() throws Exception {
        try (RedisServer server = RedisServer.start();
                TcpProxy proxy = TcpProxy.to(server);
                TestRegistries registries = TestRegistries.at(proxy.host(), proxy.port())) {
            proxy.closeOn("TRACKING");
            RedisLockRegistry registry = registries.connected();
            long before = proxy.connections();
            Duration ttl = Duration.ofSeconds(9);
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                leases.add(Actor.get(registry.acquireAsync(
                        "held " + i, LockOptions.defaults().withTtl(ttl))));
            }
            Actor.awaitRenewals(6, leases.get(0)::remainingLease); // for two leases
            assertThat(leases).allMatch(Lease::isValid);
            assertThat(proxy.connections() - before).isLessThan(10);
        }
    }

    @Test
    void behindAProxyThatClosesTheConnectionAcknowledgedLocksWorkAsBefore() throws Exception {
        try (RedisServer server = RedisServer.start();
                RedisServer replica = RedisServer.start("--replicaof", server.host(), String.valueOf(server.port()));
                TcpProxy proxy = TcpProxy.to(server);
                TestRegistries registries = TestRegistries.at(proxy.host(), proxy.port())) {
            RedisLockRegistry registry = registries.registry(
                    builder -> builder.acknowledge(Acknowledge.ONE).commandTimeout(Duration.ofSeconds(2)));
            Actor.await("the replica has " + replica, () -> TestRegistries.canLock(registry, "connecting"));
            proxy.closeOn("TRACKING");
            locksWork(server, registry);
        }
    }

    @Test
    void behindAProxyThatNeverAnswersLocksWorkAsBefore() throws Exception {
        try (RedisServer server = RedisServer.start();
                FakeRedis proxy = FakeRedis.before(server);
                TestRegistries registries = TestRegistries.at(proxy.host(), proxy.port())) {
            RedisLockRegistry registry = registries.registry(builder -> builder.commandTimeout(Duration.ofMillis(500)));
            Actor.await("connected", () -> TestRegistries.canLock(registry, "connecting"));
            proxy.answer(command -> command.contains("TRACKING"), Answer.half(""), FakeRedis.FOR_EVER);
            locksWork(server, registry);
            assertThat(proxy.answered()).hasSize(1);
        }
    }

    @Test
    void behindAProxyThatAnswersLateLocksWorkAsBefore() throws Exception {
        try (RedisServer server = RedisServer.start();
                FakeRedis proxy = FakeRedis.before(server);
                TestRegistries registries = TestRegistries.at(proxy.host(), proxy.port())) {
            RedisLockRegistry registry = registries.registry(builder -> builder.commandTimeout(Duration.ofMillis(500)));
            Actor.await("connected", () -> TestRegistries.canLock(registry, "connecting"));
            proxy.answer(
                    command -> {
                        if (command.contains("TRACKING")) {
                            Actor.pass(Duration.ofMillis(800));
                        }
                        return false;
                    },
                    Answer.half(""),
                    FakeRedis.FOR_EVER);
            locksWork(server, registry);
        }
    }

    /** A lock is renewed for longer than its ttl, and its loss is known at the next renewal. */
    private static void locksWork(RedisServer server, RedisLockRegistry registry) throws Exception {
        Lease lease = hold(registry, LockOptions.defaults().withTtl(Duration.ofSeconds(10)));
        Actor.awaitRenewals(4, lease::remainingLease);
        assertThat(lease.isValid()).isTrue();
        assertThat(tracked(server)).isZero();
        server.command("DEL", "lock:held");
        awaitLoss(lease);
    }

    // --- helpers ----------------------------------------------------------------------------------------------

    private static Lease hold(RedisLockRegistry registry, LockOptions options) throws Exception {
        return Actor.get(registry.acquireAsync("held", options));
    }

    private static void awaitLoss(Lease lease) {
        Actor.await("the holder knows", LONG_BEFORE_THE_RENEWAL, () -> !lease.isValid());
    }

    private static void awaitTracked(RedisServer server) {
        Actor.await("Redis tracks the lock", LONG_BEFORE_THE_RENEWAL, () -> tracked(server) == 1);
    }

    /** The renewal that found the loss read the key, too. */
    private static void forget(RedisServer server) {
        server.command("SET", "lock:held", "");
        server.command("DEL", "lock:held");
    }

    private static int tracked(RedisServer server) {
        try (RedisProbe probe = server.probe()) {
            return Integer.parseInt(probe.info("stats").get("tracking_total_keys"));
        }
    }

    private static RedisStandaloneConfiguration at(RedisServer server) {
        return new RedisStandaloneConfiguration(server.host(), server.port());
    }

    private static LettuceClientConfiguration resp2() {
        return LettuceClientConfiguration.builder()
                .clientOptions(ClientOptions.builder()
                        .protocolVersion(ProtocolVersion.RESP2)
                        .build())
                .build();
    }
}
