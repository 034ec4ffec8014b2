package io.github.lockboot.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

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
    private final List<Long> refusedIn = new ArrayList<>();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final KeyTracking tracking = new KeyTracking(epoch::get, refusedIn::add, unanswered::incrementAndGet);
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
        assertThat(refusedIn).containsExactly(0L);
        assertThat(unanswered).hasValue(0);
    }

    /** Lettuce sends a command without an answer again, here before tracking is switched on. */
    @Test
    void aCommandThatIsSentAgainOnTheNextConnectionDoesNotEndTrackingThere() {
        epoch.incrementAndGet();
        sent.completeExceptionally(
                new RedisCommandExecutionException(
                        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"));
        assertThat(refusedIn).containsExactly(0L);
        assertThat(unanswered).hasValue(0);
    }

    @Test
    void aCommandThatItsConnectionEndsWithoutAnAnswerIsToldAndNotSentAgain() {
        tracking.onDisconnected(new Object());
        assertThat(sent).isNotDone();
        tracking.onDisconnected(connection);
        assertThat(sent).isCancelled();
        assertThat(unanswered).hasValue(1);
        assertThat(refusedIn).isEmpty();
    }

    /** As when the application has moved to another server. */
    @Test
    void aConnectionThatTheRegistryClosesSaysNothingOfTracking() {
        when(connection.isClosed()).thenReturn(true);
        tracking.onDisconnected(connection);
        assertThat(sent).isCancelled();
        assertThat(unanswered).hasValue(0);
    }

    @Test
    void aCommandThatExpiresWithoutAnAnswerIsTold() {
        sent.cancel(true);
        assertThat(unanswered).hasValue(1);
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
        assertThat(refusedIn).isEmpty();
        assertThat(unanswered).hasValue(0);
    }
}
