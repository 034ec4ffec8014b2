package io.github.lockboot.redis.connection;

import java.time.Duration;

import io.github.lockboot.internal.Timer;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

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
        watchdog.close();
        EmbeddedChannel after = socket();
        assertThat(before.isOpen()).isFalse();
        assertThat(after.isOpen()).isFalse();
    }

    @Test
    void beforeTheCloseASocketStaysOpen() {
        assertThat(socket().isOpen()).isTrue();
    }
}
