package io.github.lockboot.memory;

import java.util.List;

import io.github.lockboot.LockListener;
import io.github.lockboot.LockListenerContract;
import io.github.lockboot.LockRegistry;

class MemoryLockListenerTests extends LockListenerContract {

    @Override
    protected LockRegistry registry(LockListener... listeners) {
        MemoryLockRegistry registry = new MemoryLockRegistry();
        List.of(listeners).forEach(registry::addListener);
        return registry;
    }

    @Override
    protected LockRegistry other(LockRegistry registry) {
        return ((MemoryLockRegistry) registry).newInstance();
    }

    @Override
    protected void close(LockRegistry registry) {
        ((MemoryLockRegistry) registry).close();
    }

    @Override
    protected void lose(LockRegistry registry, String name) {
        ((MemoryLockRegistry) registry).expire(name);
    }
}
