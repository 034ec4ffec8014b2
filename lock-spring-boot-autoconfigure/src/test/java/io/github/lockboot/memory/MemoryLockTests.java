package io.github.lockboot.memory;

import io.github.lockboot.Actor;
import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import org.junit.jupiter.api.AfterEach;

/** The contract in memory. */
class MemoryLockTests extends LockRegistryContract {

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

    @AfterEach
    void nothingIsLeftBehind() {
        one.close();
        other.close();
        Actor.await("nothing is in use", () -> one.inUse() == 0); // a loss may still be dealt with
    }
}
