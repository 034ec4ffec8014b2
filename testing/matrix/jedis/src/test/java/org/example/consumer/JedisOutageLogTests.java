package org.example.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockboot.Actor;
import io.github.lockboot.LogVolume;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.GrantChannels;
import io.github.lockboot.redis.OutageLogContract;
import io.github.lockboot.redis.RedisLockRegistry;
import io.github.lockboot.redis.TestRegistries;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** The contract with Jedis. */
class JedisOutageLogTests {

    private static JedisConnectionFactory started(JedisConnectionFactory factory) {
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    private static JedisConnectionFactory to(RedisServer server) {
        return started(new JedisConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port())));
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
            return to(server);
        }
    }

    @Nested
    class Standalone extends OnOneServer {

        @Override
        protected void goAway() {
            server.stop();
        }

        @Override
        protected void comeBack() {
            server.restart();
        }
    }

    /** As a balancer cuts those that are idle, also in the pool. */
    @Nested
    class WhoseConnectionsAreCut {

        @Test
        void aCutIsNoWarning() {
            try (RedisServer server = RedisServer.start();
                    TcpProxy proxy = TcpProxy.to(server)) {
                JedisConnectionFactory factory =
                        started(new JedisConnectionFactory(new RedisStandaloneConfiguration(proxy.host(), proxy.port())));
                try (LogVolume log = new LogVolume();
                        RedisLockRegistry registry =
                                RedisLockRegistry.builder(factory).build()) {
                    Actor.await("it can lock", () -> TestRegistries.canLock(registry, "first"));
                    registry.connect();
                    for (int i = 0; i < 10; i++) {
                        Actor.await("the channel is live", () -> GrantChannels.isLive(registry));
                        long before = proxy.connections();
                        proxy.cut(); // the next attempt to subscribe gets the other connection of the pool
                        Actor.await("it connects again", () -> proxy.connections() > before);
                    }
                    Actor.await("the channel is live again", () -> GrantChannels.isLive(registry));
                    assertThat(OutageLogContract.channelLines(log)).isEmpty();
                } finally {
                    factory.destroy();
                }
            }
        }
    }

    /** Jedis reads on, and has nothing to tell. */
    @Nested
    class Hung extends OnOneServer {

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
    class OnACluster extends OutageLogContract {

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
            return started(new JedisConnectionFactory(new RedisClusterConfiguration(redis.nodes())));
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

    /** A connection of the pool on which Redis has refused the channel must not give its next user the reply to another command. */
    @Nested
    class WithoutTheRightToTheChannel {

        @Test
        void theApplicationGetsItsOwnReplies() throws Exception {
            try (RedisServer server = RedisServer.start()) {
                server.command("ACL", "SETUSER", "default", "resetchannels", "&nothing");
                JedisConnectionFactory factory = to(server);
                StringRedisTemplate template = new StringRedisTemplate(factory);
                template.afterPropertiesSet();
                template.opsForValue().set("key", "value");
                List<String> read = new ArrayList<>();
                try (LogVolume log = new LogVolume();
                        RedisLockRegistry registry = RedisLockRegistry.builder(factory).build()) {
                    registry.connect();
                    Actor.await("it is refused", () -> OutageLogContract.channelLines(log).size() > 0);
                    for (int i = 0; i < 100; i++) {
                        try {
                            read.add(template.opsForValue().get("key"));
                        } catch (RuntimeException failure) {
                            read.add(failure.toString());
                        }
                        Actor.pass(Duration.ofMillis(20));
                    }
                    assertThat(read).containsOnly("value");
                } finally {
                    factory.destroy();
                }
            }
        }
    }
}
