package io.github.lockboot.redis.connection;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockboot.engine.ManualTimer;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.redis.protocol.LuaScript;
import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;
import org.mockito.InOrder;
import org.mockito.Mockito;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.atLeast;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

/** Commands that Redis never answers, on a connection that the test plays. */
@SuppressWarnings("unchecked")
class LettuceScriptsTests {

    private static final Map<LuaScript, String> SCRIPTS = Map.of(LuaScript.UNLOCK, "unlock", LuaScript.SHOW, "show");

    private final StatefulConnection<byte[], byte[]> connection = mock(StatefulConnection.class);
    private final AbstractRedisAsyncCommands<byte[], byte[]> commands = mock(AbstractRedisAsyncCommands.class);
    private final LettuceConnectionFactory factory = mock(LettuceConnectionFactory.class);
    private final StringRedisTemplate template = new StringRedisTemplate(factory);
    private final ManualTimer timer = new ManualTimer();
    private final LettuceScripts scripts = new LettuceScripts(() -> template, timer, Runnable::run, null, null);
    private final AbstractRedisClient client = mock(AbstractRedisClient.class, Mockito.RETURNS_DEEP_STUBS);
    private final Queue<Runnable> held = new ArrayDeque<>();
    private CompletableFuture<Reply> call;

    @BeforeEach
    void send() {
        RedisConnection made = mock(RedisConnection.class);
        when(factory.getConnection()).thenReturn(made);
        when(factory.getRequiredNativeClient()).thenReturn(client);
        when(made.getNativeConnection()).thenReturn(commands);
        when(commands.getConnection()).thenReturn(connection);
        when(connection.isOpen()).thenReturn(true);
        when(commands.<String>dispatch(any(), any(), any()))
                .thenReturn(new AsyncCommand<>(
                        new Command<>(CommandType.EVALSHA, new StatusOutput<>(ByteArrayCodec.INSTANCE))));
        call = scripts.run(reply -> {}, LuaScript.UNLOCK, "lock:n", new byte[0]);
        timer.tick(Duration.ofSeconds(1));
        assertThat(call).isNotDone();
    }

    @Test
    void whatExpiresTellsOfAConnectionThatIsLost() {
        when(connection.isOpen()).thenReturn(false);
        call.completeExceptionally(new TimeoutException("late"));
        assertThat(call.handle((reply, failure) -> failure).join())
                .hasMessage("the connection was lost before Redis answered");
    }

    @Test
    void whatIsClosedIsNoLongerReachedFromTheClientOfTheApplication() {
        InOrder order = inOrder(client);
        order.verify(client).addListener(scripts);
        scripts.close();
        order.verify(client).removeListener(scripts);
    }

    @Test
    void whatIsClosedWhileItConnectsIsNoLongerReachedFromTheClientOfTheApplication() {
        LettuceScripts closed = new LettuceScripts(() -> template, timer, Runnable::run, null, null);
        doAnswer(added -> {
                    closed.close();
                    return null;
                })
                .when(client)
                .addListener(closed);
        closed.run(reply -> {}, LuaScript.UNLOCK, "lock:n", new byte[0]);
        InOrder order = inOrder(client);
        order.verify(client).addListener(closed);
        order.verify(client).removeListener(closed);
    }

    @Test
    void whatExpiresFailsAlthoughTheConnectionCannotBeAskedWhetherItIsOpen() {
        when(connection.isOpen()).thenThrow(new IllegalStateException("no partitions"));
        call.completeExceptionally(new TimeoutException("late"));
        assertThat(call).isCompletedExceptionally();
    }

    private static String nameIn(String line, int number) {
        return "lock:{" + line + "}" + number;
    }

    /** The scripts that have been sent since, each with its first key. */
    private List<String> sent() {
        ArgumentCaptor<CommandArgs<byte[], byte[]>> args = ArgumentCaptor.captor();
        verify(commands, atLeast(0)).dispatch(any(), any(), args.capture());
        clearInvocations(commands);
        return args.getAllValues().stream()
                .map(each -> {
                    ByteBuf words = Unpooled.buffer();
                    each.encode(words);
                    String text = words.toString(StandardCharsets.UTF_8);
                    return SCRIPTS.entrySet().stream()
                            .filter(script -> text.contains(script.getKey().getSha1()))
                            .map(script ->
                                    script.getValue() + " " + StandardCharsets.UTF_8.decode(each.getFirstEncodedKey()))
                            .findFirst()
                            .orElseThrow();
                })
                .toList();
    }

    @Test
    void whatWaitsIsSentInOrderAndWhatIsOfAnotherSlotPassesIt() {
        clearInvocations(commands);
        when(connection.isOpen()).thenReturn(false);
        scripts.run(reply -> {}, LuaScript.UNLOCK, "lock:a", new byte[0]);
        when(connection.isOpen()).thenReturn(true);
        scripts.run(reply -> {}, LuaScript.UNLOCK, "lock:b", new byte[0]);
        scripts.run(reply -> {}, LuaScript.SHOW, "lock:a", new byte[0]);
        assertThat(sent()).containsExactly("unlock lock:b");
        timer.tick(Duration.ofSeconds(1));
        assertThat(sent()).containsExactly("unlock lock:a", "show lock:a");
    }

    /** From any place: calls need not expire in order. */
    @Test
    void callsThatHaveExpiredKeepNoLaterOneWaiting() {
        when(connection.isOpen()).thenReturn(false);
        List<CompletableFuture<Reply>> dead = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            dead.add(scripts.run(reply -> {}, LuaScript.UNLOCK, "lock:a", new byte[0]));
        }
        for (int i = dead.size() - 1; i >= 0; i--) {
            dead.get(i).completeExceptionally(new TimeoutException("late"));
        }
        clearInvocations(commands);
        when(connection.isOpen()).thenReturn(true);
        scripts.run(reply -> {}, LuaScript.SHOW, "lock:a", new byte[0]);
        assertThat(sent()).containsExactly("show lock:a");
    }

    /** That thread also renews leases. */
    @Test
    void whatWaitsIsNotSentOnTheTimersThread() {
        LettuceScripts other = new LettuceScripts(() -> template, timer, held::add, null, null);
        other.run(reply -> {}, LuaScript.UNLOCK, "lock:a", new byte[0]);
        held.remove().run(); // it connects
        clearInvocations(commands);
        timer.tick(Duration.ofSeconds(1));
        assertThat(sent()).isEmpty();
        held.remove().run();
        assertThat(sent()).containsExactly("unlock lock:a");
    }

    @Test
    void whatCannotBeSentIsNotLookedThrough() {
        AtomicInteger looks = new AtomicInteger();
        when(connection.isOpen()).thenAnswer(look -> {
            looks.incrementAndGet();
            return false;
        });
        for (int i = 0; i < 20_000; i++) {
            scripts.run(reply -> {}, LuaScript.UNLOCK, nameIn("dead", i), new byte[0]);
        }
        looks.set(0);
        timer.tick(Duration.ofSeconds(1)); // in which there are ten rounds
        assertThat(looks).hasValueBetween(1, 20);
    }

    @Test
    void whatHasExpiredIsNotSentLater() {
        clearInvocations(commands);
        when(connection.isOpen()).thenReturn(false);
        List<CompletableFuture<Reply>> dead = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            dead.add(scripts.run(reply -> {}, LuaScript.UNLOCK, nameIn("dead", i), new byte[0]));
        }
        dead.subList(1, 10).forEach(each -> each.completeExceptionally(new TimeoutException("late")));
        when(connection.isOpen()).thenReturn(true);
        timer.tick(Duration.ofSeconds(1));
        assertThat(sent()).containsExactly("unlock lock:{dead}0");
    }
}
