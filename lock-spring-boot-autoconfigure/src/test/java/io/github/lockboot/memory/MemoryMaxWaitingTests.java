package io.github.lockboot.memory;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.MaxWaitingContract;

/** The limit of waiting callers of locks in memory. */
class MemoryMaxWaitingTests extends MaxWaitingContract {

    private final MemoryLockRegistry one = new MemoryLockRegistry();
    private final MemoryLockRegistry other = one.newInstance();

    @Override
    protected LockRegistry registry() {
        return one;
    }

    @Override
    protected LockRegistry otherRegistry() {
        return other;
    }
}
