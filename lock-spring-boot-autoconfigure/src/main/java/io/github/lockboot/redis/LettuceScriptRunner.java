package io.github.lockboot.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.lockboot.redis.RedisFailure.NotConnectedException;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
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
 */
final class LettuceScriptRunner implements ScriptRunner {

    private final Supplier<LettuceConnectionFactory> factory;
    private final Expiry expiry;
    private final Executor connector;
    private final MasterSearch search;
    private final AtomicLong epoch = new AtomicLong();
    private final EpochCounter epochCounter = new EpochCounter();

    private final Object connecting = new Object();
    private final List<Unsent> unsent = new ArrayList<>();
    private boolean closed;
    private volatile @Nullable RedisClusterAsyncCommands<byte[], byte[]> connection;
    private volatile @Nullable AbstractRedisClient client;

    /** A call that waits for the connection. */
    private record Unsent(Call call, CompletableFuture<Reply> reply) {}

    /**
     * @param factory asked when a connection is made
     * @param expiry fails what is not answered in time, connecting included
     * @param connector runs the blocking making of the connection
     * @param search what to do if the server asked seems not to be the master
     */
    LettuceScriptRunner(
            Supplier<LettuceConnectionFactory> factory, Expiry expiry, Executor connector, MasterSearch search) {
        this.factory = factory;
        this.expiry = expiry;
        this.connector = connector;
        this.search = search;
    }

    @Override
    public CompletableFuture<Reply> run(Call call) {
        RedisClusterAsyncCommands<byte[], byte[]> connected = connection;
        if (connected != null) {
            return evalsha(connected, call);
        }
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        synchronized (connecting) {
            if (closed) {
                return CompletableFuture.failedFuture(new NotConnectedException("the lock registry is closed", null));
            }
            connected = connection;
            if (connected == null) {
                if (unsent.isEmpty()) {
                    connector.execute(this::connect);
                }
                unsent.add(new Unsent(call, reply));
                expiry.watch(reply);
                return reply;
            }
        }
        return evalsha(connected, call);
    }

    @Override
    public long epoch() {
        return epoch.get();
    }

    @Override
    public void close() {
        synchronized (connecting) {
            closed = true;
            connection = null;
        }
        expiry.close();
    }

    private void connect() {
        try {
            RedisClusterAsyncCommands<byte[], byte[]> made = newConnection();
            synchronized (connecting) {
                for (Unsent each : takeUnsent()) { // in order, and none whose caller was told that it was not sent
                    if (!each.reply.isDone()) {
                        evalsha(made, each.call)
                                .whenCompleteAsync((reply, failure) -> pass(reply, failure, each.reply), connector);
                    }
                }
                connection = closed ? null : made;
            }
        } catch (RuntimeException
                | Error failure) { // whatever it is, the next call must find the way free to try again
            List<Unsent> never;
            synchronized (connecting) {
                never = takeUnsent();
            }
            NotConnectedException notConnected = new NotConnectedException("no connection to Redis", failure);
            never.forEach(each -> each.reply.completeExceptionally(notConnected));
        }
    }

    private static void pass(@Nullable Reply reply, @Nullable Throwable failure, CompletableFuture<Reply> to) {
        if (reply != null) {
            to.complete(reply);
        } else if (failure != null) {
            to.completeExceptionally(failure);
        }
    }

    private List<Unsent> takeUnsent() {
        List<Unsent> taken = List.copyOf(unsent);
        unsent.clear();
        return taken;
    }

    @SuppressWarnings("unchecked")
    private RedisClusterAsyncCommands<byte[], byte[]> newConnection() {
        RedisCallback<Object> nativeConnection = RedisConnection::getNativeConnection;
        LettuceConnectionFactory used = factory.get();
        Object commands = new StringRedisTemplate(used).execute(nativeConnection, true);
        AbstractRedisClient made = used.getRequiredNativeClient();
        made.removeListener(epochCounter);
        made.addListener(epochCounter);
        client = made;
        return (RedisClusterAsyncCommands<byte[], byte[]>) Objects.requireNonNull(commands);
    }

    private CompletableFuture<Reply> evalsha(RedisClusterAsyncCommands<byte[], byte[]> commands, Call call) {
        RedisFuture<byte[]> sent =
                send(commands, CommandType.EVALSHA, call.script().getSha1(), call);
        Sent reply = new Sent(sent);
        sent.whenComplete((line, failure) -> {
            if (RedisFailure.unwrap(failure) instanceof RedisNoScriptException) {
                RedisFuture<byte[]> whole =
                        send(commands, CommandType.EVAL, call.script().getScriptAsString(), call);
                reply.awaits(whole);
                whole.whenComplete((again, failureAgain) -> complete(reply, again, failureAgain));
            } else {
                complete(reply, line, failure);
            }
        });
        expiry.watch(reply);
        return reply;
    }

    /** Takes the command back from Lettuce when it has expired: one that has not been sent by then never is. */
    private final class Sent extends CompletableFuture<Reply> {

        private volatile RedisFuture<?> command;

        Sent(RedisFuture<?> command) {
            this.command = command;
        }

        /** Another command is sent in its place. */
        void awaits(RedisFuture<?> instead) {
            command = instead;
            if (isDone()) {
                takeBack();
            }
        }

        private void takeBack() {
            if (!command.isDone()) {
                command.cancel(true);
                search.onSilence(client);
            }
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            boolean first = super.completeExceptionally(failure);
            if (first) {
                takeBack();
            }
            return first;
        }
    }

    private static RedisFuture<byte[]> send(
            RedisClusterAsyncCommands<byte[], byte[]> commands, CommandType type, String script, Call call) {
        CommandArgs<byte[], byte[]> args =
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add(script).add(1).addKey(call.key());
        for (byte[] argument : call.arguments()) {
            args.addValue(argument);
        }
        return commands.dispatch(type, new ValueOutput<>(ByteArrayCodec.INSTANCE), args);
    }

    private void complete(CompletableFuture<Reply> reply, byte @Nullable [] line, @Nullable Throwable failure) {
        if (line == null) {
            fail(reply, failure == null ? new IllegalStateException("no reply") : failure);
            return;
        }
        try {
            reply.complete(Reply.parse(new String(line, StandardCharsets.ISO_8859_1)));
        } catch (IllegalStateException strange) {
            fail(reply, strange);
        }
    }

    private void fail(CompletableFuture<Reply> reply, Throwable failure) {
        forgetIfClosed(failure);
        if (RedisFailure.isOfReplica(failure)) {
            search.onReplica();
        }
        reply.completeExceptionally(failure);
    }

    /** A factory that is not ours may have been reset under us. */
    private void forgetIfClosed(Throwable failure) {
        if (String.valueOf(failure.getMessage()).contains("Connection is closed")) {
            connection = null;
        }
    }

    private final class EpochCounter implements RedisConnectionStateListener {

        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
            epoch.incrementAndGet();
        }
    }
}
