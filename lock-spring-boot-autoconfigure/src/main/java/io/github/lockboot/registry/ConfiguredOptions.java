package io.github.lockboot.registry;

import java.time.Duration;
import java.util.Map;

import io.github.lockboot.LockOptions;

/**
 * The options of a registry. A lock is held and waited for with what is configured for its group, then with what its caller asks
 * for, then with the registry's defaults, and then with 30 s ttl, 10 s wait time, renewed.
 */
public final class ConfiguredOptions {

    /** The lease if nothing else is configured. */
    public static final Duration DEFAULT_TTL = Duration.ofSeconds(30);

    /** The wait time if nothing else is configured. */
    public static final Duration DEFAULT_WAIT_TIME = Duration.ofSeconds(10);

    private static final LockOptions BUILT_IN = LockOptions.defaults()
            .withTtl(DEFAULT_TTL)
            .withWaitTime(DEFAULT_WAIT_TIME)
            .withRenewal();

    private final LockOptions defaults;
    private final Map<String, LockOptions> byGroup;

    /**
     * @param defaults for what the caller of a lock leaves open
     * @param byGroup what takes precedence over the options of a caller, by {@link LockOptions#group()}
     */
    public ConfiguredOptions(LockOptions defaults, Map<String, LockOptions> byGroup) {
        this.defaults = with(BUILT_IN, defaults);
        this.byGroup = Map.copyOf(byGroup);
    }

    /** {@return the options of a lock whose caller asks for nothing} */
    public LockOptions defaults() {
        return defaults;
    }

    /**
     * {@return the options with which a lock is taken: nothing is left open but its group and its longest hold}
     *
     * @param asked what the caller asks for
     */
    public LockOptions resolve(LockOptions asked) {
        LockOptions resolved = with(defaults, asked);
        String group = resolved.group();
        if (group == null) {
            return resolved;
        }
        LockOptions configured = byGroup.get(group);
        return configured != null ? with(resolved, configured).withGroup(group) : resolved;
    }

    /** The options, replaced by those of {@code first} that are set. */
    private static LockOptions with(LockOptions options, LockOptions first) {
        LockOptions both = options;
        both = first.ttl() != null ? both.withTtl(first.ttl()) : both;
        both = first.waitTime() != null ? both.withWaitTime(first.waitTime()) : both;
        both = first.maxHold() != null ? both.withMaxHold(first.maxHold()) : both;
        both = first.group() != null ? both.withGroup(first.group()) : both;
        if (first.renew() != null) {
            both = first.renew() ? both.withRenewal() : both.withoutRenewal();
        }
        return both;
    }
}
