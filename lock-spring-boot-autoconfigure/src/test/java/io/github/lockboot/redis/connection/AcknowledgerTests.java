package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.engine.ManualTimer;
import io.github.lockboot.engine.Reply;
import io.github.lockboot.redis.connection.Connections.AcknowledgedBy;
import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulConnection;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

/** Which WAIT acknowledges which lease. */
@SuppressWarnings("unchecked")
class AcknowledgerTests {

    private final Acknowledger acknowledger =
            new Acknowledger(AcknowledgedBy.ONE_REPLICA, Duration.ofSeconds(2), new ManualTimer());
    private final AbstractRedisAsyncCommands<byte[], byte[]> commands = mock(AbstractRedisAsyncCommands.class);
    private final StatefulConnection<byte[], byte[]> connection = mock(StatefulConnection.class);
    private final Answer<Long> replicas = new Answer<>();
    private final Answer<Reply> granted = new Answer<>();
    private final CompletableFuture<Reply> call = new CompletableFuture<>();

    @BeforeEach
    void granted() {
        when(commands.getConnection()).thenReturn(connection);
        when(commands.waitForReplication(anyInt(), anyLong())).thenReturn(replicas);
        granted.complete(new Reply.Granted(100, 30_000, 0));
        acknowledger.on(commands).acknowledge(call, granted);
        assertThat(call).isNotDone();
    }

    @Test
    void aLeaseCountsOnceAReplicaHasIt() {
        replicas.complete(1L);
        assertThat(call).isCompletedWithValue(granted.join());
    }

    @Test
    void aWaitOverTheNextConnectionDoesNotAcknowledgeWhatWasWrittenOverTheLast() {
        acknowledger.onDisconnected(connection);
        replicas.complete(1L);
        assertThat(call).isCompletedExceptionally();
    }

    @Test
    void aCallThatCannotFailDoesNotKeepTheNextFromBeingAcknowledged() {
        CompletableFuture<Reply> throwing = new CompletableFuture<>() {

            @Override
            public boolean completeExceptionally(Throwable failure) {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
        acknowledger.on(commands).acknowledge(throwing, granted);
        CompletableFuture<Reply> next = new CompletableFuture<>();
        acknowledger.on(commands).acknowledge(next, granted);
        Answer<Long> refusal = new Answer<>();
        when(commands.waitForReplication(anyInt(), anyLong())).thenReturn(refusal);
        replicas.complete(0L);
        refusal.completeExceptionally(new IllegalStateException("refused"));
        assertThat(next).isCompletedExceptionally();
        Answer<Long> again = new Answer<>();
        when(commands.waitForReplication(anyInt(), anyLong())).thenReturn(again);
        CompletableFuture<Reply> later = new CompletableFuture<>();
        acknowledger.on(commands).acknowledge(later, granted);
        again.complete(1L);
        assertThat(later).isCompleted();
    }

    private static final class Answer<T> extends CompletableFuture<T> implements RedisFuture<T> {

        @Override
        public String getError() {
            return "";
        }

        @Override
        public boolean await(long timeout, TimeUnit unit) {
            return isDone();
        }
    }
}
