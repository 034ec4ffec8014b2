package org.example.consumer;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.NamedLock;
import io.github.lockboot.fixture.Await;
import io.github.lockboot.fixture.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Redis goes away while an application with Jedis listens to its channel: the log stays readable, and the application closes. */
@ExtendWith(OutputCaptureExtension.class)
class JedisOutageTests {

    private static final Duration AWAY = Duration.ofSeconds(10);
    private static final int MOST_LOG = 20_000;

    /** It waits up to 10 s for its locks. */
    private static final Duration CLOSES_WITHIN = Duration.ofSeconds(30);

    private RedisServer redis;
    private ConfigurableApplicationContext application;

    @BeforeEach
    void start() {
        redis = RedisServer.start();
        application = ConsumerApplication.start(
                "--spring.data.redis.url=" + redis.uri(),
                "--spring.main.register-shutdown-hook=false", // which would hang, too
                "--lock.redis.command-timeout=2s");
        NamedLock lock = application.getBean(LockRegistry.class).get("used before");
        lock.lock();
        lock.unlock();
        Await.until("it listens", () -> !List.of().equals(redis.command("PUBSUB", "CHANNELS")));
    }

    @AfterEach
    void stop() {
        redis.close();
    }

    @Test
    void anOutageFillsNoLog(CapturedOutput output) throws Exception {
        int before = output.getAll().length();
        goAway();
        assertThat(output.getAll().length() - before).isLessThan(MOST_LOG);
        closeInTime();
    }

    @Test
    void theApplicationClosesWhileRedisIsAway() throws Exception {
        goAway();
        closeInTime();
    }

    @Test
    void theApplicationClosesOnceRedisIsBack() throws Exception {
        goAway();
        redis.restart();
        closeInTime();
    }

    private void goAway() throws InterruptedException {
        redis.kill();
        Thread.sleep(AWAY.toMillis());
    }

    private void closeInTime() throws InterruptedException {
        CountDownLatch closed = new CountDownLatch(1);
        Thread closing = new Thread(() -> {
            application.close();
            closed.countDown();
        });
        closing.setDaemon(true);
        closing.start();
        assertThat(closed.await(CLOSES_WITHIN.toSeconds(), TimeUnit.SECONDS))
                .as("closed within %s", CLOSES_WITHIN)
                .isTrue();
    }
}
