package io.github.lockboot;

import java.time.Duration;

import io.github.lockboot.fixture.TcpProxy;

/** The start of a process that has little CPU, played by a slow way to Redis. */
public final class SlowStart {

    private static final Duration EACH_WAY = Duration.ofSeconds(3);

    private SlowStart() {}

    /** The first command of the next connection takes six seconds; what follows is as fast as ever. */
    public static void delay(TcpProxy proxy) {
        long before = proxy.replyBytes();
        proxy.delay(EACH_WAY);
        Thread answered = new Thread(
                () -> {
                    Actor.await("the first answer is on its way", () -> proxy.replyBytes() > before);
                    proxy.delay(Duration.ZERO);
                },
                "slow-start");
        answered.setDaemon(true);
        answered.start();
    }
}
