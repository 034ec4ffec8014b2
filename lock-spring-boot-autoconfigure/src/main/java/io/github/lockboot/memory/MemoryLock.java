package io.github.lockboot.memory;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockScope;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/** A handle without state of its own: ownership by thread and reentrancy on top of the slot of its name. */
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

    @Override
    public void lock() {
        acquireUninterruptibly(Lifetime.NEVER);
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        acquire(options, Lifetime.NEVER);
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
        return acquire(options.withTtl(ttl), Lifetime.nanos(wait));
    }

    private boolean acquireUninterruptibly(long wait) {
        Request request = enterAgain() ? null : registry.request(name, Thread.currentThread(), options, wait, null);
        try {
            return request == null || tell(request, request.answer().join());
        } catch (CompletionException failure) {
            throw unavailable(request, failure);
        }
    }

    private boolean acquire(LockOptions wanted, long wait) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (enterAgain()) {
            return true;
        }
        Request request = registry.request(name, Thread.currentThread(), wanted, wait, null);
        CompletableFuture<@Nullable MemoryHold> answer = request.answer();
        try {
            return tell(request, answer.get());
        } catch (InterruptedException interrupt) {
            if (registry.leave(request)) {
                request.use().abandoned();
                throw interrupt;
            }
            Thread.currentThread().interrupt(); // decided first
            return tell(request, answer.join());
        } catch (ExecutionException failure) {
            throw unavailable(request, failure);
        }
    }

    private static boolean tell(Request request, @Nullable MemoryHold granted) {
        if (granted != null) {
            request.use().acquired(granted);
        } else {
            request.use().notAcquired();
        }
        return granted != null;
    }

    /** A failure of the request, thrown where it was made. */
    private LockUnavailableException unavailable(@Nullable Request request, Exception failure) {
        if (request != null) {
            request.use().unavailable();
        }
        return new LockUnavailableException(name, MemoryLockRegistry.CLOSED, failure.getCause());
    }

    private boolean enterAgain() {
        return withMine(false, mine -> {
            mine.enterAgain();
            return true;
        });
    }

    @Override
    public void unlock() {
        giveBack(this::held);
    }

    @Override
    public Lease asLease() {
        MemoryHold hold = intact();
        locks.<@Nullable Void>inOrder(name, slot -> {
            hold.outliveThread();
            return null;
        });
        return new OneHold(hold);
    }

    private void giveBack(Function<Slot, MemoryHold> which) {
        MemoryHold released = locks.<@Nullable MemoryHold>inOrder(name, slot -> {
            MemoryHold hold = which.apply(slot);
            boolean last = hold.exit() == 0;
            if (hold.isLost()) {
                if (last) {
                    locks.forget(hold);
                }
                throw hold.lostException();
            }
            return last && hold.release(slot) ? hold : null;
        });
        if (released != null) {
            released.request().use().released();
        }
    }

    /** A test must not find what the real lock does not offer. */
    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock offers no conditions");
    }

    @Override
    public int getHoldCount() {
        return withMine(0, MemoryHold::count);
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
        return intact().fencingToken();
    }

    @Override
    public Duration remainingLease() {
        return withMine(Duration.ZERO, MemoryHold::remainingLease);
    }

    @Override
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        MemoryHold mine = locks.<@Nullable MemoryHold>inOrder(name, this::mine);
        return mine == null ? action.run() : mine.call(action);
    }

    @Override
    public void onLost(Runnable callback) {
        intact().onLost(callback);
    }

    /** What the current thread's hold says, if it has one that is not lost. */
    private <T> T withMine(T otherwise, Function<MemoryHold, T> question) {
        return locks.inOrder(name, slot -> {
            MemoryHold mine = mine(slot);
            return mine != null ? question.apply(mine) : otherwise;
        });
    }

    /** The current thread's hold, unless it has none or that is lost. */
    private @Nullable MemoryHold mine(Slot slot) {
        MemoryHold holder = slot.holder();
        return holder != null && holder.request().isFrom(registry, Thread.currentThread()) ? holder : null;
    }

    private MemoryHold intact() {
        return locks.inOrder(name, slot -> {
            MemoryHold hold = held(slot);
            if (hold.isLost()) {
                throw hold.lostException();
            }
            return hold;
        });
    }

    /** The current thread's hold, lost or not. */
    private MemoryHold held(Slot slot) {
        Thread current = Thread.currentThread();
        MemoryHold hold = mine(slot);
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

    /** One of the holds that a thread counts. */
    private final class OneHold implements Lease, LockScope {

        private final MemoryHold hold;
        private final AtomicBoolean closed = new AtomicBoolean();

        OneHold(MemoryHold hold) {
            this.hold = hold;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long fencingToken() {
            return hold.fencingToken();
        }

        @Override
        public boolean isValid() {
            return !closed.get() && hold.isValid();
        }

        @Override
        public Duration remainingLease() {
            return isValid() ? hold.remainingLease() : Duration.ZERO;
        }

        @Override
        public void onLost(Runnable callback) {
            hold.onLost(callback);
        }

        @Override
        public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
            return hold.call(action);
        }

        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                giveBack(slot -> hold);
            }
        }

        @Override
        public String toString() {
            return hold.toString();
        }
    }
}
