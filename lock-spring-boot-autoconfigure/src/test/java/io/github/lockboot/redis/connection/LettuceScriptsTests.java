package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import io.github.lockboot.redis.engine.ManualTimer;
import io.github.lockboot.redis.protocol.LuaScript;
import io.github.lockboot.redis.protocol.Reply;
import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** A command that Redis never answers, on a connection that the test plays. */
@SuppressWarnings("unchecked")
class LettuceScriptsTests {

    private final StatefulConnection<byte[], byte[]> connection = mock(StatefulConnection.class);
    private final AbstractRedisAsyncCommands<byte[], byte[]> commands = mock(AbstractRedisAsyncCommands.class);
    private final LettuceConnectionFactory factory = mock(LettuceConnectionFactory.class);
    private final ManualTimer timer = new ManualTimer();
    private final LettuceScripts scripts = new LettuceScripts(() -> factory, timer, Runnable::run, null, null);
    private final AbstractRedisClient client = mock(AbstractRedisClient.class);
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
        call = scripts.run(LuaScript.UNLOCK, "lock:n", new byte[0]);
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
        LettuceScripts closed = new LettuceScripts(() -> factory, timer, Runnable::run, null, null);
        doAnswer(added -> {
                    closed.close();
                    return null;
                })
                .when(client)
                .addListener(closed);
        closed.run(LuaScript.UNLOCK, "lock:n", new byte[0]);
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
}
