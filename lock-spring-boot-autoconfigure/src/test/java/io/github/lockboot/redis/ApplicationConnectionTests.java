package io.github.lockboot.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.Figures;
import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.OwnThread;
import io.github.lockboot.fixture.FakeRedis;
import io.github.lockboot.fixture.FakeRedis.Answer;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockInspector.Notification;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks used while the application's own connection is in the middle of something: neither notices the other. The same
 * with {@code sharingConnections}, where both come from one factory.
 */
@OwnThread
class ApplicationConnectionTests {

    private static final Duration TTL = Duration.ofSeconds(6);
    private static final int HUGE = 64 << 20;

    private static RedisServer server;

    private final FakeRedis between = FakeRedis.before(server);
    private final TestRegistries application = TestRegistries.at(between.host(), between.port());
    private final LettuceConnectionFactory factory = application.connectionFactory();
    private final StringRedisTemplate template = new StringRedisTemplate(factory);
    private final TestRegistries others = TestRegistries.on(server);

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @AfterEach
    void nothingIsLeft() {
        between.pass();
        Actor.await("no lock is left", () -> server.command("KEYS", "lock:*").equals(List.of()));
        application.close();
        others.close();
        between.close();
        server.command("FLUSHALL");
    }

    private RedisLockRegistry registry(boolean sharing) {
        return application.registry(builder -> (sharing ? builder.sharingConnections() : builder)
                .defaults(LockOptions.defaults().withTtl(TTL)));
    }

    /** A lock is taken, refused to others, renewed, handed over to one who waits, and released. */
    private void useLocks(RedisLockRegistry registry) {
        NamedLock lock = registry.get("x");
        RedisLockRegistry elsewhere = others.registry();
        AtomicInteger losses = new AtomicInteger();
        lock.lock();
        lock.onLost(losses::incrementAndGet);
        assertThat(server.command("EXISTS", "lock:x")).as("now, not at EXEC").isEqualTo(1L);
        assertThat(lock.isLocked()).isTrue();
        assertThat(elsewhere.get("x").tryLock()).isFalse();
        CompletableFuture<?> next =
                elsewhere.acquireAsync("x", LockOptions.defaults()).thenAccept(Lease::close);
        Actor.awaitRenewals(2, lock::remainingLease);
        assertThat(lock.isHeldByCurrentThread()).isTrue();
        assertThat(lock.fencingToken()).isPositive();
        lock.unlock();
        assertThat(next).succeedsWithin(Duration.ofSeconds(60));
        assertThat(losses).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void inMulti(boolean sharing) {
        RedisLockRegistry registry = registry(sharing);
        List<Object> results = template.execute(new SessionCallback<>() {
            @Override
            @SuppressWarnings("unchecked")
            public <K, V> List<Object> execute(RedisOperations<K, V> session) {
                RedisOperations<String, String> mine = (RedisOperations<String, String>) session;
                mine.multi();
                mine.opsForValue().set("a", "1");
                useLocks(registry);
                mine.opsForValue().get("a");
                return mine.exec();
            }
        });
        assertThat(results).containsExactly(true, "1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void inAPipeline(boolean sharing) {
        RedisLockRegistry registry = registry(sharing);
        List<Object> results = template.executePipelined(new SessionCallback<>() {
            @Override
            @SuppressWarnings("unchecked")
            public <K, V> Object execute(RedisOperations<K, V> session) {
                RedisOperations<String, String> mine = (RedisOperations<String, String>) session;
                mine.opsForValue().set("a", "1");
                useLocks(registry);
                mine.opsForValue().get("a");
                return null;
            }
        });
        assertThat(results).containsExactly(true, "1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withTransactionSupport(boolean sharing) {
        template.setEnableTransactionSupport(true);
        RedisLockRegistry registry = registry(sharing);
        SingleConnectionDataSource database = new SingleConnectionDataSource("jdbc:h2:mem:conn", "sa", "", true);
        TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(database));
        for (boolean commits : List.of(true, false)) {
            transaction.executeWithoutResult(status -> {
                template.opsForValue().set("committed-" + commits, "1");
                useLocks(registry);
                assertThat(server.command("EXISTS", "committed-" + commits))
                        .as("the transaction is still open")
                        .isEqualTo(0L);
                if (!commits) {
                    status.setRollbackOnly();
                }
            });
        }
        assertThat(server.command("EXISTS", "committed-true")).isEqualTo(1L);
        assertThat(server.command("EXISTS", "committed-false")).isEqualTo(0L);
        database.destroy();
    }

    /** Then each connection of the factory ends, or is that of another, as soon as it is given back. */
    @Test
    void locksHaveConnectionsOfTheirOwnWhereTheFactorySharesNone() {
        factory.setShareNativeConnection(false);
        useLocks(registry(true));
    }

    /** The client does not tell which of its subscriptions has ended. */
    @Test
    void aSubscriptionOfTheApplicationThatEndsDoesNotEndThatOfTheLocks() {
        RedisLockRegistry registry = registry(true);
        RedisLockInspector inspector = registry.inspector();
        assertThat(registry.connect()).succeedsWithin(Duration.ofSeconds(60));
        Actor.await("the channel is live", () -> inspector.check() == Notification.LIVE);
        RedisClient client = (RedisClient) factory.getRequiredNativeClient();
        AtomicInteger ended = new AtomicInteger();
        client.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
                ended.incrementAndGet();
            }
        });
        StatefulRedisPubSubConnection<String, String> subscription = client.connectPubSub();
        Actor.pass(Duration.ofMillis(1_500)); // after a connection was made, the channel is looked at within a second
        subscription.close();
        Actor.await("the locks may know of the end", () -> ended.get() == 1);
        Actor.await("the channel is live", () -> inspector.check() == Notification.LIVE);
    }

    @Test
    void behindAReplyOf64MegabytesReadOverAndOver() throws Exception {
        StringRedisTemplate direct = new StringRedisTemplate(others.connectionFactory());
        direct.opsForValue().set("huge", "x".repeat(HUGE));
        RedisLockRegistry registry = others.registry(builder -> builder.commandTimeout(Duration.ofSeconds(10)));
        Actor.await("connected", () -> FakedServer.canLock(registry));
        NamedLock lock = registry.get("x");
        try (Actor reader = new Actor()) {
            CompletableFuture<Integer> reads = reader.start(() -> {
                int read = 0;
                for (int round = 0; round < 5; round++) {
                    read += String.valueOf(direct.opsForValue().get("huge")).length();
                }
                return read;
            });
            int holds = 0;
            while (!reads.isDone()) {
                lock.lock();
                lock.unlock();
                holds++;
            }
            assertThat(Actor.get(reads)).isEqualTo(5 * HUGE);
            Figures.report("behind 5 replies of 64 MB on the application's connection: %d holds", holds);
            assertThat(holds).isGreaterThan(5);
        }
        direct.delete("huge");
    }

    @Test
    void behindAReplyThatDoesNotEnd() throws Exception {
        RedisLockRegistry registry = registry(false);
        template.opsForValue().get("connect");
        between.answer(
                command -> Arrays.asList("GET", "stuck").equals(command),
                Answer.endless("$500000000\r\n", "x".repeat(100)),
                1);
        try (Actor reader = new Actor()) {
            CompletableFuture<Object> read =
                    reader.start(() -> template.opsForValue().get("stuck"));
            Actor.await("it is stuck", () -> !between.answered().isEmpty());
            useLocks(registry);
            assertThat(read).isNotDone();
            between.pass(); // closes the connection, and Lettuce asks again
            assertThat(read).succeedsWithin(30, TimeUnit.SECONDS);
        }
    }

    /** What refuses and drops commands of the application, or ends its reconnecting, is not for locks. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 10})
    void withAShortQueueAndOtherOptionsThatRefuseCommands(int requestQueueSize) throws Exception {
        ClientOptions options = ClientOptions.builder()
                .requestQueueSize(requestQueueSize)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .suspendReconnectOnProtocolFailure(true)
                .build();
        TcpProxy proxy = TcpProxy.to(server);
        try (TestRegistries restricted = TestRegistries.on(
                new RedisStandaloneConfiguration(proxy.host(), proxy.port()),
                LettuceClientConfiguration.builder().clientOptions(options).build())) {
            RedisLockRegistry registry = restricted.registry();
            Actor.await("connected", () -> FakedServer.canLock(registry));
            List<Actor> actors = Stream.generate(Actor::new).limit(50).toList();
            List<CompletableFuture<Void>> uses = new ArrayList<>();
            for (Actor actor : actors) {
                int user = actors.indexOf(actor);
                uses.add(actor.begin(() -> {
                    for (int i = 0; i < 200; i++) {
                        NamedLock lock = registry.get("own-" + user + "-" + i);
                        lock.lock();
                        lock.unlock();
                    }
                }));
            }
            for (int i = 0; i < 5; i++) {
                Actor.pass(Duration.ofMillis(50));
                proxy.cut(); // what was in flight is sent again
            }
            for (CompletableFuture<Void> use : uses) {
                Actor.get(use);
            }
            actors.forEach(Actor::close);
        } finally {
            proxy.close();
        }
    }
}
