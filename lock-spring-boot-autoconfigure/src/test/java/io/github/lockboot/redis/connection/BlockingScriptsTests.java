package io.github.lockboot.redis.connection;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.Actor;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure.NotConnectedException;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.TestRegistries;
import io.github.lockboot.redis.protocol.LockModel;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.PoolException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** What a client that only blocks is spared, with any client. */
class BlockingScriptsTests {

    private static final byte[] SETTINGS =
            LockModel.settings("lock:client:", 1_000).getBytes(StandardCharsets.US_ASCII);

    private static RedisServer server;
    private static TestRegistries registries;

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final BlockingScripts runner =
            new BlockingScripts(new StringRedisTemplate(registries.connectionFactory()), tasks::add, true);

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

    private CompletableFuture<Reply> show(String key) {
        return show(runner, key);
    }

    private static CompletableFuture<Reply> show(ScriptStore.Runner runner, String key) {
        return runner.run(reply -> {}, LuaScript.SHOW, key, new byte[0], SETTINGS);
    }

    @Test
    void whatIsSentOnOneKeyIsNeverOvertaken() {
        CompletableFuture<Reply> first = show("a");
        CompletableFuture<Reply> second = show("a");
        assertThat(tasks).hasSize(1);
        tasks.remove().run();
        assertThat(first).isCompleted();
        assertThat(second).isNotDone();
        tasks.remove().run();
        assertThat(second).isCompleted();
        assertThat(tasks).isEmpty();
    }

    @Test
    void withoutAThreadItFailsAndTheNextOnTheKeyHasItsTurn() {
        AtomicInteger lacking = new AtomicInteger();
        BlockingScripts scarce = new BlockingScripts(
                new StringRedisTemplate(registries.connectionFactory()),
                task -> {
                    if (lacking.getAndDecrement() > 0) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    tasks.add(task);
                },
                true);
        lacking.set(1);
        assertThat(show(scarce, "scarce")).isCompletedExceptionally();
        CompletableFuture<Reply> first = show(scarce, "scarce");
        CompletableFuture<Reply> second = show(scarce, "scarce");
        CompletableFuture<Reply> third = show(scarce, "scarce");
        lacking.set(1);
        tasks.remove().run();
        assertThat(first).isCompleted();
        assertThat(second).isCompletedExceptionally();
        tasks.remove().run();
        assertThat(third).isCompletedWithValueMatching(Reply.Shown.class::isInstance);
    }

    @Test
    void otherKeysDoNotWait() {
        show("a");
        CompletableFuture<Reply> other = show("b");
        tasks.remove();
        tasks.remove().run();
        assertThat(other).isCompleted();
    }

    @Test
    void whatExpiredIsNotSentAnyMoreAndLetsTheNextOneGo() {
        CompletableFuture<Reply> expired = show("a");
        CompletableFuture<Reply> next = show("a");
        expired.completeExceptionally(new IllegalStateException("expired"));
        tasks.remove().run();
        tasks.remove().run();
        assertThat(next).isCompleted();
    }

    @Test
    void aReplyThatComesAfterTheCallHasExpiredIsReceivedOnce() throws Exception {
        List<Reply> late = new ArrayList<>();
        try (TcpProxy proxy = TcpProxy.to(server);
                TestRegistries application = TestRegistries.at(proxy.host(), proxy.port());
                Actor actor = new Actor()) {
            BlockingScripts slow =
                    new BlockingScripts(new StringRedisTemplate(application.connectionFactory()), tasks::add, true);
            show(slow, "a");
            tasks.remove().run(); // Redis knows the script
            CompletableFuture<Reply> call = slow.run(late::add, LuaScript.SHOW, "a", new byte[0], SETTINGS);
            long before = proxy.requestBytes();
            server.command("CLIENT", "PAUSE", "100000", "WRITE");
            CompletableFuture<Void> running = actor.begin(tasks.remove()::run);
            Actor.await(
                    "it is sent",
                    () -> proxy.requestBytes() - before
                            > LuaScript.SHOW.getSha1().length());
            call.completeExceptionally(new TimeoutException("too late"));
            server.command("CLIENT", "UNPAUSE");
            Actor.get(running);
            assertThat(call).isCompletedExceptionally();
            assertThat(late).singleElement().isInstanceOf(Reply.Shown.class);
        }
    }

    @Test
    void aPoolThatGivesUpIsTheReasonAndNothingIsSent() {
        RedisConnectionFactory none = (RedisConnectionFactory) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RedisConnectionFactory.class}, (proxy, method, args) -> {
                    throw new PoolException(
                            "Could not get a resource from the pool",
                            new NoSuchElementException("Timeout waiting for idle object"));
                });
        assertThat(show(new BlockingScripts(new StringRedisTemplate(none), Runnable::run, true), "a"))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(NotConnectedException.class)
                .withMessage(RedisFailure.NO_CONNECTION_FREE)
                .havingCause()
                .withMessageStartingWith("Could not get a resource from the pool");
    }

    @Test
    void aCallThatIsNotAnsweredNamesThePoolAsWell() {
        CompletableFuture<Reply> unanswered = show("a");
        unanswered.completeExceptionally(new TimeoutException("Redis did not answer in time"));
        assertThat(unanswered)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .withMessage(RedisFailure.NO_ANSWER_OR_NO_CONNECTION);
        assertThat(runner.whyUnanswered()).hasMessage(RedisFailure.NO_ANSWER_OR_NO_CONNECTION);
    }

    @Test
    void noReplyIsTakenForTheOneToTheFirstCopy() {
        long epoch = runner.epoch();
        assertThat(runner.mayHaveRepeatedSince(epoch)).isTrue();
    }

    @Test
    void toAskForTheEpochDoesNotChangeIt() {
        assertThat(runner.epoch()).isEqualTo(runner.epoch());
    }

    @Test
    void theReplyToAnotherCommandFailsAndTheConnectionIsClosed() {
        try (TcpProxy proxy = TcpProxy.to(server);
                TestRegistries application = TestRegistries.at(proxy.host(), proxy.port())) {
            BlockingScripts mixedUp =
                    new BlockingScripts(new StringRedisTemplate(application.connectionFactory()), Runnable::run, true);
            assertThat(show(mixedUp, "a")).isCompleted();
            proxy.doubleReply();
            assertThat(show(mixedUp, "a")).isCompletedWithValueMatching(Reply.Shown.class::isInstance);
            assertThat(show(mixedUp, "b")).isCompletedExceptionally();
            Actor.await(
                    "each command has its own reply again",
                    () -> !show(mixedUp, "c").isCompletedExceptionally());
            assertThat(proxy.connections()).isGreaterThan(1);
        }
    }
}
