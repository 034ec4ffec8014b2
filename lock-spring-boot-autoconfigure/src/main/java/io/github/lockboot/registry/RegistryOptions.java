package io.github.lockboot.registry;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.LockOptions;

/**
 * How a registry completes the options of its callers: the options configured for their group come first, then the caller's,
 * then the registry's defaults.
 *
 * @param defaults the registry's defaults, with nothing left open
 * @param overrides the options configured by group
 */
public record RegistryOptions(LockOptions defaults, Map<String, LockOptions> overrides) {

    /** The lease if nothing else is configured. */
    public static final Duration DEFAULT_TTL = Duration.ofSeconds(30);

    /** The wait time if nothing else is configured. */
    public static final Duration DEFAULT_WAIT_TIME = Duration.ofSeconds(10);

    private static final LockOptions STANDARD = LockOptions.defaults()
            .withTtl(DEFAULT_TTL)
            .withWaitTime(DEFAULT_WAIT_TIME)
            .withRenewal();

    /**
     * Creates the options of a registry.
     *
     * @param defaults the registry's defaults; what they leave open is a lease of 30 s, renewed, and a wait time of 10 s
     * @param overrides the options configured by group
     */
    public RegistryOptions {
        defaults = defaults.orElse(STANDARD);
        overrides = Map.copyOf(overrides);
    }

    /**
     * {@return the options with which a lock is acquired, with nothing left open}
     *
     * @param requested the caller's options
     */
    public LockOptions complete(LockOptions requested) {
        return requested.overriddenBy(overrides).orElse(defaults);
    }
}
