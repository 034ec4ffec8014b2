package io.github.lockboot.memory;

import io.github.lockboot.LockRegistry;
import io.github.lockboot.LockRegistryContract;
import org.junit.jupiter.api.AfterEach;

import static org.assertj.core.api.Assertions.assertThat;

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
        assertThat(one.inUse()).isZero();
    }
}
