package io.github.lockboot.redis.connection;

import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;

/**
 * Closes sockets of one registry that no longer lead to a working master. A server that hangs, or whose host is gone, leaves its
 * sockets open, and so does a master that becomes a replica; but Lettuce asks Sentinels or the name service for the master only
 * when it connects. It sends unanswered commands of a closed socket again on the next one.
 */
final class SocketWatchdog {

    private final Map<Channel, PendingReply> open = new ConcurrentHashMap<>();
    private final LongSupplier nanoTime;

    SocketWatchdog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Reports the sockets of Lettuce to this watchdog, after the application has customized them. */
    NettyCustomizer reportedAfter(NettyCustomizer application) {
        return new NettyCustomizer() {

            @Override
            public void afterBootstrapInitialized(Bootstrap bootstrap) {
                application.afterBootstrapInitialized(bootstrap);
            }

            @Override
            public void afterChannelInitialized(Channel channel) {
                application.afterChannelInitialized(channel);
                PendingReply pending = new PendingReply(nanoTime);
                channel.pipeline().addFirst(pending);
                open.put(channel, pending);
                channel.closeFuture().addListener(closed -> open.remove(channel));
            }
        };
    }

    /** Closes all sockets to servers that have owed an answer on any one of them for this long. */
    void closeSilent(long nanos) {
        long now = nanoTime.getAsLong();
        Set<SocketAddress> silent = open.entrySet().stream()
                .filter(each -> each.getValue().isOwedFor(nanos, now))
                .map(each -> each.getKey().remoteAddress())
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        open.keySet().stream()
                .filter(channel -> silent.contains(channel.remoteAddress()))
                .forEach(Channel::close);
    }

    void closeAll() {
        open.keySet().forEach(Channel::close);
    }

    /** Since when the server owes an answer; written by the socket's own thread. */
    private static final class PendingReply extends ChannelDuplexHandler {

        private final LongSupplier nanoTime;
        private volatile boolean owed;
        private volatile long since;

        PendingReply(LongSupplier nanoTime) {
            this.nanoTime = nanoTime;
        }

        boolean isOwedFor(long nanos, long now) {
            return owed && now - since >= nanos;
        }

        @Override
        public void write(ChannelHandlerContext context, Object bytes, ChannelPromise written) throws Exception {
            if (!owed) {
                since = nanoTime.getAsLong();
                owed = true;
            }
            super.write(context, bytes, written);
        }

        /** Cancels an unanswered handshake, which Lettuce would keep in memory until a later connection succeeds. */
        @Override
        public void channelInactive(ChannelHandlerContext context) throws Exception {
            CommandHandler commands = context.pipeline().get(CommandHandler.class);
            List<RedisCommand<?, ?, ?>> handshake = commands == null || isHandshakeDone(context.pipeline())
                    ? List.of()
                    : List.copyOf(commands.getStack());
            super.channelInactive(context);
            handshake.forEach(RedisCommand::cancel);
        }

        private static boolean isHandshakeDone(ChannelPipeline pipeline) {
            RedisHandshakeHandler handshake = pipeline.get(RedisHandshakeHandler.class);
            if (handshake == null) {
                return true;
            }
            CompletableFuture<Void> answer = handshake.channelInitialized().toCompletableFuture();
            return answer.isDone() && !answer.isCompletedExceptionally();
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object bytes) throws Exception {
            owed = false;
            super.channelRead(context, bytes);
        }
    }
}
