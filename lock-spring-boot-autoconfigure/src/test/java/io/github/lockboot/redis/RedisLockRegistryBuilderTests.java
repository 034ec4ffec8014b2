package io.github.lockboot.redis;

import java.time.Duration;
import java.util.function.BiFunction;
import java.util.stream.Stream;

import io.github.lockboot.LockOptions;
import io.github.lockboot.redis.RedisLockRegistry.Builder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

class RedisLockRegistryBuilderTests {

    private final Builder builder = RedisLockRegistry.builder(new LettuceConnectionFactory());

    static Stream<Arguments> timesOutOfRange() {
        Stream<Duration> times = Stream.of(
                Duration.ofSeconds(Long.MIN_VALUE),
                Duration.ofMillis(-1),
                Duration.ZERO,
                Duration.ofNanos(1),
                Duration.ofMillis(10).minusNanos(1),
                Duration.ofDays(24).plusNanos(1),
                Duration.ofSeconds(Long.MAX_VALUE));
        return times.flatMap(time -> Stream.of(
                arguments(time, "retryInterval", setting(Builder::retryInterval)),
                arguments(time, "retryMinInterval", setting(Builder::retryMinInterval)),
                arguments(time, "commandTimeout", setting(Builder::commandTimeout))));
    }

    private static BiFunction<Builder, Duration, Builder> setting(BiFunction<Builder, Duration, Builder> setter) {
        return setter;
    }

    @ParameterizedTest(name = "{1} {0}")
    @MethodSource("timesOutOfRange")
    void aTimeWithWhichNoLockCouldBeTakenIsRefused(
            Duration time, String setting, BiFunction<Builder, Duration, Builder> setter) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> setter.apply(builder, time))
                .withMessage(setting + " must be from 10 ms to 24 days, but is " + time);
    }

    @Test
    void theShortestAndTheLongestTimeAreAccepted() {
        for (Duration time : new Duration[] {RedisLockRegistry.MIN_INTERVAL, RedisLockRegistry.MAX_INTERVAL}) {
            builder.retryInterval(time).retryMinInterval(time).commandTimeout(time);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 65_536, Integer.MAX_VALUE})
    void aGrantHasNoTokensForMoreHandOvers(int limit) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.localHandoffLimit(limit))
                .withMessage("localHandoffLimit must be from 0 to 65535, but is " + limit);
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 0})
    void someJvmsMayWait(int max) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.maxWaiters(max))
                .withMessage("maxWaiters must be positive, but is " + max);
    }

    @Test
    void theLongestWaitTimeIsShown() {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        try (RedisLockRegistry registry =
                builder.defaults(LockOptions.defaults().withWaitTime(longest)).build()) {
            assertThat(registry.describe()).contains(", wait time 106751991167300d");
        }
    }
}
