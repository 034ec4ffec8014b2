package io.github.lockboot.redis;

import io.github.lockboot.LockOptions;
import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.engine.LockEngine;

/** Locks on an engine that a test has put together. */
public final class RedisLocks {

    private RedisLocks() {}

    public static NamedLock of(LockEngine engine, String name, LockOptions options) {
        return new RedisLock(engine, name, options);
    }
}
