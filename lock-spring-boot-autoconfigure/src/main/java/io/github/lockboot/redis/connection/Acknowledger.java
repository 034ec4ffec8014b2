package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.engine.Reply;
import io.github.lockboot.engine.StoreFailure.NotAcknowledgedException;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.connection.Connections.AcknowledgedBy;
import io.github.lockboot.redis.connection.SocketWatchdog.OfOneSocket;
import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.IntegerListOutput;
import io.lettuce.core.protocol.CommandArgs;
import org.jspecify.annotations.Nullable;

/**
 * Waits until replicas, or the append-only file, have acknowledged the leases that scripts have written. On each
 * connection there is one round at a time, however many leases wait: a WAIT, sent after the scripts on the same socket,
 * covers all that they have written.
 *
 * <p>A WAIT is short and repeated, because Redis runs nothing else on the connection meanwhile.
 */
final class Acknowledger {

    /** @param sent has the reply, if it has come */
    private record Waiting(CompletableFuture<Reply> call, RedisFuture<Reply> sent, long deadline) {}

    private final AcknowledgedBy acknowledgedBy;
    private final Timer timer;
    private final long patienceNanos;
    private final long roundMillis;
    private final Map<Object, Rounds> open = new ConcurrentHashMap<>();

    Acknowledger(AcknowledgedBy acknowledgedBy, Duration commandTimeout, Timer timer) {
        this.acknowledgedBy = acknowledgedBy;
        this.timer = timer;
        this.patienceNanos = commandTimeout.toNanos() / 10 * 8;
        this.roundMillis = Math.max(1, commandTimeout.toMillis() / 10);
    }

    /** {@return the rounds on the socket that the connection has now} */
    Rounds on(AbstractRedisAsyncCommands<byte[], byte[]> commands) {
        return open.computeIfAbsent(commands.getConnection(), connection -> new Rounds(commands));
    }

    /** The socket is closed. The next may be that of another server. */
    void onDisconnected(Object connection) {
        Rounds over = open.remove(connection);
        if (over != null) {
            over.end();
        }
    }

    /** The rounds on one socket. */
    final class Rounds {

        final AbstractRedisAsyncCommands<byte[], byte[]> commands;
        private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean underWay = new AtomicBoolean();
        private volatile boolean over;
        private volatile int connected = 1;
        private volatile long countDue = timer.nanoTime();

        private Rounds(AbstractRedisAsyncCommands<byte[], byte[]> commands) {
            this.commands = commands;
        }

        /**
         * Completes the call, whose command has been sent on this socket, once there is a reply and that is
         * acknowledged.
         */
        void acknowledge(CompletableFuture<Reply> call, RedisFuture<Reply> sent) {
            waiting.add(new Waiting(call, sent, timer.nanoTime() + patienceNanos));
            begin();
        }

        private void end() {
            over = true;
            begin();
        }

        private void begin() {
            List<Waiting> covered = new ArrayList<>();
            if (over) {
                takeInto(covered);
                judge(covered, 0, null);
            } else if (!waiting.isEmpty() && underWay.compareAndSet(false, true)) {
                try {
                    takeInto(covered);
                    round(covered);
                } catch (Throwable notSent) {
                    onRound(covered, 0, notSent);
                }
            }
        }

        private void takeInto(List<Waiting> taken) {
            for (Waiting next = waiting.poll(); next != null; next = waiting.poll()) {
                taken.add(next);
            }
        }

        private void round(List<Waiting> covered) {
            CompletionStage<?> counted = CompletableFuture.completedStage(null);
            if (acknowledgedBy == AcknowledgedBy.ALL_REPLICAS && timer.nanoTime() - countDue >= 0) {
                counted = commands.dispatch(OfOneSocket.ROLE, new ArrayOutput<>(ByteArrayCodec.INSTANCE))
                        .thenAccept(this::count);
            }
            counted.thenCombine(asked(), (none, have) -> have)
                    .whenComplete((have, failure) -> onRound(covered, have == null ? 0 : have, failure));
            if (over) { // since it was sent
                judge(covered, 0, null);
            }
        }

        private CompletionStage<Long> asked() {
            if (acknowledgedBy != AcknowledgedBy.APPEND_ONLY_FILE) {
                return commands.waitForReplication(needed(), roundMillis);
            }
            CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
            RedisFuture<List<Long>> files = commands.dispatch(
                    OfOneSocket.WAITAOF,
                    new IntegerListOutput<>(ByteArrayCodec.INSTANCE),
                    args.add(1).add(0).add(roundMillis));
            return files.thenApply(each -> each.get(0)); // on the server itself; then comes that on replicas
        }

        /** Not in every round, because it would cost as much as the rest of it. */
        private void count(List<Object> role) {
            countDue = timer.nanoTime() + TimeUnit.MILLISECONDS.toNanos(roundMillis);
            connected = role.size() > 2 && role.get(2) instanceof List<?> copies ? Math.max(1, copies.size()) : 1;
        }

        private int needed() {
            return acknowledgedBy == AcknowledgedBy.ALL_REPLICAS ? connected : 1;
        }

        private void onRound(List<Waiting> covered, long have, @Nullable Throwable failure) {
            judge(covered, have, failure);
            underWay.set(false);
            begin();
        }

        /** An exception for one call does not keep the others waiting. */
        private void judge(List<Waiting> covered, long have, @Nullable Throwable failure) {
            covered.forEach(each ->
                    Failures.runAndLog("when a lease was acknowledged", () -> judge(each, have, needed(), failure)));
        }

        private void judge(Waiting each, long have, int needed, @Nullable Throwable failure) {
            if (each.call.isDone()) {
                return; // refused, or it has expired
            }
            if (over) {
                fail(each, new IllegalStateException("the connection was lost before Redis answered"));
            } else if (failure != null) {
                fail(
                        each,
                        new NotAcknowledgedException(
                                "Redis rejected the request for acknowledgement", Futures.unwrap(failure)));
            } else if (have >= needed && each.sent.isDone()) {
                // Replies come in order: the script was written before this WAIT, even if another thread sent it.
                each.sent.thenAccept(each.call::complete);
            } else if (timer.nanoTime() - each.deadline < 0) {
                waiting.add(each);
            } else {
                fail(each, new NotAcknowledgedException(notBy(have, needed), null));
            }
        }

        private static void fail(Waiting each, Throwable failure) {
            each.call.completeExceptionally(failure);
        }

        private String notBy(long have, int needed) {
            return acknowledgedBy == AcknowledgedBy.APPEND_ONLY_FILE
                    ? "the append-only file did not have it in time"
                    : have + " of " + needed + " replicas acknowledged it in time";
        }
    }
}
