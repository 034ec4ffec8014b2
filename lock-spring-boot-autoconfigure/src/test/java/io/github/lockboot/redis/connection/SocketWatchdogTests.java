package io.github.lockboot.redis.connection;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockboot.engine.ManualTimer;
import io.github.lockboot.internal.Timer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.Endpoint;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.RETURNS_DEFAULTS;
import static org.mockito.Mockito.mock;

class SocketWatchdogTests {

    private final Timer timer = Timer.system("socket-watchdog-tests");
    private final SocketWatchdog watchdog = new SocketWatchdog(timer, Duration.ofSeconds(2), Runnable::run);
    private final NettyCustomizer customizer = watchdog.registeredAfter(new NettyCustomizer() {});

    @AfterEach
    void close() {
        timer.close();
    }

    private EmbeddedChannel socket() {
        EmbeddedChannel socket = new EmbeddedChannel();
        customizer.afterChannelInitialized(socket);
        return socket;
    }

    /** As that of a look at the topology of a Cluster, which Lettuce does not end when its client is shut down. */
    @Test
    void noSocketOutlivesTheClose() {
        EmbeddedChannel before = socket();
        watchdog.close(() -> {});
        EmbeddedChannel after = socket();
        assertThat(before.isOpen()).isFalse();
        assertThat(after.isOpen()).isFalse();
    }

    /** Lettuce would send it again on the next socket, and a proxy that closes this one for it may close that, too. */
    @Test
    void anUnansweredCommandThatBelongsToASocketIsCancelledWithIt() {
        ClientResources resources = DefaultClientResources.create();
        try {
            AtomicReference<CommandHandler> commands = new AtomicReference<>();
            Endpoint keeping = mock(Endpoint.class, call -> {
                if (call.getMethod().getName().equals("notifyDrainQueuedCommands")) {
                    commands.get().drainQueue();
                }
                return RETURNS_DEFAULTS.answer(call);
            });
            commands.set(new CommandHandler(ClientOptions.create(), resources, keeping));
            EmbeddedChannel socket = new EmbeddedChannel(commands.get());
            customizer.afterChannelInitialized(socket);
            AsyncCommand<byte[], byte[], String> tracking = send(socket, CommandType.CLIENT);
            AsyncCommand<byte[], byte[], String> script = send(socket, CommandType.EVALSHA);
            AsyncCommand<byte[], byte[], String> wait = send(socket, CommandType.WAIT);
            socket.close();
            assertThat(tracking).isCancelled();
            assertThat(wait).isCancelled();
            assertThat(script).isNotDone();
        } finally {
            resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        }
    }

    /** Two commands of a handshake that has not ended, with a server that has answered some, and then is not heard. */
    private static boolean isOpenAfter(int answers) {
        ClientResources resources = DefaultClientResources.create();
        ManualTimer time = new ManualTimer();
        SocketWatchdog patient = new SocketWatchdog(time, Duration.ofSeconds(2), Runnable::run);
        try {
            EmbeddedChannel socket = new EmbeddedChannel(
                    new RedisHandshakeHandler(channel -> new CompletableFuture<>(), resources, Duration.ofHours(1)),
                    new CommandHandler(ClientOptions.create(), resources, mock(Endpoint.class)));
            patient.registeredAfter(new NettyCustomizer() {}).afterChannelInitialized(socket);
            send(socket, CommandType.CLIENT);
            send(socket, CommandType.CLIENT);
            for (int i = 0; i < answers; i++) {
                time.tick(Duration.ofSeconds(1));
                socket.writeInbound(Unpooled.copiedBuffer("+OK\r\n", StandardCharsets.US_ASCII));
            }
            time.tick(Duration.ofSeconds(1));
            patient.onSilence(null);
            assertThat(socket.isOpen()).as("heard a second ago").isTrue();
            time.tick(Duration.ofSeconds(1));
            patient.onSilence(null);
            return socket.isOpen();
        } finally {
            resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        }
    }

    /** The process may be slow to send the next one. */
    @Test
    void aServerThatHasAnsweredAllOfAHandshakeSoFarIsNotSilent() {
        assertThat(isOpenAfter(2)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aServerThatOwesAnAnswerOfAHandshakeIsSilentACommandTimeoutAfterTheOneBefore(int answers) {
        assertThat(isOpenAfter(answers)).isFalse();
    }

    private static AsyncCommand<byte[], byte[], String> send(EmbeddedChannel socket, CommandType type) {
        AsyncCommand<byte[], byte[], String> command =
                new AsyncCommand<>(new Command<>(type, new StatusOutput<>(ByteArrayCodec.INSTANCE)));
        socket.writeOutbound(command);
        return command;
    }

    /** The thread closes the sockets that it knows, and then runs what is left to do, such as opening another one. */
    @Test
    @SuppressWarnings("deprecation") // its successor is not in all versions of Netty
    void noSocketOutlivesItsThread() throws Exception {
        NioEventLoopGroup threads = new NioEventLoopGroup(1);
        try (ServerSocket server = new ServerSocket(0, 2, InetAddress.getLoopbackAddress())) {
            server.setSoTimeout(1_000);
            Channel known =
                    connect(threads, server.getLocalSocketAddress()).sync().channel();
            Socket ofKnown = server.accept();
            known.closeFuture().addListener(end -> connect(threads, server.getLocalSocketAddress()));
            watchdog.close(() ->
                    threads.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS));
            assertThat(ofKnown.getInputStream().read()).isEqualTo(-1);
            assertThat(isAnotherOpen(server)).isFalse();
        }
    }

    private ChannelFuture connect(EventLoopGroup threads, SocketAddress server) {
        NioSocketChannel channel = new NioSocketChannel();
        channel.pipeline().addLast(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel initialized) {
                customizer.afterChannelInitialized(initialized);
            }
        });
        ChannelPromise connected = channel.newPromise();
        threads.register(channel).addListener(registered -> channel.connect(server, connected));
        return connected;
    }

    private static boolean isAnotherOpen(ServerSocket server) throws IOException {
        Socket accepted;
        try {
            accepted = server.accept();
        } catch (SocketTimeoutException none) {
            return false;
        }
        accepted.setSoTimeout(1_000);
        try (accepted) {
            return accepted.getInputStream().read() != -1;
        } catch (SocketTimeoutException silent) {
            return true;
        }
    }

    @Test
    void beforeTheCloseASocketStaysOpen() {
        assertThat(socket().isOpen()).isTrue();
    }
}
