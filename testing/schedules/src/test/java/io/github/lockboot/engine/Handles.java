package io.github.lockboot.engine;

import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;

/** Opens the engine's handles to tests of other packages. */
public final class Handles {

    private Handles() {}

    public static NamedLock of(LockEngine engine, String name, LockOptions options) {
        return new Handle(engine, options, LockRequest.of("", options), name);
    }

    private static final class Handle extends EngineLock {

        Handle(LockEngine engine, LockOptions options, LockRequest unnamed, String name) {
            super(engine, options, unnamed, name);
        }
    }
}
