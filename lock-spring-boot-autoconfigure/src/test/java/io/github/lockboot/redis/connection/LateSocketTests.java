package io.github.lockboot.redis.connection;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.internal.Timer;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.protocol.Endpoint;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/** What Lettuce makes of a socket at the wrong time. */
class LateSocketTests {

    private static final String NAME = "late-socket";

    private final RedisServer server = RedisServer.start();
    private final TcpProxy proxy = TcpProxy.to(server);
    private final Timer timer = Timer.system(NAME);
    private final AtomicReference<@Nullable ConnectionWatchdog> ofNextSocket = new AtomicReference<>();
    private final ClientResources resources = ClientResources.builder()
            .nettyCustomizer(new SocketWatchdog(timer, Duration.ofSeconds(2), Runnable::run)
                    .registeredAfter(new NettyCustomizer() {
                        @Override
                        public void afterChannelInitialized(Channel socket) {
                            ConnectionWatchdog known = ofNextSocket.get();
                            if (known != null) {
                                endpointOf(socket).registerConnectionWatchdog(known);
                            }
                        }
                    }))
            .build();
    private final RedisClient client = RedisClient.create(
            resources,
            RedisURI.builder()
                    .withHost(proxy.host())
                    .withPort(proxy.port())
                    .withClientName(NAME)
                    .build());

    @AfterEach
    void stop() {
        client.shutdown(0, 0, TimeUnit.SECONDS);
        resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        timer.close();
        proxy.close();
        server.close();
    }

    private static Endpoint endpointOf(Channel socket) {
        return socket.pipeline().get(CommandHandler.class).getEndpoint();
    }

    /** Lettuce arms it between the question and the taking, which marks the connection as open again. */
    private static ConnectionWatchdog closingBetween(StatefulConnection<?, ?> connection, CountDownLatch closed) {
        return mock(ConnectionWatchdog.class, call -> {
            if (call.getMethod().getName().equals("arm")) {
                connection.closeAsync().join();
                closed.countDown();
            }
            return null;
        });
    }

    private Stream<String> sockets() {
        return String.valueOf(server.command("CLIENT", "LIST"))
                .lines()
                .filter(each -> each.contains(" name=" + NAME + " "));
    }

    private static String idOf(String socket) {
        return socket.substring(0, socket.indexOf(' '));
    }

    /**
     * As that of a channel, which is closed as soon as it is cut, while Lettuce connects it again: Lettuce asks whether
     * the connection is closed before it takes the socket, and not after.
     */
    @Test
    void oneThatOpensWhileItsConnectionIsClosedIsClosed() {
        StatefulConnection<?, ?> connection = client.connectPubSub();
        CountDownLatch closed = new CountDownLatch(1);
        ofNextSocket.set(closingBetween(connection, closed));
        proxy.cut();
        Await.until("the connection is closed", () -> closed.getCount() == 0);
        Await.until(
                Duration.ofSeconds(20),
                () -> sockets().count() == 0,
                () -> sockets().count() + " sockets");
    }

    /** The last command of a handshake may fail without harm. */
    @Test
    void oneThatIsCutBeforeTheEndOfItsHandshakeDoesNotMakeItsConnectionConnected() {
        StatefulConnection<?, ?> connection = client.connect();
        AtomicInteger connected = new AtomicInteger();
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisConnected(RedisChannelHandler<?, ?> known, SocketAddress socketAddress) {
                connected.incrementAndGet();
            }
        });
        List<String> former = sockets().map(LateSocketTests::idOf).toList();
        proxy.loseReplyOfNextConnection(1);
        proxy.cut();
        Await.until(
                "it has sent the last command of its handshake",
                () -> sockets().anyMatch(each -> !each.contains(" cmd=hello ") && !former.contains(idOf(each))));
        proxy.refuse();
        long before = proxy.connections();
        Await.until("it has tried again", () -> proxy.connections() > before);
        assertThat(connected).hasValue(0);
        assertThat(connection.isOpen()).isFalse();
        proxy.pass();
        Await.until("it is connected", connection::isOpen);
    }
}
