package io.github.lockboot.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.github.lockboot.Actor;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.StaleTokenException;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class RedisFenceTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private static RedisServer server;
    private static TestRegistries registries;

    private final String key = "price " + UUID.randomUUID();
    private final RedisFence fence = new RedisFence(registries.connectionFactory());

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        registries = TestRegistries.on(server);
    }

    @AfterAll
    static void stop() {
        registries.close();
        server.close();
    }

    @Test
    void theLateWriteOfAPausedHolderIsRefused() throws Exception {
        LockOptions fixed =
                LockOptions.defaults().withTtl(Duration.ofSeconds(1)).withoutRenewal();
        NamedLock paused = registries.registry().get(key, fixed);
        paused.lock();
        long token = paused.fencingToken();
        fence.set(key, "10", token, HOUR);

        Actor next = new Actor();
        NamedLock lock = registries.registry().get(key);
        next.run(() -> {
            lock.lock();
            fence.set(key, "12", lock.fencingToken(), HOUR);
            lock.unlock();
        });
        next.close();

        assertThatExceptionOfType(StaleTokenException.class)
                .isThrownBy(() -> fence.set(key, "11", token, HOUR))
                .satisfies(stale -> {
                    assertThat(stale.getLockName()).isEqualTo(key);
                    assertThat(stale.getFencingToken()).isEqualTo(token);
                    assertThat(stale.getNewestToken()).isGreaterThan(token);
                });
        assertThat(fence.get(key)).isEqualTo("12");
        assertThatExceptionOfType(LockLostException.class).isThrownBy(paused::unlock);
    }

    @Test
    void theLateWriteOfAReaderIsRefusedAfterThatOfTheNextWriter() throws Exception {
        NamedLock read = registries.registry().get(key, LockOptions.defaults().shared());
        NamedLock readElsewhere =
                registries.registry().get(key, LockOptions.defaults().shared());
        Actor other = new Actor();
        read.lock();
        assertThat(other.call(() -> readElsewhere.tryLock())).isTrue();
        long token = read.fencingToken();
        fence.set(key, "10", token, HOUR);
        fence.set(key, "11", other.call(readElsewhere::fencingToken), HOUR);
        read.unlock();
        other.run(readElsewhere::unlock);
        other.close();

        NamedLock write = registries.registry().get(key);
        write.lock();
        fence.set(key, "12", write.fencingToken(), HOUR);
        assertThatExceptionOfType(StaleTokenException.class).isThrownBy(() -> fence.set(key, "13", token, HOUR));
        write.unlock();
        assertThat(fence.get(key)).isEqualTo("12");
    }

    @Test
    void aHolderMayWriteAnyNumberOfTimes() {
        assertThat(fence.get(key)).isNull();
        fence.set(key, "1", 7, HOUR);
        fence.set(key, "2", 7, HOUR);
        fence.set(key, "", 8, HOUR);
        assertThat(fence.get(key)).isEmpty();
    }

    @Test
    void tokensAreComparedToTheLastDigit() {
        List<Long> tokens = List.of(9L, 10L, 9_007_199_254_740_993L, 9_007_199_254_740_994L, Long.MAX_VALUE - 1);
        for (long token : tokens) {
            fence.set(key, "by " + token, token, HOUR);
        }
        for (long token : tokens.subList(0, tokens.size() - 1)) {
            assertThatExceptionOfType(StaleTokenException.class)
                    .isThrownBy(() -> fence.set(key, "late", token, HOUR))
                    .satisfies(stale -> assertThat(stale.getNewestToken()).isEqualTo(Long.MAX_VALUE - 1));
        }
        fence.set(key, "last", Long.MAX_VALUE, HOUR);
        assertThat(fence.get(key)).isEqualTo("last");
    }

    @Test
    void theKeyLastsAsLongAsItWasTold() {
        fence.set(key, "1", 7, HOUR);
        fence.set(key, "2", 7, Duration.ofMinutes(1));
        assertThat((Long) server.command("PTTL", key)).isBetween(50_000L, 60_000L);
    }

    @Test
    void noKeyStaysForEverIfItsTimeToLiveIsRefused() {
        server.command("ACL", "SETUSER", "default", "-pexpire");
        try {
            assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> fence.set(key, "1", 7, HOUR));
            assertThat((Long) server.command("EXISTS", key)).isZero();
        } finally {
            server.command("ACL", "SETUSER", "default", "+pexpire");
        }
        fence.set(key, "2", 7, HOUR);
        assertThat(fence.get(key)).isEqualTo("2");
    }

    @Test
    void whatNoFenceCanDoIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> fence.set(key, "1", 0, HOUR))
                .withMessage("token is 0; pass the fencing token of the lock, which is positive");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> fence.set(key, "1", 1, Duration.ofNanos(999_999)))
                .withMessage("timeToLive is PT0.000999999S; it must be from 1 ms to 100 years");
        assertThatIllegalArgumentException() // Redis would refuse it, after it has written the value
                .isThrownBy(() -> fence.set(key, "1", 1, Duration.ofSeconds(Long.MAX_VALUE)))
                .withMessageEndingWith("; it must be from 1 ms to 100 years");
        server.command("SET", key, "of another kind");
        assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> fence.set(key, "1", 1, HOUR));
    }

    @Test
    void insideATransactionOfRedisNothingIsClaimed() {
        StringRedisTemplate template = new StringRedisTemplate(registries.connectionFactory());
        template.execute(new SessionCallback<Void>() {
            @Override
            public <K, V> Void execute(RedisOperations<K, V> session) {
                session.multi();
                assertThatIllegalStateException().isThrownBy(() -> fence.set(key, "1", 1, HOUR));
                session.discard();
                return null;
            }
        });
        assertThat(fence.get(key)).isNull();
    }

    @Test
    void aLateWriteIsNotTakenForDoneByTheReplyToAnother() {
        try (TcpProxy proxy = TcpProxy.to(server);
                TestRegistries application = TestRegistries.at(proxy.host(), proxy.port())) {
            RedisFence mixedUp = new RedisFence(application.connectionFactory());
            mixedUp.set(key, "newest", 8, HOUR);
            proxy.doubleReply();
            mixedUp.set(key, "newest", 8, HOUR);
            assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> mixedUp.set(key, "late", 7, HOUR));
            Actor.await("each command has its own reply again", () -> {
                try {
                    mixedUp.set(key, "newer", 9, HOUR);
                    return true;
                } catch (DataAccessException mixedUpStill) {
                    return false;
                }
            });
            assertThat(fence.get(key)).isEqualTo("newer");
        }
    }
}
