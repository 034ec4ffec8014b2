package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockboot.engine.ManualTimer;
import io.lettuce.core.ConnectionState;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** What Redis answers to commands about tracking, on a connection that the test plays. */
@SuppressWarnings("unchecked")
class KeyTrackingTests {

    private static final String NOT_TRACKING =
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled";

    private final AtomicLong epoch = new AtomicLong();
    private final ManualTimer timer = new ManualTimer();
    private final KeyTracking tracking = new KeyTracking(epoch::get, timer);
    private final StatefulRedisConnectionImpl<byte[], byte[]> connection = mock(StatefulRedisConnectionImpl.class);

    private final RedisAsyncCommands<byte[], byte[]> commands = mock(RedisAsyncCommands.class);
    private final AsyncCommand<byte[], byte[], String> sent = command();

    private static AsyncCommand<byte[], byte[], String> command() {
        return new AsyncCommand<>(new Command<>(CommandType.CLIENT, new StatusOutput<>(ByteArrayCodec.INSTANCE)));
    }

    private static AsyncCommand<byte[], byte[], String> completed() {
        AsyncCommand<byte[], byte[], String> command = command();
        command.complete();
        return command;
    }

    @BeforeEach
    void send() {
        when(connection.async()).thenReturn(commands);
        when(commands.clientCaching(true)).thenReturn(sent);
        tracking.trackNext(connection);
    }

    @Test
    void onceItWorksTrackingIsOnUntilTheConnectionIsCut() {
        assertThat(tracking.isOn(connection)).isFalse();
        sent.complete();
        assertThat(tracking.isOn(connection)).isTrue();
        tracking.onDisconnected(connection);
        assertThat(tracking.isOn(connection)).isFalse();
    }

    @Test
    void anAnswerOnAConnectionThatWasCutMeanwhileDoesNotTellThatTrackingIsOn() {
        epoch.incrementAndGet();
        sent.complete();
        assertThat(tracking.isOn(connection)).isFalse();
    }

    /** Lettuce reconnects to a node of a Cluster without a report, and tracking is off there. */
    @Test
    void whereTrackingWorkedARefusalTellsThatAllThatWasTrackedMayHaveChanged() {
        List<String> changed = new ArrayList<>();
        tracking.listener = changed::add;
        when(connection.getConnectionState()).thenReturn(mock(ConnectionState.class));
        when(connection.getConnectionState().getNegotiatedProtocolVersion()).thenReturn(ProtocolVersion.RESP3);
        when(commands.clientTracking(any())).thenReturn(completed());
        tracking.switchOn(connection);
        sent.complete();
        AsyncCommand<byte[], byte[], String> next = command();
        when(commands.clientCaching(true)).thenReturn(next);
        tracking.trackNext(connection);
        next.completeExceptionally(new RedisCommandExecutionException(NOT_TRACKING));
        assertThat(isPossible()).isTrue();
        assertThat(tracking.isOn(connection)).isFalse();
        assertThat(changed).containsExactly((String) null);
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
        sent.completeExceptionally(new RedisCommandExecutionException(NOT_TRACKING));
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
