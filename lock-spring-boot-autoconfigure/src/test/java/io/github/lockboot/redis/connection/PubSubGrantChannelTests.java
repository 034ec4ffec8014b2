package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.github.lockboot.Actor;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.redis.TestRegistries;
import io.github.lockboot.redis.engine.ManualTimer;
import io.github.lockboot.redis.engine.PatientStore;
import io.github.lockboot.redis.protocol.GrantChannel;
import io.github.lockboot.redis.protocol.GrantChannel.Push;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.Reply;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A channel on a real Redis, in time that the test lets pass. */
class PubSubGrantChannelTests {

    private static final String CHANNEL = "lock:client:session";
    private static final Duration WITHIN = Duration.ofSeconds(2);

    private static RedisServer server;
    private static TestRegistries registries;

    private final ManualTimer timer = new ManualTimer();
    private final ExecutorService workers = Threads.workers(Threads.daemons("channel-test"), timer);
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger subscriptions = new AtomicInteger();
    private volatile CompletableFuture<Reply> answer = CompletableFuture.completedFuture(Reply.Plain.PUBLISHED);
    private volatile boolean published;
    private volatile boolean holding;
    private volatile boolean lacking;
    private final Queue<Runnable> heldTasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger running = new AtomicInteger();
    private final Executor held = heldTasks::add;

    private volatile Consumer<Boolean> onConnection;

    private final PubSubGrantChannel channel = new PubSubGrantChannel(
            watch -> {
                onConnection = watch;
                return registries.connectionFactory();
            },
            PatientStore.on(new Redis(), WITHIN, WITHIN),
            () -> "session",
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
        (holding ? held : workers).execute(() -> {
            try {
                task.run();
            } finally {
                running.decrementAndGet();
            }
        });
    }

    private CompletableFuture<Reply> ask() {
        asked.incrementAndGet();
        if (published) {
            server.command("PUBLISH", CHANNEL, "");
            Actor.pass(Duration.ofMillis(200)); // until it has come
        }
        return answer;
    }

    private final class Redis implements ScriptStore.Runner {

        @Override
        public CompletableFuture<Reply> run(LuaScript script, String key, byte[]... arguments) {
            assertThat(script).isSameAs(LuaScript.ECHO);
            return ask();
        }

        @Override
        public long epoch() {
            return 0;
        }

        @Override
        public void close() {}
    }

    private final class Subscriber implements GrantChannel.Subscriber {

        @Override
        public void onPush(Push push) {}

        @Override
        public void onCompletion(Push push) {}

        @Override
        public void onSubscribed() {
            subscriptions.incrementAndGet();
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
    void completionsAreSubscribedAfterALackOfThreadsAndMemory() {
        lacking = true;
        timer.lack(true);
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(channel::follow);
        lacking = false;
        timer.lack(false);
        channel.follow();
        Actor.await("completions are subscribed to", () -> subscriptions.get() == 2);
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
        holding = true;
        timer.tick(WITHIN);
        assertThat(channel.isLive()).isFalse();
        holding = false;
        heldTasks.forEach(workers::execute);
        awaitSubscribedAgain();
    }

    /** A subscription that fails on a busy machine is tried again by the timer. */
    private void awaitSubscribedAgain() {
        Actor.await("it is subscribed again", () -> {
            timer.tick(Duration.ofMillis(5));
            return subscriptions.get() == 2 && channel.isLive();
        });
    }

    /** Of a client that is shared, another connection may be meant. */
    @Test
    void aChannelThatIsReportedCutIsLiveAgainOnceItHearsAndIsNotSubscribedAgain() {
        onConnection.accept(false);
        assertThat(channel.isLive()).isFalse();
        Actor.await("it is checked", () -> asked.get() == 1 && running.get() == 0);
        timer.tick(WITHIN);
        assertThat(channel.isLive()).isFalse();
        published = true;
        timer.tick(Duration.ofSeconds(30));
        assertThat(asked).hasValue(2);
        assertThat(channel.isLive()).isTrue();
        assertThat(subscriptions).hasValue(1);
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
