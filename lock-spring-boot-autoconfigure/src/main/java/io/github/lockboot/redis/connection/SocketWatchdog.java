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
 * The sockets of one registry, to be rid of those that lead nowhere. A server that hangs, or whose host is gone, leaves them
 * open, and so does a master that has become a replica; but Lettuce asks Sentinels or the name service who is the master only
 * when it connects. What was sent on a closed one and not answered is sent again on the next.
 */
final class SocketWatchdog {

    private final Map<Channel, PendingReply> open = new ConcurrentHashMap<>();
    private final LongSupplier nanoTime;

    SocketWatchdog(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Has Lettuce report its sockets here, after what the application wants done with them. */
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

    /** Closes those to servers that have owed an answer for this long, on whichever socket, and sent nothing there. */
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

    /** Since when a server owes its first answer; written by the socket's own thread. */
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

        /** Lettuce would keep the greeting of each connection that ends before its answer, until there is one that lasts. */
        @Override
        public void channelInactive(ChannelHandlerContext context) throws Exception {
            CommandHandler commands = context.pipeline().get(CommandHandler.class);
            List<RedisCommand<?, ?, ?>> greeting =
                    commands == null || isGreeted(context.pipeline()) ? List.of() : List.copyOf(commands.getStack());
            super.channelInactive(context);
            greeting.forEach(RedisCommand::cancel);
        }

        private static boolean isGreeted(ChannelPipeline pipeline) {
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
