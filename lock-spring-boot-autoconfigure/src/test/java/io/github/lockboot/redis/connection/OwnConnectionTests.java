package io.github.lockboot.redis.connection;

import java.time.Duration;

import io.github.lockboot.redis.engine.ManualTimer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class OwnConnectionTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final LettuceConnectionFactory application =
            new LettuceConnectionFactory(new RedisStandaloneConfiguration("redis.example.org", 6380));
    private final SocketWatchdog watchdog = new SocketWatchdog(new ManualTimer(), TIMEOUT, Runnable::run);
    private final OwnConnection own = new OwnConnection(application, TIMEOUT, watchdog);

    @BeforeEach
    void start() {
        application.afterPropertiesSet();
        application.start();
    }

    @AfterEach
    void stop() {
        own.close();
        application.destroy();
    }

    @Test
    void itsFactoryIsAnotherThanTheApplicationsToTheSameRedisAndMadeOnce() {
        LettuceConnectionFactory made = own.factory();
        assertThat(made).isNotSameAs(application).isSameAs(own.factory());
        assertThat(made.isRunning()).isTrue();
        assertThat(made.getHostName()).isEqualTo("redis.example.org");
        assertThat(made.getPort()).isEqualTo(6380);
    }

    @Test
    void theCloseEndsItsFactoryAndNotTheApplications() {
        LettuceConnectionFactory made = own.factory();
        own.close();
        assertThat(made.isRunning()).isFalse();
        assertThat(application.isRunning()).isTrue();
    }

    /** A late command must not create a client that is never closed. */
    @Test
    void afterTheCloseNoneIsMade() {
        own.close();
        assertThatIllegalStateException().isThrownBy(own::factory).withMessage("the lock registry is closed");
    }
}
