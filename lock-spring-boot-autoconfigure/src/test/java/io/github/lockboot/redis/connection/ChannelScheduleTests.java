package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.engine.GrantChannel;
import io.github.lockboot.engine.GrantChannel.Push;
import io.github.lockboot.engine.PatientStore;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisProbe.ErrorReply;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.internal.Threads;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.TestRegistries;
import io.github.lockboot.redis.connection.Connections.AcknowledgedBy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads open, doubt and cut the channels at the same time, on a real Redis. Left alone, each is live on one
 * connection and hears each message once; closed, they leave none. {@code -Dlock.schedules} is ten times the number of
 * rounds.
 */
@Tag("full")
@Tag("schedules")
class ChannelScheduleTests {

    private static final int ROUNDS = Integer.getInteger("lock.schedules", 100) / 10;
    private static final int THREADS = 3;
    private static final int STEPS = 40;
    private static final int LAST = 7;
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private static RedisServer server;
    private static TestRegistries registries;

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
    void leftAloneItIsLiveOnOneConnectionAndHearsEachMessageOnce() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            try (Scene scene = new Scene("session" + round)) {
                List<CompletableFuture<Void>> plays = new ArrayList<>();
                for (int thread = 0; thread < THREADS; thread++) {
                    Random random = new Random(ROUNDS * thread + round);
                    plays.add(CompletableFuture.runAsync(() -> scene.play(random), scene.workers));
                }
                for (CompletableFuture<Void> play : plays) {
                    Actor.get(play);
                }
                scene.isLeftAlone(round);
            }
            Actor.await("no connection is left", () -> subscribed().isEmpty());
        }
    }

    /** The connections that listen. */
    private static List<String> subscribed() {
        return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "pubsub"))
                .lines()
                .filter(line -> !line.isBlank())
                .toList();
    }

    private static final class Scene implements GrantChannel.Subscriber, AutoCloseable {

        private final Timer timer = Timer.system(Threads.daemons("channel-timer"));
        private final ExecutorService workers = Threads.workers(Threads.daemons("channel-test"));
        private final Connections connections = Connections.to(
                registries.connectionFactory(),
                false,
                AcknowledgedBy.NOTHING,
                TIMEOUT,
                () -> "0123456789",
                timer,
                workers);
        private final AtomicInteger heard = new AtomicInteger();
        private final String session;
        private final PubSubGrantChannel channel;

        Scene(String session) {
            this.session = session;
            this.channel = new PubSubGrantChannel(
                    connections,
                    PatientStore.on(connections.runner(), TIMEOUT, TIMEOUT),
                    () -> session,
                    "lock:flights:0",
                    Duration.ofMillis(200),
                    this,
                    timer,
                    workers);
        }

        void play(Random random) {
            for (int step = 0; step < STEPS; step++) {
                switch (random.nextInt(9)) {
                    case 0 -> channel.open();
                    case 1 -> channel.onAnnounced("a", () -> {});
                    case 2 -> channel.verify();
                    case 3 -> server.command("CLIENT", "KILL", "TYPE", "pubsub");
                    case 4 -> tryToPublish();
                    case 5 -> allowChannels(random.nextBoolean());
                    default -> Actor.pass(Duration.ofMillis(random.nextInt(30)));
                }
            }
        }

        /** Those who listen without the right are cut, and refused when they come again. */
        private void allowChannels(boolean allow) {
            server.command("ACL", "SETUSER", "default", allow ? "allchannels" : "resetchannels");
        }

        private void tryToPublish() {
            try {
                publish(0);
            } catch (ErrorReply notAllowed) {
                // nor may anybody listen
            }
        }

        private void publish(int fence) {
            server.command("PUBLISH", "lock:client:" + session, session + "-1 " + fence + " 0 0 0 lock:n");
        }

        void isLeftAlone(int round) {
            allowChannels(true);
            channel.open();
            channel.onAnnounced("a", () -> {});
            Await.until(
                    Duration.ofSeconds(45),
                    () -> channel.isLive()
                            && subscribed().size() == 2
                            && subscribed().stream().allMatch(each -> each.contains(" sub=1 ")),
                    () -> "in round " + round + " it is " + (channel.isLive() ? "" : "not ") + "live on "
                            + subscribed());
            publish(LAST);
            Actor.await("it hears", () -> heard.get() > 0);
            Actor.pass(Duration.ofMillis(20));
            assertThat(heard).as("times in round " + round).hasValue(1);
        }

        @Override
        public void close() {
            channel.close();
            connections.runner().close();
            timer.close();
            workers.shutdown();
        }

        @Override
        public void onPush(Push push) {
            if (push.grantNumber() == LAST) {
                heard.incrementAndGet();
            }
        }

        @Override
        public void onSubscribed() {}
    }
}
