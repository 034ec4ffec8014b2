package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.lockboot.Actor;
import io.github.lockboot.engine.LockRequest.Terms;
import io.github.lockboot.engine.LockStore;
import io.github.lockboot.engine.LockStore.Grant;
import io.github.lockboot.engine.PatientStore;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import io.github.lockboot.fixture.RedisProbe;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.TestRegistries;
import io.github.lockboot.redis.connection.Connections.AcknowledgedBy;
import io.github.lockboot.redis.protocol.LuaScript.ForeignReplyException;
import io.github.lockboot.redis.protocol.ScriptStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Renewals that Redis answers when nobody waits for it any more. Redis lets writes wait, and tests say when a command
 * has expired.
 */
class LateReplyTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final long TTL_MILLIS = 60_000;
    private static final Terms EXCLUSIVE = Terms.exclusive(TTL_MILLIS, true);

    /** More than a command has that is not a script. */
    private static final int SCRIPT_BYTES = 150;

    private final RedisServer server = RedisServer.start();
    private final TcpProxy proxy = TcpProxy.to(server);
    private final TestRegistries application = TestRegistries.at(proxy.host(), proxy.port());
    private final Timer timer = Timer.system("late-reply-timer");
    private final ExecutorService workers = Executors.newCachedThreadPool();
    private final Queue<Reply> late = new ConcurrentLinkedQueue<>();
    private RedisProbe probe;
    private Connections connections;
    private LockStore store;

    @BeforeEach
    void connect() {
        probe = server.probe();
    }

    private void connect(boolean sharing, AcknowledgedBy acknowledgedBy) {
        connections = Connections.to(
                application.connectionFactory(), sharing, acknowledgedBy, TIMEOUT, () -> "0123456789", timer, workers);
        store = PatientStore.on(connections.runner(), TIMEOUT, TIMEOUT);
    }

    /** And has Redis know the script of renewals. */
    private long acquireAndRenew(String name) throws Exception {
        long fence = acquire(name, EXCLUSIVE, "id");
        assertThat(Actor.get(renew(name, fence, late::add))).isInstanceOf(Reply.Renewed.class);
        return fence;
    }

    @AfterEach
    void stop() {
        ((ScriptStore) store).close();
        application.close();
        timer.close();
        workers.shutdown();
        probe.close();
        proxy.close();
        server.close();
    }

    private long acquire(String name, Terms terms, String id) throws Exception {
        Reply reply = Actor.get(store.acquire(name, id, terms, false, null));
        return ((Reply.Granted) reply).grantNumber();
    }

    private CompletableFuture<Reply> renew(String name, long fence, Consumer<Reply> lateReply) {
        return store.renew(name, List.of(new Grant("id", fence, TTL_MILLIS)), lateReply);
    }

    private void letWritesWait() {
        probe.command("CLIENT", "PAUSE", "100000", "WRITE");
    }

    private void goOn() {
        probe.command("CLIENT", "UNPAUSE");
    }

    /** Renews locks, of which Redis gets each command before that has expired. */
    private void renewTooSlowly(List<CompletableFuture<Reply>> renewals, long before) {
        Actor.await("they are sent", () -> proxy.requestBytes() - before > (long) SCRIPT_BYTES * renewals.size());
        Actor.pass(Duration.ofMillis(50)); // from the network to Redis
        renewals.forEach(each -> each.completeExceptionally(new TimeoutException("too late")));
        assertThat(late).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLateReplyIsReceivedOnce(boolean sharing) throws Exception {
        connect(sharing, AcknowledgedBy.NOTHING);
        long fence = acquireAndRenew("a");
        letWritesWait();
        long before = proxy.requestBytes();
        CompletableFuture<Reply> renewal = renew("a", fence, late::add);
        renewTooSlowly(List.of(renewal), before);
        goOn();
        Actor.await("it is received", () -> !late.isEmpty());
        assertThat(renewal).isCompletedExceptionally();
        assertThat(Actor.get(renew("a", fence, late::add))).isInstanceOf(Reply.Renewed.class);
        assertThat(late).singleElement().isInstanceOf(Reply.Renewed.class);
    }

    @Test
    void whatTheReceiverThrowsDoesNotReachTheConnection() throws Exception {
        connect(true, AcknowledgedBy.NOTHING);
        long fence = acquireAndRenew("a");
        letWritesWait();
        long before = proxy.requestBytes();
        long sockets = proxy.connections();
        Consumer<Reply> throwing = reply -> {
            late.add(reply);
            throw new IllegalStateException("thrown by a test");
        };
        renewTooSlowly(List.of(renew("a", fence, throwing)), before);
        goOn();
        Actor.await("it is received", () -> !late.isEmpty());
        assertThat(Actor.get(renew("a", fence, late::add))).isInstanceOf(Reply.Renewed.class);
        assertThat(proxy.connections()).isEqualTo(sockets);
    }

    /** The reply to the first is lost, and that to the second comes in its place. */
    @Test
    void theReplyToAnotherCommandIsNotReceived() throws Exception {
        connect(true, AcknowledgedBy.NOTHING);
        long a = acquireAndRenew("a");
        long b = acquireAndRenew("b");
        letWritesWait();
        long before = proxy.requestBytes();
        List<CompletableFuture<Reply>> both = List.of(renew("a", a, late::add), renew("b", b, late::add));
        renewTooSlowly(both, before);
        proxy.loseReply();
        goOn();
        awaitUsable();
        assertThat(late).isEmpty();
    }

    /**
     * One has to hand over and the other has not, so that a number alone, as DELEX replies with, would tell the wrong
     * thing of both.
     */
    @Test
    void aReleaseIsNotTakenForDoneByTheReplyToAnother() throws Exception {
        connect(true, AcknowledgedBy.NOTHING);
        Actor.get(store.release("another", "id", 1, null)); // so that Redis knows the script
        long awaited = acquire("awaited", EXCLUSIVE, "id");
        long alone = acquire("alone", EXCLUSIVE, "id");
        assertThat(Actor.get(store.acquire("awaited", "next", EXCLUSIVE, true, null)))
                .isInstanceOf(Reply.Queued.class);
        letWritesWait();
        long before = proxy.requestBytes();
        CompletableFuture<Reply> first = store.release("awaited", "id", awaited, null);
        CompletableFuture<Reply> second = store.release("alone", "id", alone, null);
        Actor.await("they are sent", () -> proxy.requestBytes() - before > 2L * SCRIPT_BYTES);
        proxy.swapReplies();
        goOn();
        assertThat(first)
                .failsWithin(Duration.ofSeconds(30))
                .withThrowableThat()
                .withCauseInstanceOf(ForeignReplyException.class);
        assertThat(second).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(Reply.Plain.NOT_HOLDER);
        awaitUsable();
        assertThat(Actor.get(store.release("awaited", "id", awaited, null))).isEqualTo(Reply.Plain.NOT_HOLDER);
        assertThat(Actor.get(store.release("awaited", "next", 1, null))).isEqualTo(Reply.Plain.RELEASED);
    }

    @Test
    void afterAReconnectionNothingIsSentAgainAndNothingReceived() throws Exception {
        connect(true, AcknowledgedBy.NOTHING);
        long fence = acquireAndRenew("a");
        letWritesWait();
        long before = proxy.requestBytes();
        renewTooSlowly(List.of(renew("a", fence, late::add)), before);
        proxy.cut();
        goOn();
        awaitUsable();
        Actor.get(store.release("a", "id", fence, null));
        probe.command("CONFIG", "RESETSTAT");
        Actor.get(store.release("a", "id", fence, null));
        assertThat(probe.commandCalls()).containsEntry("evalsha", 1L);
        assertThat(late).isEmpty();
    }

    private void awaitUsable() {
        Actor.await("a script is answered", () -> {
            CompletableFuture<Reply> shown = store.show("another");
            try {
                return Actor.get(shown) instanceof Reply.Shown;
            } catch (Exception notYet) {
                return false;
            }
        });
    }

    @Test
    void aReplyThatNoReplicaHasIsNotReceivedLate() throws Exception {
        connect(false, AcknowledgedBy.ONE_REPLICA);
        renewWithoutReplica("a", List.of("id"), EXCLUSIVE);
    }

    @Test
    void permitsThatAreRenewedTogetherAreAcknowledgedToo() throws Exception {
        connect(false, AcknowledgedBy.ONE_REPLICA);
        renewWithoutReplica("a", List.of("one", "other"), Terms.limited(2, TTL_MILLIS, true));
    }

    private void renewWithoutReplica(String name, List<String> ids, Terms terms) throws Exception {
        Connections plain = connections;
        LockStore acknowledged = store;
        connect(true, AcknowledgedBy.NOTHING);
        List<Grant> held = ids.stream()
                .map(id -> {
                    try {
                        return new Grant(id, acquire(name, terms, id), TTL_MILLIS);
                    } catch (Exception failure) {
                        throw new IllegalStateException(failure);
                    }
                })
                .toList();
        ((ScriptStore) store).close();
        connections = plain;
        store = acknowledged;
        CompletableFuture<Reply> renewal = store.renew(name, held, late::add);
        Throwable failure = Actor.get(renewal.handle((reply, thrown) -> thrown));
        assertThat(Stream.iterate(failure, each -> each != null, Throwable::getCause))
                .hasAtLeastOneElementOfType(NotAcknowledgedException.class);
        assertThat(late).isEmpty();
    }
}
