package io.github.lockboot.engine;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockOptions;
import io.github.lockboot.LockScope;
import io.github.lockboot.NamedLock;
import io.github.lockboot.engine.Hold.HeldLease;
import io.github.lockboot.engine.LeaseTime.State;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.LockNames;
import org.jspecify.annotations.Nullable;

/**
 * A lock of a registry: ownership by thread and reentrancy, on top of the engine. It has no state of its own, so any
 * number of handles of one lock can be made and thrown away, and all of them see the same hold.
 *
 * <p>What each method does depends on who has the lock:
 *
 * <ul>
 *   <li><em>Nobody, or another:</em> the request enters the line of the name, and the thread waits as long as the
 *       method says.
 *   <li><em>This thread:</em> the hold is counted once more, without a command, even while its lease is not certain:
 *       otherwise the thread would wait for itself. Once the lease is over, the thread requests the lock anew.
 *   <li><em>This thread, in another way:</em> a writer may also read. A reader that wants to write would wait for
 *       itself, and so would a thread with a permit that wants the whole lock: both get an
 *       {@link IllegalStateException}.
 * </ul>
 *
 * <p>A release first ends the hold here, and is then sent to the store. So the thread never relies on a lock that the
 * store has granted to another, whatever happens to the command.
 */
public abstract class EngineLock implements NamedLock, LockScope.OfLock {

    final LockRequest request;
    private final LockEngine engine;
    private final LockOptions options;

    /**
     * @param options with nothing left open
     * @param unnamed a request with these options
     * @throws IllegalArgumentException if the name is empty, too long or not well-formed Unicode
     */
    protected EngineLock(LockEngine engine, LockOptions options, LockRequest unnamed, String name) {
        this.engine = engine;
        this.options = options;
        this.request = unnamed.named(LockNames.valid(name));
    }

    @Override
    public String getName() {
        return request.name();
    }

    @Override
    public LockOptions options() {
        return options;
    }

    @Override
    public Duration waitTime() {
        return Duration.ofNanos(request.waitNanos());
    }

    // --- acquisition ------------------------------------------------------------------------------------------

    @Override
    public void lock() {
        requireAcquired(reenter() ? null : acquireUninterruptibly(request.waiting(LockRequest.WITHOUT_LIMIT)));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        requireAcquired(acquire(request.waiting(LockRequest.WITHOUT_LIMIT)));
    }

    /** A caller that waits without a limit is only refused if too many others wait. */
    private static void requireAcquired(@Nullable Waiter refused) {
        if (refused != null) {
            throw refused.refusal();
        }
    }

    @Override
    public boolean tryLock() {
        return reenter() || acquireUninterruptibly(request.waiting(0)) == null;
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return acquire(request.waiting(LockRequest.nanosOf(Duration.ofNanos(unit.toNanos(time))))) == null;
    }

    @Override
    public @Nullable LockNotAcquiredException tryAcquire(Duration wait) throws InterruptedException {
        Waiter refused = acquire(request.waiting(LockRequest.nanosOf(wait)));
        return refused == null ? null : refused.refusal();
    }

    @Override
    public boolean tryLock(Duration wait, Duration ttl) throws InterruptedException {
        LockRequest wanted = LockRequest.of(getName(), options.withTtl(ttl)); // refuses what no lock may have
        return acquire(wanted.waiting(LockRequest.nanosOf(wait))) == null;
    }

    /** Returns null if the thread has the lock. */
    private @Nullable Waiter acquire(LockRequest wanted) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return reenter() ? null : engine.acquire(wanted, true);
    }

    private @Nullable Waiter acquireUninterruptibly(LockRequest wanted) {
        try {
            return engine.acquire(wanted, false);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Counts the hold of this thread once more, even while its lease is not certain: otherwise the thread would wait
     * for itself. The holder of the write side may acquire the read side.
     *
     * @return false if the thread has no hold, or its lease is over
     */
    private boolean reenter() {
        Thread current = Thread.currentThread();
        Hold held = heldBy(current);
        if (held == null) {
            engine.requireNotHeldOtherwise(current, request);
            return false;
        }
        if (kind() == LockKind.EXCLUSIVE && LockEngine.onlyReads(held) && held.lease() != State.OVER) {
            throw LockEngine.wouldWaitForItself(current, request, held);
        }
        return held.enterAgain(kind());
    }

    @Override
    public Callable<@Nullable Lease> attempt(boolean interruptible) {
        return reenter() ? () -> null : engine.attempt(request.attempted(), interruptible);
    }

    @Override
    public CompletableFuture<Lease> attemptAsync() {
        return engine.acquireAsync(request.attempted());
    }

    // --- release ----------------------------------------------------------------------------------------------

    @Override
    public void unlock() {
        beginRelease(Duration.ZERO).run();
    }

    @Override
    public Runnable beginRelease(Duration stay) {
        return exit(held(), stay);
    }

    @Override
    public Lease asLease() {
        Hold hold = intact();
        return hold.waiter().lend(new OneHold(hold));
    }

    private Runnable exit(Hold hold, Duration stay) {
        hold.keepFor(stay);
        return hold.exit(kind());
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a distributed lock does not support conditions");
    }

    // --- state ------------------------------------------------------------------------------------------------

    /**
     * {@inheritDoc} If this returns 0 because the hold is not valid, the hold is not renewed any more: the thread may
     * never release it.
     */
    @Override
    public int getHoldCount() {
        Hold mine = mineOrLost();
        if (mine == null) {
            return 0;
        }
        if (!mine.isValid()) {
            mine.stopRenewal();
            return 0;
        }
        return mine.count(kind());
    }

    /** {@inheritDoc} If this returns false because the hold is not valid, the hold is not renewed any more. */
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
    public boolean extend(Duration ttl) {
        return held().extend(ttl);
    }

    @Override
    public @Nullable Runnable enter() {
        Hold mine = engine.hasListeners() ? mine() : null;
        return mine == null || !mine.isValid() ? null : mine.enter();
    }

    @Override
    public void onLost(Runnable callback) {
        intact().onLost(callback);
    }

    /** The hold that the thread may use through this lock; for the read side, also a hold of the write side. */
    private @Nullable Hold heldBy(Thread thread) {
        Hold held = engine.heldBy(thread, getName(), kind());
        return held == null && kind() == LockKind.SHARED ? engine.heldBy(thread, getName(), LockKind.EXCLUSIVE) : held;
    }

    private @Nullable Hold mine() {
        Hold held = heldBy(Thread.currentThread());
        return held == null || held.count(kind()) <= 0 ? null : held;
    }

    private @Nullable Hold mineOrLost() {
        Hold mine = mine();
        return mine != null ? mine : engine.lostHere(getName());
    }

    private LockKind kind() {
        return request.terms().kind();
    }

    /** The current thread's hold, lost or not. */
    private Hold held() {
        Thread current = Thread.currentThread();
        Hold hold = mineOrLost();
        if (hold == null || hold.count(kind()) <= 0) {
            throw new IllegalMonitorStateException(
                    "lock '" + LockNames.printable(getName()) + "' is not held by thread " + current.getName()
                            + ": only the thread that acquired it can use or release it");
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

    /** Compares what the store knows of a lock: options that only concern its callers do not make it another one. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof EngineLock lock
                && lock.engine == engine
                && lock.getName().equals(getName())
                && lock.kind() == kind()
                && lock.request.terms().permits() == request.terms().permits();
    }

    @Override
    public int hashCode() {
        return 31 * getName().hashCode() + request.terms().permits();
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "[" + LockNames.printable(getName()) + "]";
    }

    /** One of the holds that a thread counts. */
    private final class OneHold extends HeldLease {

        private final AtomicBoolean closed = new AtomicBoolean();

        OneHold(Hold hold) {
            super(hold);
        }

        @Override
        boolean isOpen() {
            return !closed.get();
        }

        @Override
        public String handOver() {
            throw new UnsupportedOperationException("this lease cannot be transferred: " + this);
        }

        @Override
        public Runnable beginRelease(Duration stay) {
            if (!closed.compareAndSet(false, true)) {
                return () -> {};
            }
            return exit(hold, stay);
        }

        @Override
        public CompletableFuture<Void> closeAfter(Duration delay) {
            try {
                return CompletableFuture.runAsync(beginRelease(delay), Futures.ELSEWHERE)
                        .copy();
            } catch (RuntimeException | Error failure) {
                return CompletableFuture.failedFuture(failure);
            }
        }
    }
}
