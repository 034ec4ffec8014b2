package io.github.lockboot.redis.connection;

import java.net.SocketAddress;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.CommandNumbers;
import io.github.lockboot.redis.protocol.RedisFailure;
import io.github.lockboot.redis.protocol.RedisFailure.NotConnectedException;
import io.github.lockboot.redis.protocol.Reply;
import io.github.lockboot.redis.protocol.ScriptRunner;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Runs scripts on the one connection that Lettuce shares among threads, taken from our template. The connection is made in
 * the background at the first use and kept; Lettuce reconnects it.
 *
 * <p>While there is no connection, calls wait here and not in Lettuce, which would keep each command until it is connected again, even
 * one that nobody waits for any more.
 */
final class LettuceScriptRunner implements ScriptRunner {

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Supplier<LettuceConnectionFactory> factory;
    private final CommandTimeouts timeouts;
    private final Timer timer;
    private final Executor connector;
    private final TopologyRefresh topology;
    private final AtomicLong epoch = new AtomicLong();
    private final ConnectionListener listener = new ConnectionListener();

    /** In the order they were asked in. The monitor for the fields below, under which nothing is sent and no call completes. */
    private final Set<Sent> waiting = new LinkedHashSet<>();

    private volatile boolean anyWaits;
    private boolean connecting;
    private boolean closed;
    private Timer.@Nullable Task nextLook;
    private volatile @Nullable LettuceLink link;

    /**
     * @param factory asked when a connection is made
     * @param timeouts fails what is not answered in time, connecting included
     * @param connector runs the blocking making of the connection
     * @param topology what to do if the server asked seems not to be the master
     */
    LettuceScriptRunner(
            Supplier<LettuceConnectionFactory> factory,
            CommandTimeouts timeouts,
            Timer timer,
            Executor connector,
            TopologyRefresh topology) {
        this.factory = factory;
        this.timeouts = timeouts;
        this.timer = timer;
        this.connector = connector;
        this.topology = topology;
    }

    @Override
    public CompletableFuture<Reply> run(Call call) {
        Sent sent = new Sent(call);
        LettuceLink current = anyWaits ? null : link;
        if (current == null || !current.reaches(call.key())) {
            current = linkOrWait(sent);
        }
        if (current != null) {
            sent.sendOn(current);
        }
        timeouts.watch(sent);
        return sent;
    }

    /** @return what to send it on now; null if it waits, or has failed */
    private @Nullable LettuceLink linkOrWait(Sent sent) {
        synchronized (waiting) {
            if (closed) {
                sent.completeExceptionally(new NotConnectedException("the lock registry is closed", null));
                return null;
            }
            LettuceLink current = link;
            byte[] key = sent.call.key();
            if (current != null
                    && current.reaches(key)
                    && waiting.stream().noneMatch(each -> Arrays.equals(each.call.key(), key))) {
                return current;
            }
            if (current == null) {
                connectInBackground();
            }
            waiting.add(sent);
            anyWaits = true;
            try {
                if (nextLook == null) {
                    look(LOOK_NANOS);
                }
            } catch (Throwable notScheduled) {
                stopWaiting(sent);
                throw notScheduled;
            }
            return null;
        }
    }

    @Override
    public long epoch() {
        return epoch.get();
    }

    @Override
    public void close() {
        synchronized (waiting) {
            closed = true;
            link = null;
        }
        timeouts.close();
    }

    // --- connecting -------------------------------------------------------------------------------------------

    private void connectInBackground() {
        if (connecting || closed) {
            return;
        }
        connecting = true;
        try {
            connector.execute(this::connect);
        } catch (Throwable noThread) {
            connecting = false;
            throw noThread;
        }
    }

    private void connect() {
        LettuceLink made = null;
        Throwable failure = null;
        try {
            made = newLink();
        } catch (RuntimeException
                | Error notMade) { // whatever it is, the next call must find the way free to try again
            failure = notMade;
        }
        List<Sent> never = List.of();
        synchronized (waiting) {
            connecting = false;
            link = closed ? null : made;
            if (made == null) {
                never = List.copyOf(waiting);
            } else {
                look(0);
            }
        }
        NotConnectedException notConnected = new NotConnectedException("no connection to Redis", failure);
        never.forEach(each -> each.completeExceptionally(notConnected));
    }

    private LettuceLink newLink() {
        RedisCallback<Object> nativeConnection = RedisConnection::getNativeConnection;
        LettuceConnectionFactory used = factory.get();
        Object commands = new StringRedisTemplate(used).execute(nativeConnection, true);
        AbstractRedisClient made = used.getRequiredNativeClient();
        made.removeListener(listener);
        made.addListener(listener);
        return new LettuceLink(Objects.requireNonNull(commands), made);
    }

    /** A factory that is not ours may have been reset under us. */
    private void forgetIfClosed(Throwable failure) {
        if (String.valueOf(failure.getMessage()).contains("Connection is closed")) {
            link = null;
        }
    }

    private final class ConnectionListener implements RedisConnectionStateListener {

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
            if (anyWaits) {
                synchronized (waiting) {
                    look(0);
                }
            }
        }

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            epoch.incrementAndGet();
        }
    }

    // --- waiting for a connection -----------------------------------------------------------------------------

    /** Has what waits looked at after this time, and not at another. */
    private void look(long delayNanos) {
        if (nextLook != null) {
            nextLook.cancel();
        }
        nextLook = timer.schedule(delayNanos, this::sendWaiting);
    }

    /** Sends what can be sent. On the timer's thread, so that none overtakes another. */
    private void sendWaiting() {
        List<Sent> inOrder;
        LettuceLink current;
        synchronized (waiting) {
            nextLook = null;
            current = link;
            inOrder = List.copyOf(waiting);
        }
        if (current != null) {
            for (Sent each : inOrder) {
                if (current.reaches(each.call.key())) {
                    try {
                        each.sendOn(current);
                    } catch (Throwable notSent) {
                        each.completeExceptionally(notSent);
                    }
                    stopWaiting(each);
                }
            }
        }
        synchronized (waiting) {
            if (!waiting.isEmpty() && nextLook == null) {
                look(LOOK_NANOS); // also where no event tells: another node of a Cluster may have become the one to ask
            }
            if (!waiting.isEmpty() && link == null) {
                connectInBackground();
            }
        }
    }

    private void stopWaiting(Sent sent) {
        synchronized (waiting) {
            waiting.remove(sent);
            anyWaits = !waiting.isEmpty();
        }
    }

    // --- a call -----------------------------------------------------------------------------------------------

    /** A call on its way. When it has expired it is taken back: one that has not been sent by then never is. */
    private final class Sent extends CompletableFuture<Reply> {

        private final Call call;
        private final String number = CommandNumbers.next();
        private volatile @Nullable RedisFuture<?> command;

        Sent(Call call) {
            this.call = call;
        }

        void sendOn(LettuceLink link) {
            if (isDone()) {
                return;
            }
            RedisFuture<Reply> sent =
                    dispatch(link, CommandType.EVALSHA, call.script().getSha1());
            sent.whenComplete((reply, failure) -> {
                if (failure != null && Futures.unwrap(failure) instanceof RedisNoScriptException) {
                    dispatch(link, CommandType.EVAL, call.script().getScriptAsString())
                            .whenComplete(this::onAnswer);
                } else {
                    onAnswer(reply, failure);
                }
            });
        }

        private RedisFuture<Reply> dispatch(LettuceLink link, CommandType type, String script) {
            CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE)
                    .add(script)
                    .add(1)
                    .addKey(call.key());
            for (byte[] argument : call.arguments()) {
                args.addValue(argument);
            }
            args.add(number);
            RedisFuture<Reply> dispatched = link.commands().dispatch(type, new ReplyOutput(number), args);
            command = dispatched;
            if (isDone()) {
                takeBack();
            }
            return dispatched;
        }

        private void onAnswer(@Nullable Reply reply, @Nullable Throwable failure) {
            if (reply != null) {
                complete(reply);
                return;
            }
            Throwable reason = failure != null ? failure : new IllegalStateException("no reply");
            forgetIfClosed(reason);
            if (RedisFailure.isOfReplica(reason)) {
                topology.onReplica();
            }
            completeExceptionally(reason);
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            boolean never = command == null && !(failure instanceof NotConnectedException);
            boolean first = super.completeExceptionally(
                    never ? new NotConnectedException("no connection to Redis", failure) : failure);
            if (first) {
                takeBack();
            }
            return first;
        }

        private void takeBack() {
            RedisFuture<?> sent = command;
            if (sent == null) {
                stopWaiting(this);
            } else if (!sent.isDone()) {
                sent.cancel(true);
            } else {
                return;
            }
            LettuceLink current = link;
            topology.onSilence(current != null ? current.client() : null);
        }
    }
}
