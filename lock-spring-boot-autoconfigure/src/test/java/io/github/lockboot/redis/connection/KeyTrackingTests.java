package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.engine.ManualTimer;
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

    private boolean isPossible() {
        return tracking.refusedIn != epoch.get() && timer.nanoTime() - tracking.due >= 0;
    }

    private void passThePause() {
        timer.tick(KeyTracking.PAUSE);
    }

    @Test
    void whatAUserMayNotDoIsRefusedOnThisConnection() {
        assertThat(isPossible()).isTrue();
        sent.completeExceptionally(new RedisCommandExecutionException("NOPERM this user has no permissions"));
        assertThat(isPossible()).isFalse();
        passThePause();
        assertThat(isPossible()).isFalse();
        epoch.incrementAndGet();
        assertThat(isPossible()).isTrue();
    }

    /** Lettuce sends a command without an answer again, here before tracking is switched on. */
    @Test
    void aCommandThatIsSentAgainOnTheNextConnectionDoesNotEndTrackingThere() {
        epoch.incrementAndGet();
        sent.completeExceptionally(
                new RedisCommandExecutionException(
                        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"));
        assertThat(isPossible()).isTrue();
    }

    @Test
    void aCommandThatGotNoAnswerPausesTrackingForAWhile() {
        sent.cancel(true);
        timer.tick(KeyTracking.PAUSE.minusMillis(1));
        assertThat(isPossible()).isFalse();
        timer.tick(Duration.ofMillis(1));
        assertThat(isPossible()).isTrue();
    }

    /** As when the application has moved to another server. */
    @Test
    void aConnectionThatTheRegistryClosesSaysNothingOfTracking() {
        when(connection.isClosed()).thenReturn(true);
        sent.cancel(true);
        assertThat(isPossible()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"OK", "LOADING Redis is loading the dataset in memory"})
    void anAnswerThatIsNoRefusalChangesNothing(String answer) {
        if (answer.equals("OK")) {
            sent.complete();
        } else {
            sent.completeExceptionally(new RedisCommandExecutionException(answer));
        }
        tracking.onDisconnected(connection);
        assertThat(isPossible()).isTrue();
    }
}
