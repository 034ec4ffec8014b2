package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import io.github.lockboot.fixture.TcpProxy;
import io.github.lockboot.redis.RedisLockRegistry;
import io.lettuce.core.protocol.ConnectionWatchdog;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Lettuce plans a reconnection both when an attempt has failed and when the socket of that attempt is closed. If the
 * second comes after the first has begun, as on a busy machine, two attempts are under way.
 */
class ReconnectionTests {

    private final RedisServer server = RedisServer.start();
    private final TcpProxy proxy = TcpProxy.to(server);
    private final AtomicInteger lateEnds = new AtomicInteger();
    private final ClientResources resources = ClientResources.builder()
            .nettyCustomizer(new NettyCustomizer() {
                @Override
                public void afterChannelInitialized(Channel channel) {
                    String watchdog =
                            channel.pipeline().context(ConnectionWatchdog.class).name();
                    channel.pipeline().addBefore(watchdog, null, new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelInactive(ChannelHandlerContext context) {
                            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(250));
                            context.fireChannelInactive();
                            lateEnds.incrementAndGet();
                        }
                    });
                }
            })
            .build();
    private final LettuceConnectionFactory factory = new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(proxy.host(), proxy.port()),
            LettuceClientConfiguration.builder().clientResources(resources).build());

    @BeforeEach
    void start() {
        factory.afterPropertiesSet();
        factory.start();
    }

    @AfterEach
    void stop() {
        factory.destroy();
        resources.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        proxy.close();
        server.close();
    }

    @Test
    void attemptsAtTheSameTimeLeaveOneSocket() {
        try (RedisLockRegistry registry = RedisLockRegistry.builder(factory)
                .commandTimeout(Duration.ofSeconds(1))
                .build()) {
            assertThat(isUsable(registry)).isTrue();
            for (int round = 0; round < 3; round++) {
                int before = lateEnds.get();
                proxy.refuse();
                Await.until("attempts have failed", () -> lateEnds.get() >= before + 2);
                proxy.pass();
                proxy.delay(Duration.ofMillis(150));
                Await.until("a lock can be taken", () -> isUsable(registry));
            }
            Await.until(Duration.ofSeconds(5), () -> sockets() == 1, () -> sockets() + " sockets");
            assertThat(isUsable(registry)).isTrue();
        }
    }

    private static boolean isUsable(RedisLockRegistry registry) {
        try {
            NamedLock lock = registry.get("reconnection");
            lock.lock();
            lock.unlock();
            return true;
        } catch (RuntimeException notYet) {
            return false;
        }
    }

    /** Not of the channel, which may be subscribed meanwhile. */
    private long sockets() {
        return String.valueOf(server.command("CLIENT", "LIST"))
                .lines()
                .filter(client -> client.contains(" sub=0 ") && !client.contains("cmd=client"))
                .count();
    }
}
