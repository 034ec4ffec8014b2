package io.github.lockboot.redis.engine;

import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;

/** What tests outside this package need to see of an engine. */
public final class EngineLocks {

    private EngineLocks() {}

    /** A lock on an engine that a test has put together. */
    public static NamedLock of(LockEngine engine, String name, LockOptions options) {
        return EngineLock.handles(engine, options).apply(name);
    }

    public static LockEngine engineOf(EngineRegistry registry) {
        return registry.engine();
    }
}
