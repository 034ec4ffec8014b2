package io.github.lockboot.memory;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockScope;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** A handle without state of its own: ownership by threads and reentrancy. */
final class MemoryLock implements NamedLock, LockScope {

    private final MemoryLockRegistry registry;
    private final MemoryLocks locks;
    private final String name;
    private final LockOptions options;

    MemoryLock(MemoryLockRegistry registry, MemoryLocks locks, String name, LockOptions options) {
        this.registry = registry;
        this.locks = locks;
        this.name = name;
        this.options = options;
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public LockOptions options() {
        return options;
    }

    // --- acquisition and release ------------------------------------------------------------------------------

    @Override
    public void lock() {
        acquireUninterruptibly(Hold.NEVER);
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        acquire(options, Hold.NEVER);
    }

    @Override
    public boolean tryLock() {
        return acquireUninterruptibly(0);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return acquire(options, unit.toNanos(time));
    }

    @Override
    public boolean tryLock(Duration wait, Duration ttl) throws InterruptedException {
        return acquire(options.withTtl(ttl), Hold.nanos(wait));
    }

    private boolean acquireUninterruptibly(long wait) {
        return reenter() || isGranted(registry.request(name, Thread.currentThread(), options, wait, false));
    }

    private boolean acquire(LockOptions wanted, long wait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (reenter()) {
            return true;
        }
        Request request = registry.request(name, Thread.currentThread(), wanted, wait, false);
        try {
            request.answer().get();
        } catch (InterruptedException interrupt) {
            if (locks.abandon(request)) {
                throw interrupt;
            }
            Thread.currentThread().interrupt(); // it was answered first
        } catch (ExecutionException failure) {
            // isGranted reports it
        }
        return isGranted(request);
    }

    /** Waits for the answer to a request, and reports it. */
    private boolean isGranted(Request request) {
        try {
            locks.report(request, request.answer().join(), null);
            return true;
        } catch (CompletionException failure) {
            locks.report(request, null, failure.getCause());
            if (failure.getCause() instanceof LockNotAcquiredException) {
                return false;
            }
            throw new LockUnavailableException(name, MemoryLockRegistry.CLOSED, failure.getCause());
        }
    }

    private boolean reenter() {
        return withMine(false, mine -> {
            mine.reenter();
            return true;
        });
    }

    @Override
    public void unlock() {
        locks.exit(name, false, this::held);
    }

    @Override
    public Lease asLease() {
        return new MemoryLease(locks, withIntact(hold -> {
            hold.outliveThread();
            return hold;
        }));
    }

    /** Unsupported, as on Redis. */
    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock offers no conditions");
    }

    // --- state ------------------------------------------------------------------------------------------------

    @Override
    public int getHoldCount() {
        return withMine(0, Hold::count);
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return withMine(false, mine -> true);
    }

    @Override
    public boolean isLocked() {
        return locks.inOrder(name, slot -> slot.holder() != null);
    }

    @Override
    public long fencingToken() {
        return withIntact(hold -> hold.token);
    }

    @Override
    public Duration remainingLease() {
        return withMine(Duration.ZERO, mine -> mine.remaining(locks.now()));
    }

    @Override
    public void onLost(Runnable callback) {
        locks.onLost(withIntact(hold -> hold), callback);
    }

    @Override
    public @Nullable Runnable enter() {
        Hold mine = locks.<@Nullable Hold>inOrder(name, this::mine);
        return mine == null ? null : mine.request.use().enter();
    }

    // --- holds of the current thread --------------------------------------------------------------------------

    /** Asks the current thread's hold, unless there is none or it is lost. */
    private <T> T withMine(T otherwise, Function<Hold, T> question) {
        return locks.inOrder(name, slot -> {
            Hold mine = mine(slot);
            return mine != null ? question.apply(mine) : otherwise;
        });
    }

    /** As {@link #withMine}, but throws if there is none or it is lost. */
    private <T> T withIntact(Function<Hold, T> question) {
        return locks.inOrder(name, slot -> {
            Hold hold = held(slot);
            hold.requireIntact();
            return question.apply(hold);
        });
    }

    private @Nullable Hold mine(Slot slot) {
        Hold holder = slot.holder();
        return holder != null && holder.request.isFrom(registry, Thread.currentThread()) ? holder : null;
    }

    /** The current thread's hold, lost or not. */
    private Hold held(Slot slot) {
        Thread current = Thread.currentThread();
        Hold hold = mine(slot);
        if (hold == null) {
            hold = locks.lostBy(registry, name, current);
        }
        if (hold == null) {
            throw new IllegalMonitorStateException(
                    "lock '" + LockNames.printable(name) + "' is not held by thread " + current.getName());
        }
        return hold;
    }

    @Override
    public String toString() {
        return "MemoryLock[" + LockNames.printable(name) + "]";
    }
}
