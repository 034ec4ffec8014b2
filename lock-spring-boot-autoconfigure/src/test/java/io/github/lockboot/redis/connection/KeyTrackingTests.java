package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.redis.engine.ManualTimer;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** What Redis answers to commands about tracking, on a connection that the test plays. */
@SuppressWarnings("unchecked")
class KeyTrackingTests {

    private final AtomicLong epoch = new AtomicLong();
    private final ManualTimer timer = new ManualTimer();
    private final KeyTracking tracking = new KeyTracking(epoch::get, timer);
    private final StatefulRedisConnectionImpl<byte[], byte[]> connection = mock(StatefulRedisConnectionImpl.class);

    private final RedisAsyncCommands<byte[], byte[]> commands = mock(RedisAsyncCommands.class);
    private final AsyncCommand<byte[], byte[], String> sent =
            new AsyncCommand<>(new Command<>(CommandType.CLIENT, new StatusOutput<>(ByteArrayCodec.INSTANCE)));

    @BeforeEach
    void send() {
        when(connection.async()).thenReturn(commands);
        when(commands.clientCaching(true)).thenReturn(sent);
        tracking.trackNext(connection);
    }

    @Test
    void whatAUserMayNotDoIsRefusedOnThisConnection() {
        sent.completeExceptionally(new RedisCommandExecutionException("NOPERM this user has no permissions"));
        assertThat(tracking.isRefused()).isTrue();
        epoch.incrementAndGet();
        assertThat(tracking.isRefused()).isFalse();
    }

    /** Lettuce sends a command without an answer again, here before tracking is switched on. */
    @Test
    void aCommandThatIsSentAgainOnTheNextConnectionDoesNotEndTrackingThere() {
        epoch.incrementAndGet();
        sent.completeExceptionally(
                new RedisCommandExecutionException(
                        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"));
        assertThat(tracking.isRefused()).isFalse();
    }

    @Test
    void aConnectionThatEndsBeforeTheAnswerIsARefusalForAWhileAndTheCommandIsNotSentAgain() {
        tracking.onDisconnected(new Object());
        assertThat(sent).isNotDone();
        epoch.incrementAndGet();
        tracking.onDisconnected(connection);
        assertThat(sent).isCancelled();
        timer.tick(KeyTracking.PAUSE.minusMillis(1));
        assertThat(tracking.isRefused()).isTrue();
        timer.tick(Duration.ofMillis(1));
        assertThat(tracking.isRefused()).isFalse();
    }

    /** As when the application has moved to another server. */
    @Test
    void aConnectionThatTheRegistryClosesIsNoRefusal() {
        when(connection.isClosed()).thenReturn(true);
        tracking.onDisconnected(connection);
        assertThat(sent).isCancelled();
        assertThat(tracking.isRefused()).isFalse();
    }

    @Test
    void aCommandThatExpiresWithoutAnAnswerIsARefusalForAWhile() {
        sent.cancel(true);
        assertThat(tracking.isRefused()).isTrue();
        timer.tick(KeyTracking.PAUSE);
        assertThat(tracking.isRefused()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"OK", "LOADING Redis is loading the dataset in memory"})
    void anAnswerThatIsNoRefusalChangesNothing(String answer) {
        if (answer.equals("OK")) {
            sent.complete();
        } else {
            sent.completeExceptionally(new RedisCommandExecutionException(answer));
        }
        epoch.incrementAndGet();
        tracking.onDisconnected(connection);
        assertThat(tracking.isRefused()).isFalse();
    }
}
