package io.github.lockboot.redis.connection;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.github.lockboot.Actor;
import io.github.lockboot.LogReader;
import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.ManualTimer;
import io.github.lockboot.engine.PatientStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.redis.TestRegistries;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.DefaultMessage;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** A channel on a real Redis, in time that the test lets pass. */
class PubSubGrantChannelTests {

    private static final String CHANNEL = "lock:client:session";
    private static final String ANNOUNCEMENTS = "lock:flights:0";
    private static final Duration WITHIN = Duration.ofSeconds(2);

    private static RedisServer server;
    private static TestRegistries registries;

    private final ManualTimer timer = new ManualTimer();
    private final ExecutorService workers = Threads.workers(Threads.daemons("channel-test"));
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger subscriptions = new AtomicInteger();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final AtomicInteger announced = new AtomicInteger();
    private volatile CompletableFuture<Reply> answer = CompletableFuture.completedFuture(Reply.Plain.PUBLISHED);
    private volatile boolean published = true;
    private volatile boolean lacking;
    private volatile boolean failing;
    private volatile Supplier<RedisConnectionFactory> factory = () -> registries.connectionFactory();
    private final AtomicInteger attempts = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();

    private final LettuceScripts lettuce =
            new LettuceScripts(() -> new StringRedisTemplate(connectionFactory()), timer, this::execute, null, null);
    private final Redis redis = new Redis();

    private final PubSubGrantChannel channel = new PubSubGrantChannel(
            new Connections(() -> new StringRedisTemplate(connectionFactory()), redis),
            PatientStore.on(redis, WITHIN, WITHIN),
            () -> "session",
            ANNOUNCEMENTS,
            WITHIN,
            new Subscriber(),
            timer,
            this::execute);

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

    @BeforeEach
    void open() {
        channel.open();
        Actor.await("it is live", channel::isLive);
        Actor.await("the subscriber is notified", () -> subscriptions.get() == 1);
        Actor.await("all is done", () -> running.get() == 0);
        asked.set(0);
        published = false;
    }

    @AfterEach
    void close() {
        channel.close();
        workers.shutdown();
    }

    private void execute(Runnable task) {
        if (lacking) {
            throw new OutOfMemoryError("unable to create native thread");
        }
        running.incrementAndGet();
        workers.execute(() -> {
            try {
                task.run();
            } finally {
                running.decrementAndGet();
            }
        });
    }

    private RedisConnectionFactory connectionFactory() {
        attempts.incrementAndGet();
        return factory.get();
    }

    private CompletableFuture<Reply> ask() {
        asked.incrementAndGet();
        if (published) {
            server.command("PUBLISH", CHANNEL, "");
            Actor.pass(Duration.ofMillis(200)); // until it has come
        }
        return answer;
    }

    private class Redis implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(Consumer<Reply> late, LuaScript script, String key, byte[]... arguments) {
            assertThat(script).isSameAs(LuaScript.PUBLISH);
            return ask();
        }

        @Override
        public long epoch() {
            return 0;
        }

        @Override
        public void whenCut(RedisConnection subscribed, Runnable action) {
            lettuce.whenCut(subscribed, action);
        }

        @Override
        public void close() {}
    }

    private final class Subscriber implements GrantChannel.Subscriber {

        @Override
        public void onPush(Push push) {
            if (failing) {
                throw new OutOfMemoryError("unable to create native thread");
            }
        }

        @Override
        public void onSubscribed() {
            subscriptions.incrementAndGet();
        }

        @Override
        public boolean onAnswer(Throwable failure) {
            if (failure != null) {
                unanswered.incrementAndGet();
            }
            return failure == null;
        }
    }

    @Test
    void nothingIsAskedAsLongAsMessagesArrive() {
        for (int i = 0; i < 10; i++) {
            timer.tick(Duration.ofSeconds(20));
            published = true;
            ask();
        }
        assertThat(asked).hasValue(10);
        assertThat(channel.isLive()).isTrue();
    }

    @Test
    void announcementsAreSubscribedAfterALackOfThreadsAndMemory() {
        lacking = true;
        timer.lack(true);
        channel.onAnnounced("a name", announced::incrementAndGet);
        lacking = false;
        timer.lack(false);
        channel.onAnnounced("another", () -> {});
        Actor.await("an announcement arrives", () -> {
            server.command("PUBLISH", ANNOUNCEMENTS, "a name");
            return announced.get() > 0;
        });
    }

    private void lack(boolean threadsAndMemory) {
        lacking = threadsAndMemory;
        timer.lack(threadsAndMemory);
    }

    @Test
    void aChannelThatIsCutDuringALackOfThreadsAndMemoryIsSubscribedByTheNextWait() {
        lack(true);
        killSubscribersExcept(List.of());
        Actor.await("it is not live", () -> !channel.isLive());
        Actor.await("that is over", () -> !channel.isOpened());
        lack(false);
        channel.open();
        awaitSubscribedAgain();
    }

    @Test
    void aPauseThatEndsDuringALackOfThreadsAndMemoryDoesNotEndTheChannel() {
        cut();
        Actor.await("all is done", () -> running.get() == 0);
        lack(true);
        timer.tick(Duration.ofSeconds(1));
        lack(false);
        channel.open();
        awaitSubscribedAgain();
    }

    /** Jedis would give the connection, which is still subscribed, back to its pool. */
    @Test
    void whatAMessageCausesIsNotThrownIntoTheClient() {
        failing = true;
        AtomicInteger thrown = new AtomicInteger();
        RedisConnection connection = (RedisConnection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RedisConnection.class}, (none, method, arguments) -> {
                    if (method.getName().equals("subscribe")) {
                        MessageListener listener = (MessageListener) arguments[0];
                        byte[] name = CHANNEL.getBytes(StandardCharsets.UTF_8);
                        try {
                            ((SubscriptionListener) listener).onChannelSubscribed(name, 1);
                            listener.onMessage(
                                    new DefaultMessage(name, "a 1 1 0 1 b".getBytes(StandardCharsets.UTF_8)), null);
                            listener.onMessage(new DefaultMessage(name, new byte[0]), null);
                        } catch (Throwable failure) {
                            thrown.incrementAndGet();
                            throw failure;
                        }
                    }
                    return null;
                });
        RedisConnectionFactory jedis = (RedisConnectionFactory) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RedisConnectionFactory.class},
                (none, method, arguments) -> connection);
        PubSubGrantChannel other = new PubSubGrantChannel(
                new Connections(() -> new StringRedisTemplate(jedis), new Redis() {

                    @Override
                    public void whenCut(RedisConnection subscribed, Runnable action) {}
                }),
                PatientStore.on(redis, WITHIN, WITHIN),
                () -> "session",
                ANNOUNCEMENTS,
                WITHIN,
                new Subscriber(),
                timer,
                this::execute);
        other.open();
        Actor.await("messages are heard", () -> running.get() == 0);
        assertThat(thrown).hasValue(0);
        assertThat(other.isLive()).isTrue();
        other.close();
    }

    @Test
    void aSilentChannelIsCheckedEveryHalfMinuteAndStaysLiveIfItHears() {
        published = true;
        timer.tick(Duration.ofMinutes(5));
        assertThat(asked).hasValueBetween(9, 10);
        assertThat(channel.isLive()).isTrue();
        assertThat(subscriptions).hasValue(1);
    }

    @Test
    void aChannelIsCheckedAgainAfterACheckForWhichThereWasNoMemory() {
        timer.lackOnce();
        channel.verify();
        assertThat(asked).hasValue(1);
        channel.verify();
        assertThat(asked).hasValue(2);
        timer.tick(WITHIN);
        awaitSubscribedAgain();
    }

    @Test
    void aChannelThatHearsNothingIsSubscribedAgain() {
        timer.tick(Duration.ofSeconds(30));
        assertThat(asked).hasValue(1);
        assertThat(channel.isLive()).isTrue();
        timer.tick(WITHIN);
        assertThat(channel.isLive()).isFalse();
        awaitSubscribedAgain();
    }

    private void awaitSubscribedAgain() {
        awaitSubscribed(2);
    }

    private void awaitSubscribed(int times) {
        published = true;
        Actor.await("it is subscribed again", () -> {
            timer.tick(Duration.ofMillis(5));
            return subscriptions.get() == times && channel.isLive();
        });
    }

    @Test
    void aChannelThatIsCutIsSubscribedAgainAfterAPause() {
        cut();
        assertThat(attempts).hasValue(1);
        awaitSubscribedAgain();
        assertThat(attempts).hasValue(2);
    }

    @Test
    void aChannelIsNotCutWithAnotherConnectionOfItsClient() {
        List<String> ours = subscribers();
        try (RedisConnection other = registries.connectionFactory().getConnection()) {
            other.subscribe((message, pattern) -> {}, "another".getBytes(StandardCharsets.UTF_8));
            killSubscribersExcept(ours);
            Actor.await("the other connects again", () -> subscribers().size() == 2);
        }
        assertThat(channel.isLive()).isTrue();
        assertThat(attempts).hasValue(1);
        assertThat(asked).hasValue(0);
    }

    private static List<String> subscribers() {
        return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "pubsub"))
                .lines()
                .filter(line -> line.startsWith("id="))
                .map(line -> line.substring("id=".length(), line.indexOf(' ')))
                .toList();
    }

    private static void killSubscribersExcept(List<String> spared) {
        subscribers().stream()
                .filter(id -> !spared.contains(id))
                .forEach(id -> server.command("CLIENT", "KILL", "ID", id));
    }

    /** And waits until it is noticed, and the next attempt is planned. */
    private void cut() {
        int before = timer.planned();
        killSubscribersExcept(List.of());
        Actor.await("it is to be subscribed again", () -> !channel.isLive() && timer.planned() > before);
    }

    @Test
    void theChannelIsNotLiveBeforeAnEchoHasArrived() {
        cut();
        Actor.await("it is subscribed and asks", () -> {
            timer.tick(Duration.ofMillis(5));
            return asked.get() == 1;
        });
        Actor.await("all is done", () -> running.get() == 0);
        assertThat(channel.isLive()).isFalse();
        assertThat(subscriptions).hasValue(1);
    }

    @Test
    void anEchoThatIsRefusedMeansNotLiveUntilOneArrives() {
        try (LogReader log = new LogReader()) {
            answer = CompletableFuture.completedFuture(new Reply.Unpublished("NOPERM no right"));
            channel.verify();
            assertThat(channel.isLive()).isFalse();
            for (int i = 0; i < 10; i++) {
                channel.verify(); // as for each grant that is found by a poll
            }
            assertThat(asked).hasValue(1);
            timer.tick(Duration.ofMinutes(1));
            assertThat(asked).as("a question in ten seconds").hasValueBetween(6, 7);
            Actor.await("all is done", () -> running.get() == 0);
            assertThat(log.warnings())
                    .containsExactly("Redis refuses to publish on the channel " + CHANNEL
                            + ", so waiters only poll: NOPERM no right");
            answer = CompletableFuture.completedFuture(Reply.Plain.PUBLISHED);
            published = true;
            timer.tick(Duration.ofSeconds(10));
            Actor.await("it is live", channel::isLive);
            Actor.await("that is logged", () -> log.messages().contains("The channel " + CHANNEL + " works again"));
            assertThat(attempts).as("on one connection").hasValue(1);
        }
    }

    @Test
    void pausesGrowAndAreBoundedAndOneLineIsLogged() {
        try (LogReader log = new LogReader()) {
            factory = () -> {
                throw new IllegalStateException("away");
            };
            cut();
            for (int i = 0; i < 600; i++) {
                timer.tick(Duration.ofMillis(100));
                Actor.await("all is done", () -> running.get() == 0);
            }
            assertThat(attempts).as("in a minute").hasValueBetween(10, 25);
            assertThat(log.warnings())
                    .containsExactly("Subscribing to the channel " + CHANNEL + " failed, so waiters only poll: away");
            factory = () -> registries.connectionFactory();
            awaitSubscribedAgain();
            Actor.await("that is logged", () -> log.messages().contains("The channel " + CHANNEL + " works again"));
        }
    }

    private static RedisConnectionFactory notConnected() {
        throw new RedisConnectionFailureException("refused");
    }

    /** A pool may give others that the balancer has cut as well. */
    @Test
    void aCutConnectionAndSomeMoreAreNoWarning() {
        try (LogReader log = new LogReader()) {
            for (int i = 0; i < 10; i++) {
                int before = attempts.get();
                factory = () -> attempts.get() <= before + 3 ? notConnected() : registries.connectionFactory();
                cut();
                awaitSubscribed(i + 2);
                assertThat(attempts).as("three in vain").hasValue(before + 4);
            }
            assertThat(log.warnings()).isEmpty();
            assertThat(unanswered).hasValue(0);
        }
    }

    @Test
    void thatWaitersOnlyPollIsSaidOnlyWhileRedisAnswers() {
        try (LogReader log = new LogReader()) {
            answer = CompletableFuture.failedFuture(new TimeoutException("no answer"));
            factory = PubSubGrantChannelTests::notConnected;
            killSubscribersExcept(List.of());
            Actor.await("the subscriber is told", () -> {
                timer.tick(Duration.ofSeconds(1));
                return unanswered.get() > 1;
            });
            assertThat(log.warnings()).isEmpty();
            answer = CompletableFuture.completedFuture(Reply.Plain.PUBLISHED);
            Actor.await("it warns", () -> {
                timer.tick(Duration.ofSeconds(1));
                return !log.warnings().isEmpty();
            });
            assertThat(log.warnings())
                    .containsExactly(
                            "Subscribing to the channel " + CHANNEL + " failed, so waiters only poll: refused");
        }
    }

    @Test
    void aLackOfMemoryWhenAnEchoIsAnsweredDoesNotEndTheSearchForADeafChannel() {
        timer.lack(true);
        channel.verify();
        timer.lack(false);
        assertThat(asked).hasValue(1);
        channel.verify();
        assertThat(asked).hasValue(2);
        timer.tick(WITHIN);
        assertThat(channel.isLive()).isFalse();
    }

    @Test
    void aPauseEndsWhenItIsReopened() {
        factory = () -> {
            throw new IllegalStateException("away");
        };
        cut();
        for (int i = 0; i < 100; i++) {
            timer.tick(Duration.ofMillis(100));
            Actor.await("all is done", () -> running.get() == 0);
        }
        factory = () -> registries.connectionFactory();
        published = true;
        int before = attempts.get();
        channel.reopen();
        Actor.await("it is live, and no time has passed", channel::isLive);
        channel.reopen();
        timer.tick(Duration.ofSeconds(20));
        Actor.await("all is done", () -> running.get() == 0);
        assertThat(attempts).as("one connection").hasValue(before + 1);
    }

    /** Its owner has stopped it, and starts it again. */
    @Test
    void aFactoryThatIsStoppedIsNoReasonToWarn() {
        LettuceConnectionFactory stopped = new LettuceConnectionFactory(server.host(), server.port());
        stopped.afterPropertiesSet();
        stopped.start();
        stopped.stop();
        factory = () -> stopped;
        try (LogReader log = new LogReader()) {
            cut();
            for (int i = 0; i < 100; i++) {
                timer.tick(Duration.ofMillis(100));
                Actor.await("all is done", () -> running.get() == 0);
            }
            assertThat(attempts).hasValueGreaterThan(2);
            assertThat(log.warnings()).isEmpty();
            assertThat(channel.problem()).isNull();
            stopped.start();
            awaitSubscribedAgain();
        }
        stopped.destroy();
    }

    @Test
    void aClientThatCannotSubscribeIsNotAskedAgain() {
        try (LogReader log = new LogReader()) {
            factory = () -> {
                throw new IllegalStateException("not there", new UnsupportedOperationException("no channels"));
            };
            cut();
            Actor.await("it has tried again", () -> {
                timer.tick(Duration.ofSeconds(1));
                return attempts.get() == 2;
            });
            for (int i = 0; i < 100; i++) {
                timer.tick(Duration.ofSeconds(1));
                Actor.await("all is done", () -> running.get() == 0);
            }
            assertThat(attempts).hasValue(2);
            assertThat(log.warnings()).isEmpty();
            assertThat(log.messages())
                    .filteredOn(line -> line.startsWith("Waiters only poll, because this client does not subscribe"))
                    .hasSize(1);
        }
    }

    /** As Jedis does, which reads a server that hangs. */
    @Test
    void theCloseDoesNotWaitForASubscriptionThatHangs() {
        CountDownLatch go = new CountDownLatch(1);
        factory = () -> {
            try {
                go.await();
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
            return registries.connectionFactory();
        };
        killSubscribersExcept(List.of());
        Actor.await("it hangs", () -> {
            timer.tick(Duration.ofMillis(5));
            return attempts.get() == 2;
        });
        channel.close();
        go.countDown();
        Actor.await("all is done", () -> running.get() == 0);
        assertThat(subscribers()).isEmpty();
    }

    @Test
    void aDoubtIsSettledAtOnce() {
        channel.verify();
        channel.verify();
        assertThat(asked).as("one question at a time").hasValue(1);
        timer.tick(WITHIN);
        awaitSubscribedAgain();
    }

    /** That thread also renews leases. */
    @Test
    void aLogThatBlocksKeepsNeitherTheTimersThreadNorTheChannel() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        Logger logger = (Logger) LoggerFactory.getLogger(PubSubGrantChannel.class);
        Appender<ILoggingEvent> blocking = new UnsynchronizedAppenderBase<>() {

            @Override
            protected void append(ILoggingEvent line) {
                try {
                    go.await();
                } catch (InterruptedException end) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        blocking.start();
        logger.setLevel(Level.WARN);
        logger.addAppender(blocking);
        try (Actor timersThread = new Actor()) {
            channel.verify();
            timersThread.run(() -> timer.tick(WITHIN));
            awaitSubscribedAgain();
        } finally {
            go.countDown();
            logger.detachAppender(blocking);
            logger.setLevel(null);
        }
    }

    @Test
    void aRedisThatDoesNotAnswerProvesNothing() {
        answer = CompletableFuture.failedFuture(new IllegalStateException("no answer"));
        channel.verify();
        timer.tick(Duration.ofMinutes(5));
        assertThat(asked).hasValueGreaterThan(5);
        assertThat(channel.isLive()).isTrue();
        assertThat(subscriptions).hasValue(1);
    }
}
