package io.github.lockboot.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockboot.engine.ManualTimer;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.Delay.StatefulDelay;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class OwnConnectionTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final LettuceConnectionFactory application =
            new LettuceConnectionFactory(new RedisStandaloneConfiguration("redis.example.org", 6380));
    private final OwnConnection own = ownOf(application);

    private static LettuceConnectionFactory factoryOf(OwnConnection own) {
        return (LettuceConnectionFactory) own.template().getRequiredConnectionFactory();
    }

    private static OwnConnection ownOf(LettuceConnectionFactory application) {
        return new OwnConnection(application, TIMEOUT, () -> "0123456789", new ManualTimer(), Runnable::run);
    }

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
        LettuceConnectionFactory made = factoryOf(own);
        assertThat(made).isNotSameAs(application).isSameAs(factoryOf(own));
        assertThat(made.isRunning()).isTrue();
        assertThat(made.getHostName()).isEqualTo("redis.example.org");
        assertThat(made.getPort()).isEqualTo(6380);
    }

    /**
     * {@code spring.data.redis.cluster.max-redirects=0}: locks of a slot that has moved would be unavailable for good.
     */
    @Test
    void itFollowsRedirectionsOfAClusterWhateverTheApplicationAllows() {
        RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("redis.example.org:6380"));
        cluster.setMaxRedirects(0);
        cluster.setUsername("locks");
        cluster.setPassword("secret");
        LettuceConnectionFactory given = new LettuceConnectionFactory(cluster);
        OwnConnection ofCluster = ownOf(given);
        try {
            RedisClusterConfiguration made = factoryOf(ofCluster).getClusterConfiguration();
            assertThat(made.getMaxRedirects()).isEqualTo(ClusterClientOptions.DEFAULT_MAX_REDIRECTS);
            assertThat(made.getClusterNodes()).isEqualTo(cluster.getClusterNodes());
            assertThat(made.getUsername()).isEqualTo("locks");
            assertThat(made.getPassword()).isEqualTo(cluster.getPassword());
            assertThat(cluster.getMaxRedirects()).isZero();
        } finally {
            ofCluster.close();
        }
    }

    private static ClientResources resourcesFor(ClientResources given) {
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration("redis.example.org", 6380),
                LettuceClientConfiguration.builder().clientResources(given).build());
        OwnConnection own = ownOf(application);
        try {
            return factoryOf(own).getClientConfiguration().getClientResources().orElseThrow();
        } finally {
            own.close();
            given.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(10, TimeUnit.SECONDS);
        }
    }

    private static void isSpread(Delay delay) {
        Set<Duration> late =
                Stream.generate(() -> delay.createDelay(40)).limit(100).collect(Collectors.toSet());
        assertThat(late).hasSizeGreaterThan(10).allMatch(each -> each.toMillis() >= 500 && each.toMillis() <= 1_000);
        assertThat(delay.createDelay(1)).isLessThan(Duration.ofMillis(10));
    }

    /** Many instances lose Redis at the same time. */
    @Test
    void itSpreadsItsAttemptsToReconnect() {
        isSpread(factoryOf(own)
                .getClientConfiguration()
                .getClientResources()
                .orElseThrow()
                .reconnectDelay());
    }

    /** As Spring Boot makes them. */
    @Test
    void itSpreadsItsAttemptsToReconnectWhereTheApplicationHasResourcesWithTheDefaultDelay() {
        isSpread(resourcesFor(DefaultClientResources.create()).reconnectDelay());
    }

    static Stream<Delay> delays() {
        return Stream.of(
                Delay.constant(Duration.ofSeconds(7)),
                Delay.exponential(Duration.ofSeconds(2), Duration.ofMinutes(1), 2, TimeUnit.SECONDS),
                Delay.exponential(Duration.ZERO, Duration.ofSeconds(20), 2, TimeUnit.MILLISECONDS),
                Delay.equalJitter(),
                new Delay() {
                    @Override
                    public Duration createDelay(long attempt) {
                        return Duration.ofSeconds(attempt);
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("delays")
    void itHasTheDelayOfTheApplication(Delay delay) {
        assertThat(resourcesFor(ClientResources.builder().reconnectDelay(delay).build())
                        .reconnectDelay())
                .isSameAs(delay);
    }

    /** Each connection counts its own attempts. */
    @Test
    void itHasADelayWithAStateForEachConnectionAsTheApplicationHas() {
        ClientResources own = resourcesFor(ClientResources.builder()
                .reconnectDelay(Delay.decorrelatedJitter())
                .build());
        assertThat(own.reconnectDelay()).isInstanceOf(StatefulDelay.class).isNotSameAs(own.reconnectDelay());
    }

    @Test
    void theCloseEndsItsFactoryAndNotTheApplications() {
        LettuceConnectionFactory made = factoryOf(own);
        own.close();
        assertThat(made.isRunning()).isFalse();
        assertThat(application.isRunning()).isTrue();
    }

    /** A late command must not create a client that is never closed. */
    @Test
    void afterTheCloseNoneIsMade() {
        own.close();
        assertThatIllegalStateException().isThrownBy(own::template).withMessage("the lock registry is closed");
    }
}
