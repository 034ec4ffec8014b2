package io.github.lockboot.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;

import io.github.lockboot.Lease;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockScope;
import io.github.lockboot.NamedLock;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.redis.engine.Hold;
import io.github.lockboot.redis.engine.LockEngine;
import io.github.lockboot.redis.engine.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * A lock on Redis, as {@link java.util.concurrent.locks.Lock} specifies it: ownership by thread and reentrancy, on top of the
 * queue of this JVM for the name. A handle without state of its own.
 */
public final class RedisLock implements NamedLock, LockScope {

    private final LockEngine engine;
    private final LockOptions options;
    private final LockRequest request;

    /** @param options complete ones */
    RedisLock(LockEngine engine, String name, LockOptions options) {
        this.engine = engine;
        this.options = options;
        this.request = LockRequest.of(name, options);
    }

    @Override
    public String getName() {
        return request.name();
    }

    @Override
    public LockOptions options() {
        return options;
    }

    CompletableFuture<Lease> acquireAsync(Duration wait) {
        return engine.acquireAsync(request.waiting(LockRequest.nanosOf(wait)));
    }

    CompletableFuture<Optional<Lease>> acquireOrFollowAsync(Duration wait) {
        return engine.acquireOrFollowAsync(request.waiting(LockRequest.nanosOf(wait)));
    }

    // --- taking -----------------------------------------------------------------------------------------------

    @Override
    public void lock() {
        if (!enterAgain()) {
            engine.acquireUninterruptibly(request.waiting(LockRequest.WITHOUT_LIMIT));
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        acquire(request.waiting(LockRequest.WITHOUT_LIMIT));
    }

    @Override
    public boolean tryLock() {
        return enterAgain() || engine.acquireUninterruptibly(request.waiting(0));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return acquire(request.waiting(LockRequest.nanosOf(Duration.ofNanos(unit.toNanos(time)))));
    }

    @Override
    public boolean tryLock(Duration wait, Duration ttl) throws InterruptedException {
        LockOptions.defaults().withTtl(ttl); // refuses what no lock may have
        return acquire(request.withTtl(ttl).waiting(LockRequest.nanosOf(wait)));
    }

    private boolean acquire(LockRequest wanted) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return enterAgain() || engine.acquire(wanted);
    }

    private boolean enterAgain() {
        // Also if the lease is in doubt: the thread would wait for itself.
        Hold mine = engine.heldBy(Thread.currentThread(), getName());
        return mine != null && mine.enterAgain();
    }

    // --- giving back ------------------------------------------------------------------------------------------

    @Override
    public void unlock() {
        giveBack(held());
    }

    @Override
    public Lease asLease() {
        Hold hold = intact();
        hold.outliveThread();
        return new OneHold(hold);
    }

    private void giveBack(Hold hold) {
        try {
            hold.exit();
        } catch (LockLostException lost) {
            if (hold.count() <= 0) {
                engine.acknowledgeLoss(hold);
            }
            throw lost;
        }
    }

    /** A condition that outlives the process of its waiter cannot be kept honestly. */
    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock offers no conditions");
    }

    // --- asking -----------------------------------------------------------------------------------------------

    @Override
    public int getHoldCount() {
        Hold mine = engine.heldBy(Thread.currentThread(), getName());
        return mine != null && mine.isValidForThread() ? mine.count() : 0;
    }

    @Override
    public boolean isHeldByCurrentThread() {
        return getHoldCount() > 0;
    }

    @Override
    public boolean isLocked() {
        return engine.isLocked(getName());
    }

    @Override
    public long fencingToken() {
        return intact().fencingToken();
    }

    @Override
    public Duration remainingLease() {
        Hold mine = mine();
        return mine == null ? Duration.ZERO : mine.remainingLease();
    }

    @Override
    public @Nullable Runnable enter() {
        Hold mine = engine.listeners().isEmpty() ? null : mine();
        return mine == null ? null : mine.enter();
    }

    @Override
    public void onLost(Runnable callback) {
        intact().onLost(callback);
    }

    /** The current thread's hold, if its lease cannot have run out. */
    private @Nullable Hold mine() {
        Hold hold = engine.heldBy(Thread.currentThread(), getName());
        return hold != null && hold.isValid() ? hold : null;
    }

    /** The current thread's hold, lost or not. */
    private Hold held() {
        Thread current = Thread.currentThread();
        Hold hold = engine.heldBy(current, getName());
        if (hold == null) {
            hold = engine.lostBy(current, getName());
        }
        if (hold == null) {
            throw new IllegalMonitorStateException(
                    "lock '" + LockNames.printable(getName()) + "' is not held by thread " + current.getName());
        }
        return hold;
    }

    private Hold intact() {
        Hold hold = held();
        if (!hold.isValid()) {
            throw hold.lostException();
        }
        return hold;
    }

    @Override
    public String toString() {
        return "RedisLock[" + LockNames.printable(getName()) + "]";
    }

    /** One of the holds that a thread counts. */
    private final class OneHold implements Lease {

        private final Hold hold;
        private final AtomicBoolean closed = new AtomicBoolean();

        OneHold(Hold hold) {
            this.hold = hold;
        }

        @Override
        public String name() {
            return getName();
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
        public void close() {
            if (closed.compareAndSet(false, true)) {
                giveBack(hold);
            }
        }

        @Override
        public String toString() {
            return hold.toString();
        }
    }
}
