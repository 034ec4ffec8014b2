package io.github.lockboot.redis.connection;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.Endpoint;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;

/**
 * Keeps each connection of Lettuce at one socket. When an attempt to reconnect fails, Lettuce may plan two more. If
 * both succeed, it uses one of the sockets and never closes the other, whose end would then look like that of the
 * connection.
 *
 * <p>A further socket of a connection is closed before it is used. Only the attempt that opened it learns that it is
 * closed.
 */
@Sharable
final class OnlySocket extends ChannelInboundHandlerAdapter {

    private final Map<Endpoint, Channel> open = new ConcurrentHashMap<>();

    @Override
    public void channelActive(ChannelHandlerContext context) throws Exception {
        Channel socket = context.channel();
        CommandHandler commands = socket.pipeline().get(CommandHandler.class);
        if (commands == null) {
            super.channelActive(context);
            return;
        }
        Endpoint connection = commands.getEndpoint();
        if (open.putIfAbsent(connection, socket) == null) {
            socket.closeFuture().addListener(end -> open.remove(connection, socket));
            super.channelActive(context);
        } else {
            silence(socket.pipeline());
            socket.close();
        }
    }

    /** The connection learns no more of this socket. */
    static void silence(ChannelPipeline socket) {
        socket.addBefore(socket.context(CommandHandler.class).name(), null, new Silence());
    }

    private static final class Silence extends ChannelInboundHandlerAdapter {

        @Override
        public void channelActive(ChannelHandlerContext context) {}

        @Override
        public void channelInactive(ChannelHandlerContext context) {}

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {}
    }
}
