package io.github.lockboot;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/** The current thread's hold of a lock, with the methods of a lease. Unlike one it answers to that thread only. */
record ThreadHold(NamedLock lock) implements Lease, LockScope {

    @Override
    public String name() {
        return lock.getName();
    }

    @Override
    public long fencingToken() {
        return lock.fencingToken();
    }

    @Override
    public boolean isValid() {
        return lock.isHeldByCurrentThread();
    }

    @Override
    public Duration remainingLease() {
        return lock.remainingLease();
    }

    @Override
    public void onLost(Runnable callback) {
        lock.onLost(callback);
    }

    @Override
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        return LockScope.call(lock, action);
    }

    @Override
    public void close() {
        lock.unlock();
    }
}
