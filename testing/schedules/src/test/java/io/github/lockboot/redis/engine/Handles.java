package io.github.lockboot.redis.engine;

import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;

/** Opens the engine's handles to tests of other packages. */
public final class Handles {

    private Handles() {}

    public static NamedLock of(LockEngine engine, String name, LockOptions options) {
        return EngineLock.handles(engine, options).apply(name);
    }
}
