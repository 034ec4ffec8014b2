package io.github.lockboot.redis;

import java.time.Duration;
import java.util.Set;

import io.github.lockboot.Actor;
import io.github.lockboot.LogVolume;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisSentinel;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/** The contract with Lettuce. */
class OutageLogTests {

    private static LettuceConnectionFactory started(RedisConfiguration redis) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(redis);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    abstract static class OnOneServer extends OutageLogContract {

        protected RedisServer server;

        @BeforeEach
        void start() {
            server = RedisServer.start();
        }

        @AfterEach
        void stop() {
            server.close();
        }

        @Override
        protected RedisConnectionFactory connectionFactory() {
            return started(new RedisStandaloneConfiguration(server.host(), server.port()));
        }

        @Override
        protected void goAway() {
            server.stop();
        }

        @Override
        protected void comeBack() {
            server.restart();
        }
    }

    @Nested
    class Standalone extends OnOneServer {}

    /** It is what an application has that qualifies its factory. */
    @Nested
    class OnConnectionsOfTheApplication extends OnOneServer {

        @Override
        protected RedisLockRegistry.Builder settings(RedisLockRegistry.Builder builder) {
            return builder.sharingConnections();
        }
    }

    @Nested
    @Tag("full")
    class Hung extends OnOneServer {

        /** Only if something is sent meanwhile. */
        @Override
        protected boolean showsCut() {
            return false;
        }

        @Override
        protected void goAway() {
            server.pause();
        }

        @Override
        protected void comeBack() {
            server.resume();
        }
    }

    @Nested
    class WithAnotherPassword extends OnOneServer {

        /** Lettuce logs each time that the connection of commands is refused. */
        @Override
        protected long mostBytes() {
            return 50_000;
        }

        @Override
        protected void goAway() {
            server.command("CONFIG", "SET", "requirepass", "another");
            try (RedisProbe probe = server.probe()) {
                probe.command("AUTH", "another");
                probe.command("CLIENT", "KILL", "TYPE", "pubsub");
                probe.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            }
        }

        @Override
        protected void comeBack() {
            try (RedisProbe probe = server.probe()) {
                probe.command("AUTH", "another");
                probe.command("CONFIG", "SET", "requirepass", "");
            }
        }
    }

    @Nested
    class AtMaxclients extends OnOneServer {

        /** Lettuce logs each time that the connection of commands is refused. */
        @Override
        protected long mostBytes() {
            return 50_000;
        }

        private RedisProbe onlyClient;

        @Override
        protected void goAway() {
            RedisProbe probe = server.probe();
            onlyClient = probe;
            probe.command("CONFIG", "SET", "maxclients", "1");
            probe.command("CLIENT", "KILL", "TYPE", "pubsub");
            probe.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        }

        @Override
        protected void comeBack() {
            onlyClient.command("CONFIG", "SET", "maxclients", "1000");
            onlyClient.close();
        }
    }

    @Nested
    @Tag("full")
    class BehindSentinels extends OutageLogContract {

        private static RedisSentinel redis;

        @BeforeAll
        static void start() {
            redis = RedisSentinel.start(1);
        }

        @AfterAll
        static void stop() {
            redis.close();
        }

        @Override
        protected RedisConnectionFactory connectionFactory() {
            return started(new RedisSentinelConfiguration(redis.masterName(), Set.copyOf(redis.nodes())));
        }

        @Override
        protected void goAway() {
            redis.servers().forEach(RedisServer::stop);
        }

        @Override
        protected void comeBack() {
            redis.servers().forEach(RedisServer::restart);
        }
    }

    @Nested
    @Tag("full")
    class OnACluster extends OutageLogContract {

        /** Lettuce logs a long trace each time that it asks for the topology in vain. */
        @Override
        protected long mostBytes() {
            return 200_000;
        }

        private RedisCluster redis;

        @BeforeEach
        void start() {
            redis = RedisCluster.start(0);
        }

        @AfterEach
        void stop() {
            redis.close();
        }

        @Override
        protected RedisConnectionFactory connectionFactory() {
            return started(new RedisClusterConfiguration(redis.nodes()));
        }

        @Override
        protected void goAway() {
            redis.servers().forEach(RedisServer::stop);
        }

        @Override
        protected void comeBack() {
            redis.servers().forEach(RedisServer::restart);
        }
    }

    /** Lettuce cannot subscribe there. */
    @Nested
    class OnAFixedMasterAndReplica {

        @Test
        void nothingIsSubscribedAndOneLineSaysSo() {
            try (RedisServer master = RedisServer.start();
                    RedisServer replica =
                            RedisServer.start("--replicaof", master.host(), Integer.toString(master.port()))) {
                RedisStaticMasterReplicaConfiguration redis =
                        new RedisStaticMasterReplicaConfiguration(master.host(), master.port());
                redis.addNode(replica.host(), replica.port());
                LettuceConnectionFactory factory = started(redis);
                try (LogVolume log = new LogVolume();
                        RedisLockRegistry registry =
                                RedisLockRegistry.builder(factory).build()) {
                    Actor.await("it can lock", () -> TestRegistries.canLock(registry, "first"));
                    registry.connect().join();
                    Actor.pass(Duration.ofSeconds(6));
                    assertThat(log.bytes()).as("%s", log).isLessThan(2_000);
                    assertThat(OutageLogContract.channelLines(log))
                            .singleElement()
                            .asString()
                            .startsWith("INFO ");
                } finally {
                    factory.destroy();
                }
            }
        }
    }
}
