package org.example.consumer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisCluster;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.JedisPoolConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A pool of connections, on all of which the application waits for an element of a list. */
class JedisPoolTests {

    /** One is for the channel of grants, which keeps it if a call has to wait once the lock can be had again. */
    private static final int CONNECTIONS = 2;

    private static final String LIST = "{lock:a}"; // on the same server as the lock
    private static final String NO_CONNECTION_FREE = "no connection in the pool of the Redis client was available";

    /** @param maxWait how long the pool lets its users wait */
    private static JedisClientConfiguration client(Duration maxWait) {
        JedisPoolConfig pool = new JedisPoolConfig();
        pool.setMaxTotal(CONNECTIONS);
        pool.setMaxWait(maxWait);
        return JedisClientConfiguration.builder()
                .readTimeout(Duration.ofMinutes(1))
                .usePooling()
                .poolConfig(pool)
                .build();
    }

    private static void assertCallsNameThePool(JedisConnectionFactory factory, RedisServer owner, String cause)
            throws Exception {
        factory.afterPropertiesSet();
        factory.start();
        try (RedisLockRegistry registry = RedisLockRegistry.builder(factory)
                .commandTimeout(Duration.ofSeconds(2))
                .defaults(LockOptions.defaults().withWaitTime(Duration.ofSeconds(1)))
                .build()) {
            NamedLock lock = registry.get("a");
            Await.until("connected", () -> {
                try {
                    lock.lock();
                    lock.unlock();
                    return true;
                } catch (LockUnavailableException notYet) {
                    return false;
                }
            });
            List<CompletableFuture<Void>> waiting = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                waiting.add(waitForAnElement(factory));
            }
            Await.until("all wait", () -> waitingAt(owner) == CONNECTIONS);
            for (Runnable call : List.<Runnable>of(lock::lock, lock::tryLock, lock::isLocked)) {
                assertThatExceptionOfType(LockUnavailableException.class)
                        .isThrownBy(call::run)
                        .withMessageContaining(NO_CONNECTION_FREE)
                        .withMessageContaining(cause);
            }
            waiting.forEach(each -> owner.command("RPUSH", LIST, "element"));
            for (CompletableFuture<Void> each : waiting) {
                each.get(30, TimeUnit.SECONDS);
            }
            Await.until("nothing stays", () -> owner.command("EXISTS", "lock:a").equals(0L));
            assertThat(lock.tryLock(20, TimeUnit.SECONDS)).isTrue();
            lock.unlock();
        } finally {
            factory.destroy();
        }
    }

    private static CompletableFuture<Void> waitForAnElement(JedisConnectionFactory factory) {
        return CompletableFuture.runAsync(
                () -> {
                    try (RedisConnection kept = factory.getConnection()) {
                        kept.listCommands().bLPop(30, LIST.getBytes());
                    }
                },
                task -> new Thread(task).start());
    }

    private static long waitingAt(RedisServer owner) {
        return String.valueOf(owner.command("CLIENT", "LIST"))
                .lines()
                .filter(client -> client.contains("cmd=blpop"))
                .count();
    }

    @Test
    void aCallThatWaitsInVainNamesThePool() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            RedisStandaloneConfiguration standalone = new RedisStandaloneConfiguration(redis.host(), redis.port());
            assertCallsNameThePool(
                    new JedisConnectionFactory(standalone, client(Duration.ofMinutes(1))), redis, NO_CONNECTION_FREE);
        }
    }

    @Test
    void aCallThatThePoolRefusesNamesThePool() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            RedisStandaloneConfiguration standalone = new RedisStandaloneConfiguration(redis.host(), redis.port());
            assertCallsNameThePool(
                    new JedisConnectionFactory(standalone, client(Duration.ofMillis(200))),
                    redis,
                    "Timeout waiting for idle object");
        }
    }

    @Test
    void aCallThatWaitsInVainForAMasterOfAClusterNamesThePool() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(0)) {
            assertCallsNameThePool(
                    new JedisConnectionFactory(
                            new RedisClusterConfiguration(cluster.nodes()), client(Duration.ofMinutes(1))),
                    cluster.ownerOf(LIST),
                    NO_CONNECTION_FREE);
        }
    }

    @Test
    void aChannelThatTheUserMayNotLeaveIsNotGivenBackToThePool() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            for (String right : List.of("on", ">secret", "allkeys", "allchannels", "allcommands", "-unsubscribe")) {
                redis.command("ACL", "SETUSER", "locks", right);
            }
            RedisStandaloneConfiguration standalone = new RedisStandaloneConfiguration(redis.host(), redis.port());
            standalone.setUsername("locks");
            standalone.setPassword("secret");
            JedisConnectionFactory factory = new JedisConnectionFactory(
                    standalone, JedisClientConfiguration.builder().usePooling().build());
            factory.afterPropertiesSet();
            factory.start();
            try {
                RedisLockRegistry registry = RedisLockRegistry.builder(factory).build();
                registry.connect().get(20, TimeUnit.SECONDS);
                Await.until("it listens", () -> !List.of().equals(redis.command("PUBSUB", "CHANNELS")));
                registry.close();
                Await.until("it listens no more", () -> List.of().equals(redis.command("PUBSUB", "CHANNELS")));
                try (RedisConnection next = factory.getConnection()) {
                    assertThat(next.stringCommands().get("a".getBytes())).isNull();
                }
            } finally {
                factory.destroy();
            }
        }
    }
}
