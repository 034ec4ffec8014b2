package io.github.lockboot.memory;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockboot.Lease;
import io.github.lockboot.LockScope;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** A hold, or one of those that a thread counts, as an object. */
final class MemoryLease implements Lease, LockScope {

    private final MemoryLocks locks;
    private final Hold hold;
    private final AtomicBoolean closed = new AtomicBoolean();

    MemoryLease(MemoryLocks locks, Hold hold) {
        this.locks = locks;
        this.hold = hold;
    }

    @Override
    public String name() {
        return hold.request.name();
    }

    @Override
    public long fencingToken() {
        return hold.token;
    }

    @Override
    public boolean isValid() {
        return !closed.get() && locks.isValid(hold);
    }

    @Override
    public Duration remainingLease() {
        return closed.get() ? Duration.ZERO : locks.remaining(hold);
    }

    @Override
    public void onLost(Runnable callback) {
        locks.onLost(hold, callback);
    }

    @Override
    public @Nullable Runnable enter() {
        return hold.request.use().enter();
    }

    @Override
    public void close() {
        exit(false);
    }

    /** As {@link #close}, and ends the wait of all who follow. */
    void complete() {
        exit(true);
    }

    private void exit(boolean completes) {
        if (closed.compareAndSet(false, true)) {
            locks.exit(name(), completes, slot -> hold);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + LockNames.printable(name()) + ", token " + fencingToken() + "]";
    }
}
