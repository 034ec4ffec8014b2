package io.github.lockboot.redis;

import io.github.lockboot.NamedLock;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.engine.LockRequest;

/** Locks on an engine that a test has put together. */
public final class RedisLocks {

    private RedisLocks() {}

    public static NamedLock of(LockEngine engine, LockRequest request) {
        return new RedisLock(engine, request);
    }
}
