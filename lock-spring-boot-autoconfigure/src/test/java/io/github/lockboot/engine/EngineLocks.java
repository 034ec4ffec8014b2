package io.github.lockboot.engine;

import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;

/** What tests outside this package need to see of an engine. */
public final class EngineLocks {

    private EngineLocks() {}

    /** A lock on an engine that a test has put together. */
    public static NamedLock of(LockEngine engine, String name, LockOptions options) {
        return new TestLock(engine, options, LockRequest.of("", options), name);
    }

    private static final class TestLock extends EngineLock {

        TestLock(LockEngine engine, LockOptions options, LockRequest unnamed, String name) {
            super(engine, options, unnamed, name);
        }
    }

    public static LockEngine engineOf(EngineRegistry registry) {
        return registry.engine();
    }
}
