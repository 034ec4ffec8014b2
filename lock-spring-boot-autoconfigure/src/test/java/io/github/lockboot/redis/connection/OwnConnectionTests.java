package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.List;

import io.github.lockboot.redis.engine.ManualTimer;
import io.lettuce.core.cluster.ClusterClientOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class OwnConnectionTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final LettuceConnectionFactory application =
            new LettuceConnectionFactory(new RedisStandaloneConfiguration("redis.example.org", 6380));
    private final SocketWatchdog watchdog = new SocketWatchdog(new ManualTimer(), TIMEOUT, Runnable::run);
    private final OwnConnection own = new OwnConnection(application, TIMEOUT, watchdog, () -> "0123456789");

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

    /** {@code spring.data.redis.cluster.max-redirects=0}: locks of a slot that has moved would be unavailable for good. */
    @Test
    void itFollowsRedirectionsOfAClusterWhateverTheApplicationAllows() {
        RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("redis.example.org:6380"));
        cluster.setMaxRedirects(0);
        cluster.setUsername("locks");
        cluster.setPassword("secret");
        LettuceConnectionFactory given = new LettuceConnectionFactory(cluster);
        OwnConnection ofCluster = new OwnConnection(given, TIMEOUT, watchdog, () -> "0123456789");
        try {
            RedisClusterConfiguration made = ofCluster.factory().getClusterConfiguration();
            assertThat(made.getMaxRedirects()).isEqualTo(ClusterClientOptions.DEFAULT_MAX_REDIRECTS);
            assertThat(made.getClusterNodes()).isEqualTo(cluster.getClusterNodes());
            assertThat(made.getUsername()).isEqualTo("locks");
            assertThat(made.getPassword()).isEqualTo(cluster.getPassword());
            assertThat(cluster.getMaxRedirects()).isZero();
        } finally {
            ofCluster.close();
        }
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
