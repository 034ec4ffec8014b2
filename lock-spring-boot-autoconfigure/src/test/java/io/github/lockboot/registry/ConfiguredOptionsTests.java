package io.github.lockboot.registry;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.LockOptions;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ConfiguredOptionsTests {

    private static final LockOptions ORDERS = LockOptions.defaults()
            .withGroup("order")
            .withTtl(Duration.ofSeconds(100))
            .withWaitTime(Duration.ofSeconds(30));

    private final LockOptions override = LockOptions.defaults().withWaitTime(Duration.ofSeconds(5));
    private final ConfiguredOptions options =
            new ConfiguredOptions(LockOptions.defaults().withoutRenewal(), Map.of("order", override));

    @Test
    void whatIsConfiguredForTheGroupTakesPrecedence() {
        assertThat(options.resolve(ORDERS))
                .isEqualTo(ORDERS.withWaitTime(Duration.ofSeconds(5)).withoutRenewal());
        assertThat(options.resolve(ORDERS.withGroup("other")))
                .isEqualTo(ORDERS.withGroup("other").withoutRenewal());
    }

    @Test
    void whatIsLeftOpenComesFromTheDefaultsAndThenIsBuiltIn() {
        assertThat(options.resolve(LockOptions.defaults()))
                .isEqualTo(options.defaults())
                .isEqualTo(LockOptions.defaults()
                        .withTtl(Duration.ofSeconds(30))
                        .withWaitTime(Duration.ofSeconds(10))
                        .withoutRenewal());
    }

    @Test
    void whatIsResolvedStaysAsItIs() {
        LockOptions resolved = options.resolve(ORDERS.withMaxHold(Duration.ofMinutes(1)));
        assertThat(options.resolve(resolved)).isEqualTo(resolved);
    }
}
