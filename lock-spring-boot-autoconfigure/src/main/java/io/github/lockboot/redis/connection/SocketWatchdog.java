package io.github.lockboot.redis.connection;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Timer;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.flush.FlushConsolidationHandler;
import org.jspecify.annotations.Nullable;

/**
 * Closes sockets so that Lettuce looks for the master again. Lettuce asks Sentinels or the name service only when it
 * connects. But a server that hangs, or whose host is gone, leaves its sockets open, and so does a master that becomes
 * a replica. Lettuce sends the unanswered commands of a closed socket again on the next one.
 *
 * <p>For the registry's own connections only.
 */
final class SocketWatchdog {

    /** Commands that share a flush, at most. More save hardly any writes, and delay the first. */
    private static final int FLUSHED_TOGETHER = 4;

    /** WAITAOF, which Lettuce does not have, and ROLE, which it has, but also sends itself. */
    enum OfOneSocket implements ProtocolKeyword {
        ROLE,
        WAITAOF;

        @Override
        public byte[] getBytes() {
            return name().getBytes(StandardCharsets.US_ASCII);
        }
    }

    /** Tracking and acknowledgements are about the commands next to them. */
    private static final Set<ProtocolKeyword> OF_ONE_SOCKET =
            Set.of(CommandType.CLIENT, CommandType.WAIT, OfOneSocket.ROLE, OfOneSocket.WAITAOF);

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** An attempt to connect that has failed. */
    private record Failed(@Nullable SocketAddress server, Throwable why) {}

    private final Map<Channel, PendingReply> open = new ConcurrentHashMap<>();
    private final OnlySocket onlySocket = new OnlySocket();
    private final Timer timer;
    private final long commandTimeoutNanos;
    private final Executor executor;
    private final AtomicLong nextRefresh;
    private final AtomicLong nextClose;
    private volatile boolean closed;
    private volatile @Nullable Failed failed; // null if the newest attempt did not

    SocketWatchdog(Timer timer, Duration commandTimeout, Executor executor) {
        this.timer = timer;
        this.commandTimeoutNanos = commandTimeout.toNanos();
        this.executor = executor;
        this.nextRefresh = new AtomicLong(timer.nanoTime());
        this.nextClose = new AtomicLong(timer.nanoTime());
    }

    /** Registers the sockets of Lettuce with this watchdog, after the customizer of the application. */
    NettyCustomizer registeredAfter(NettyCustomizer application) {
        return new NettyCustomizer() {

            @Override
            public void afterBootstrapInitialized(Bootstrap bootstrap) {
                application.afterBootstrapInitialized(bootstrap);
            }

            @Override
            public void afterChannelInitialized(Channel channel) {
                application.afterChannelInitialized(channel);
                PendingReply pending = new PendingReply();
                RedisHandshakeHandler handshake = channel.pipeline().get(RedisHandshakeHandler.class);
                if (handshake != null) {
                    pending.handshake = true;
                    handshake.channelInitialized().whenComplete((none, failure) -> {
                        pending.onAttempted(failure);
                        closeIfLate(channel);
                    });
                }
                channel.pipeline()
                        .addFirst(onlySocket)
                        .addFirst(pending)
                        .addFirst(new FlushConsolidationHandler(FLUSHED_TOGETHER, true));
                open.put(channel, pending);
                channel.closeFuture().addListener(end -> open.remove(channel));
                if (closed) {
                    channel.close();
                }
            }
        };
    }

    /** Lettuce keeps a socket open that it opens again while the connection is closed. */
    private static void closeIfLate(Channel socket) {
        CommandHandler commands = socket.pipeline().get(CommandHandler.class);
        if (commands != null && commands.getEndpoint() instanceof DefaultEndpoint connection && connection.isClosed()) {
            socket.close();
        }
    }

    /**
     * Called when a command was not answered in time, or not by the master of its key. Closes all sockets to each
     * server that owes an answer on one for so long, and refreshes the topology of a Cluster.
     */
    void onSilence(@Nullable AbstractRedisClient client) {
        long now = timer.nanoTime();
        Set<SocketAddress> silent = open.entrySet().stream()
                .filter(each -> each.getValue().isSilent(now))
                .map(each -> each.getKey().remoteAddress())
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        open.keySet().stream()
                .filter(channel -> silent.contains(channel.remoteAddress()))
                .forEach(Channel::close);
        if (client instanceof RedisClusterClient cluster && isDue(nextRefresh)) {
            executor.execute(cluster::refreshPartitionsAsync);
        }
    }

    /**
     * {@return why the newest attempt to connect failed; null if it has not}
     *
     * @param server null for any
     */
    @Nullable
    Throwable whyNotConnected(@Nullable RedisURI server) {
        Failed newest = failed;
        if (newest == null) {
            return null;
        }
        boolean asked = server == null
                || newest.server instanceof InetSocketAddress address
                        && address.getPort() == server.getPort()
                        && address.getHostString().equals(server.getHost());
        return asked ? newest.why : null;
    }

    /** Called when a server answers that it is a replica. */
    void onReplica() {
        if (isDue(nextClose)) {
            open.keySet().forEach(Channel::close);
        }
    }

    /**
     * Closes the client and all its sockets. No other opens from then on: Lettuce does not end a refresh of the
     * topology that it has begun, and a thread of Netty that ends never closes the sockets that it opens last.
     */
    void close(Runnable client) {
        closed = true;
        try {
            client.run();
        } finally {
            open.keySet().forEach(Channel::close);
        }
    }

    /** {@return whether this time has come} It is then put off. */
    boolean isDue(AtomicLong next) {
        long now = timer.nanoTime();
        long due = next.get();
        return now - due >= 0 && next.compareAndSet(due, now + PAUSE_NANOS);
    }

    /** Whether the connection was closed for good: every command on it fails. */
    static boolean isClosed(Object connection) {
        return connection instanceof RedisChannelHandler<?, ?> known && known.isClosed();
    }

    /**
     * Whether, and since when, the server owes an answer. The next answer to anything ends that, but in a handshake the
     * answer to its last command: a lost one would not be missed there. Written by the socket's thread.
     */
    private final class PendingReply extends ChannelDuplexHandler {

        private boolean handshake;
        private volatile boolean owed;
        private volatile long since = timer.nanoTime();
        private volatile @Nullable SocketAddress server;

        @Override
        public void connect(
                ChannelHandlerContext context, SocketAddress remote, SocketAddress local, ChannelPromise connected)
                throws Exception {
            server = remote;
            connected.addListener(end -> {
                if (!end.isSuccess()) {
                    onAttempted(end.cause());
                }
            });
            super.connect(context, remote, local, connected);
        }

        boolean isSilent(long now) {
            return owed && now - since >= commandTimeoutNanos;
        }

        void onAttempted(@Nullable Throwable failure) {
            handshake = false;
            Failed newest = failed;
            if (failure != null) {
                failed = new Failed(server, Futures.unwrap(failure));
            } else if (newest != null && Objects.equals(newest.server, server)) {
                failed = null;
            }
        }

        @Override
        public void write(ChannelHandlerContext context, Object bytes, ChannelPromise written) throws Exception {
            if (!owed) {
                since = timer.nanoTime();
                owed = true;
            }
            super.write(context, bytes, written);
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
            owed = false;
            super.channelRead(context, bytes);
            if (handshake && !unanswered(context.pipeline()).isEmpty()) {
                since = timer.nanoTime();
                owed = true;
            }
        }

        /**
         * Cancels unanswered commands that belong to this socket: those of the handshake, which Lettuce would keep in
         * memory until a later connection succeeds, and others, which it would send on the next one, and a proxy may
         * close that, too.
         */
        @Override
        public void channelInactive(ChannelHandlerContext context) throws Exception {
            List<RedisCommand<?, ?, ?>> unanswered = unanswered(context.pipeline());
            boolean connected = isHandshakeDone(context.pipeline());
            super.channelInactive(context);
            if (!connected) {
                OnlySocket.silence(context.pipeline()); // a cancelled command may be the last of the handshake
            }
            unanswered.stream()
                    .filter(each -> !connected || OF_ONE_SOCKET.contains(each.getType()))
                    .forEach(RedisCommand::cancel);
        }

        private static List<RedisCommand<?, ?, ?>> unanswered(ChannelPipeline pipeline) {
            CommandHandler commands = pipeline.get(CommandHandler.class);
            return commands == null ? List.of() : List.copyOf(commands.getStack());
        }

        private static boolean isHandshakeDone(ChannelPipeline pipeline) {
            RedisHandshakeHandler handshake = pipeline.get(RedisHandshakeHandler.class);
            if (handshake == null) {
                return true;
            }
            CompletableFuture<Void> answer = handshake.channelInitialized().toCompletableFuture();
            return answer.isDone() && !answer.isCompletedExceptionally();
        }
    }
}
