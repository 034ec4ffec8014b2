package io.github.lockboot.redis;

import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockboot.Actor;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.AclUser;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.StoredLock;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/** CLIENT LIST shows which process holds a lock: the names of its connections have what the holder's id begins with. */
class ConnectionNameTests {

    private static final Pattern NAME = Pattern.compile(" name=(\\S*) ");

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** What the id of the holder in Redis begins with. */
    private static String sessionOfHolder(RedisServer at, String name) {
        return StoredLock.at(at, "lock:" + name).holders().get(0).id().substring(0, 8);
    }

    private static List<String> namesAt(RedisServer at) {
        return String.valueOf(at.command("CLIENT", "LIST"))
                .lines()
                .map(NAME::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .filter(found -> found.contains("lock-"))
                .toList();
    }

    @Test
    void theConnectionsForCommandsAndMessagesAreNamedAfterTheHolder() throws Exception {
        try (TestRegistries registries = TestRegistries.on(server);
                TestRegistries others = TestRegistries.on(server)) {
            RedisLockRegistry registry = registries.registry();
            registry.connect().get();
            NamedLock lock = registry.get("named");
            lock.lock();
            others.connected();
            String session = sessionOfHolder(server, "named");
            Actor.await(
                    "both connections",
                    () -> namesAt(server).stream()
                                    .filter(("lock-" + session)::equals)
                                    .count()
                            == 2);
            assertThat(namesAt(server)).contains("lock-" + session).hasSizeGreaterThan(2);
            assertThat(registry.describe())
                    .isEqualTo(registry.describe().replaceFirst(",? session.*", "") + ", session " + session);
            server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            assertThat(lock.isLocked()).isTrue();
            Actor.await(
                    "named again",
                    () -> namesAt(server).stream()
                                    .filter(("lock-" + session)::equals)
                                    .count()
                            == 2);
            lock.unlock();
        }
    }

    @Test
    void theNameThatTheApplicationGivesStaysInFront() {
        LettuceClientConfiguration client =
                LettuceClientConfiguration.builder().clientName("shop").build();
        try (TestRegistries registries =
                TestRegistries.on(new RedisStandaloneConfiguration(server.host(), server.port()), client)) {
            NamedLock lock = registries.registry().get("in-front");
            lock.lock();
            assertThat(namesAt(server)).contains("shop-lock-" + sessionOfHolder(server, "in-front"));
            lock.unlock();
        }
    }

    /** Over RESP2 the name is a command of its own, for which the user may have no right. */
    @Test
    void aUserWithoutTheRightToNameConnectionsLocksAllTheSame() {
        try (RedisServer restricted =
                AclUser.addTo(RedisServer.builder(), AclUser.COMMANDS).start()) {
            RedisStandaloneConfiguration redis = new RedisStandaloneConfiguration(restricted.host(), restricted.port());
            redis.setUsername(AclUser.NAME);
            redis.setPassword(AclUser.PASSWORD);
            for (ProtocolVersion version : ProtocolVersion.values()) {
                LettuceClientConfiguration client = LettuceClientConfiguration.builder()
                        .clientOptions(
                                ClientOptions.builder().protocolVersion(version).build())
                        .build();
                try (TestRegistries registries = TestRegistries.on(redis, client)) {
                    NamedLock lock = registries.connected().get(version.toString());
                    lock.lock();
                    String name = "lock-" + sessionOfHolder(restricted, version.toString());
                    assertThat(namesAt(restricted).contains(name)).isEqualTo(version == ProtocolVersion.RESP3);
                    lock.unlock();
                }
            }
        }
    }

    /** Without a connection there is no session, and a line in the log is no reason to make one. */
    @Test
    void beforeTheFirstUseThereIsNoSession() {
        try (TestRegistries registries = TestRegistries.on(server)) {
            assertThat(registries.registry().describe()).endsWith(", wait time 10s");
        }
    }

    @Test
    @Tag("full")
    void onAClusterTheMasterOfTheKeyShowsIt() {
        try (RedisCluster cluster = RedisCluster.start(0);
                TestRegistries registries = TestRegistries.on(new RedisClusterConfiguration(cluster.nodes()))) {
            NamedLock lock = registries.connected().get("clustered");
            lock.lock();
            RedisServer master = cluster.ownerOf("lock:clustered");
            assertThat(namesAt(master)).contains("lock-" + sessionOfHolder(master, "clustered"));
            lock.unlock();
        }
    }

    @Test
    @Tag("full")
    void behindSentinelTheMasterShowsIt() {
        try (RedisSentinel sentinel = RedisSentinel.start();
                TestRegistries registries = TestRegistries.on(
                        new RedisSentinelConfiguration(sentinel.masterName(), Set.copyOf(sentinel.nodes())))) {
            NamedLock lock = registries.connected().get("watched");
            lock.lock();
            assertThat(namesAt(sentinel.master())).contains("lock-" + sessionOfHolder(sentinel.master(), "watched"));
            lock.unlock();
        }
    }
}
