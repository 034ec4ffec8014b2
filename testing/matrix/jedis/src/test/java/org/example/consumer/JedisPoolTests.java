package org.example.consumer;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.LockOptions;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.redis.RedisLockRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import redis.clients.jedis.JedisPoolConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A pool of one connection, which the application keeps. */
class JedisPoolTests {

    private RedisServer redis;
    private JedisConnectionFactory factory;
    private RedisLockRegistry registry;

    @BeforeEach
    void start() {
        redis = RedisServer.start();
    }

    @AfterEach
    void stop() {
        registry.close();
        factory.destroy();
        redis.close();
    }

    /** @param maxWait how long the pool lets its users wait */
    private NamedLock lock(Duration maxWait) {
        JedisPoolConfig pool = new JedisPoolConfig();
        pool.setMaxTotal(1);
        pool.setMaxWait(maxWait);
        factory = new JedisConnectionFactory(
                new RedisStandaloneConfiguration(redis.host(), redis.port()),
                JedisClientConfiguration.builder().usePooling().poolConfig(pool).build());
        factory.afterPropertiesSet();
        factory.start();
        registry = RedisLockRegistry.builder(factory)
                .commandTimeout(Duration.ofSeconds(2))
                .defaults(LockOptions.defaults().withWaitTime(Duration.ofSeconds(1)))
                .build();
        NamedLock lock = registry.get("a");
        lock.lock();
        lock.unlock();
        return lock;
    }

    @Test
    void aCallInVainNamesThePoolAndDoesNotTakeTheLockLater() {
        NamedLock lock = lock(Duration.ofMinutes(1));
        try (RedisConnection kept = factory.getConnection()) {
            kept.ping();
            for (Runnable call : List.<Runnable>of(lock::lock, lock::tryLock, lock::isLocked)) {
                assertThatExceptionOfType(LockUnavailableException.class)
                        .isThrownBy(call::run)
                        .withMessageContaining("the client of Redis gave no connection in time; check the size of its pool");
            }
        }
        lock.lock();
        lock.unlock();
        assertThat(redis.command("EXISTS", "lock:a")).isEqualTo(0L);
    }

    @Test
    void theFailureOfThePoolIsInTheMessage() {
        NamedLock lock = lock(Duration.ofMillis(200));
        try (RedisConnection kept = factory.getConnection()) {
            kept.ping();
            assertThatExceptionOfType(LockUnavailableException.class)
                    .isThrownBy(lock::tryLock)
                    .withMessageContaining("the client of Redis gave no connection in time; check the size of its pool")
                    .withMessageContaining("Timeout waiting for idle object");
        }
    }
}
