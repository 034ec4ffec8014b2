package io.github.lockboot.redis.engine;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.LockOptions;
import io.github.lockboot.memory.MemoryLockRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class EngineRegistryTests {

    private static final LockOptions ORDERS = LockOptions.defaults()
            .withGroup("order")
            .withTtl(Duration.ofSeconds(100))
            .withWaitTime(Duration.ofSeconds(30));

    private final LockOptions override = LockOptions.defaults().withWaitTime(Duration.ofSeconds(5));
    private final EngineRegistry registry =
            new MemoryLockRegistry(LockOptions.defaults().withoutRenewal(), Map.of("order", override));

    private LockOptions resolve(LockOptions options) {
        return registry.get("a", options).options();
    }

    @Test
    void whatIsConfiguredForTheGroupTakesPrecedence() {
        assertThat(resolve(ORDERS))
                .isEqualTo(ORDERS.withWaitTime(Duration.ofSeconds(5)).withoutRenewal());
        assertThat(resolve(ORDERS.withGroup("other")))
                .isEqualTo(ORDERS.withGroup("other").withoutRenewal());
    }

    @Test
    void whatIsLeftOpenComesFromTheDefaultsAndThenIsBuiltIn() {
        assertThat(resolve(LockOptions.defaults()))
                .isEqualTo(registry.get("a").options())
                .isEqualTo(LockOptions.defaults()
                        .withTtl(Duration.ofSeconds(30))
                        .withWaitTime(Duration.ofSeconds(10))
                        .withoutRenewal());
    }

    @Test
    void whatIsResolvedStaysAsItIs() {
        LockOptions resolved = resolve(ORDERS.withMaxHold(Duration.ofMinutes(1)));
        assertThat(resolve(resolved)).isEqualTo(resolved);
    }
}
