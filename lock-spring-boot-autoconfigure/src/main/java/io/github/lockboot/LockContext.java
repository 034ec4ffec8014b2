package io.github.lockboot;

import java.time.Duration;
import java.util.Deque;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.internal.LockNames;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The lock under which code runs: {@code LockContext.current().fencingToken()}. It is set for the thread that runs the
 * body of an annotated method. In reactive code it is also in the Reactor context, under this class as its key.
 *
 * <p>If the hold belongs to a thread, call these methods on that thread. If it belongs to a {@link Lease}, any thread
 * may.
 */
public final class LockContext {

    /** Locks under which a thread runs code. */
    interface Scope {

        /** {@return the locks that are visible to the code, the innermost first} */
        Stream<LockContext> shown();

        /** As {@link LockContext#yieldIfOthersWait}, of all of them. */
        boolean yieldIfOthersWait();
    }

    /**
     * The minimum time that a lock is held, counted from the start of the body. Without a body it is not kept.
     *
     * @param onlyOnSuccess whether a call that fails releases it at once
     */
    public record Keep(Duration time, boolean onlyOnSuccess) {}

    private final NamedLock lock;
    private final @Nullable Function<Duration, CompletableFuture<Lease>> leasing;
    private final @Nullable Keep keep;
    private @Nullable Lease lease;
    private volatile @Nullable Long begun;

    /** The locks of the call; null before its body runs. */
    private @Nullable Scope call;

    /**
     * A lock that is not held yet, or by the current thread.
     *
     * @param leasing acquires a lease and waits at most the given time; null if the hold belongs to the thread
     * @param keep null for no longer than the call
     */
    LockContext(NamedLock lock, @Nullable Function<Duration, CompletableFuture<Lease>> leasing, @Nullable Keep keep) {
        this.lock = lock;
        this.leasing = leasing;
        this.keep = keep;
    }

    /** A lock that is held by a lease. */
    LockContext(NamedLock lock, Lease lease) {
        this(lock, null, null);
        this.lease = lease;
    }

    /**
     * {@return the innermost lock of this thread's annotated methods}
     *
     * @throws IllegalStateException if there is none
     */
    public static LockContext current() {
        return find().orElseThrow(
                        () -> new IllegalStateException(
                                "no @DistributedLock method runs on thread "
                                        + Thread.currentThread().getName()
                                        + ": the call bypassed the proxy, as a call within the same bean does, or locking is disabled (lock.enabled=false)"));
    }

    /**
     * {@return the lock of that name of this thread's annotated methods}
     *
     * @param name the whole name, key included
     * @throws IllegalStateException if there is none
     */
    public static LockContext current(String name) {
        LockContext innermost = current();
        return shownHere()
                .filter(context -> context.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no @DistributedLock method runs under lock '"
                        + LockNames.printable(name) + "' on thread "
                        + Thread.currentThread().getName() + ", but under '" + LockNames.printable(innermost.name())
                        + "': pass the whole lock name, key included"));
    }

    /** {@return the innermost lock of this thread's annotated methods; empty if there is none} */
    public static Optional<LockContext> find() {
        return shownHere().findFirst();
    }

    private static Stream<LockContext> shownHere() {
        return HeldByThread.all().filter(Scope.class::isInstance).flatMap(each -> ((Scope) each).shown());
    }

    /** {@return the name of the lock, key included} */
    public String name() {
        return lock.getName();
    }

    /**
     * {@return the fencing token, as {@link NamedLock#fencingToken()}}
     *
     * @throws IllegalMonitorStateException if it is not held; {@link LockLostException} if it was lost
     */
    public long fencingToken() {
        return lease != null ? lease.fencingToken() : lock.fencingToken();
    }

    /** {@return how long the lease lasts for certain unless renewed; zero if it is no longer held} */
    public Duration remainingLease() {
        return lease != null ? lease.remainingLease() : lock.remainingLease();
    }

    /**
     * {@return whether the lock is held and its lease cannot have run out yet} Check it before a step that cannot be
     * undone.
     */
    public boolean isValid() {
        // remainingLease() has no side effect, but isHeldByCurrentThread() may end the renewal.
        return lease != null ? lease.isValid() : !lock.remainingLease().isZero();
    }

    /**
     * Lets others have the lock at a checkpoint of a long method. If nobody is known to wait for a lock of the call,
     * this sends nothing. Otherwise it releases all locks of the call, queues behind the others, and acquires the locks
     * again, as the call did at its beginning.
     *
     * <p>After it has returned true, {@link #fencingToken()} is a new one, and what the method has read before may be
     * outdated. A {@link FencingToken} parameter is not changed. Listeners are notified of a release and an acquisition
     * as usual; what they have begun in {@link LockListener#entering} goes on.
     *
     * <p>Waiting callers of this registry are known at once. Others are known when Redis notifies this registry or
     * answers a renewal, which may be a third of the ttl later. They may also have left since: then this costs a
     * release and an acquisition for nothing.
     *
     * <p>If the locks cannot be acquired again, the call has none of them any more. End the method then.
     *
     * @return whether the locks were released and acquired again
     * @throws IllegalStateException if the call cannot yield; it still has its locks. The thread holds one of them more
     *     than once, or has acquired another lock since; the result is asynchronous; a lock is kept after the method;
     *     its wait time is zero; or a Spring transaction is active
     * @throws LockLostException if a lock was lost before
     * @throws LockNotAcquiredException if the wait time of a lock was over, too many callers wait, or the thread was
     *     interrupted before or during the wait; its flag is then set again
     * @throws LockUnavailableException if Redis is not available
     */
    public boolean yieldIfOthersWait() {
        return Objects.requireNonNull(call).yieldIfOthersWait();
    }

    @Override
    public String toString() {
        return "LockContext[" + LockNames.printable(name()) + "]";
    }

    // --- acquisition ------------------------------------------------------------------------------------------

    NamedLock lock() {
        return lock;
    }

    Duration waitTime() {
        return lock instanceof LockScope.OfLock ours
                ? ours.waitTime()
                : Objects.requireNonNull(lock.options().waitTime());
    }

    /** Whether the hold is to belong to a lease, not to the thread. */
    boolean needsLease() {
        return leasing != null;
    }

    /** Acquires a lease. */
    CompletableFuture<Lease> lease(Duration wait) {
        return Objects.requireNonNull(leasing).apply(wait);
    }

    /**
     * Requests the lock once. The result waits for the answer, as the result of {@link LockScope.OfLock#attempt} does.
     */
    Callable<@Nullable Lease> attempt(boolean interruptible) {
        if (!needsLease()) {
            return ((LockScope.OfLock) lock).attempt(interruptible);
        }
        CompletableFuture<Lease> attempt = attemptAsync();
        return () -> Futures.await(attempt);
    }

    /** Requests a lease once. */
    CompletableFuture<Lease> attemptAsync() {
        return ((LockScope.OfLock) lock).attemptAsync();
    }

    /** The lock is held from now on: by the current thread if there is no lease. */
    void hold(@Nullable Lease acquired) {
        lease = acquired;
    }

    // --- the hold ---------------------------------------------------------------------------------------------

    /** Called before a body runs: notifies the listeners, and adds what they want to run afterwards. */
    void enter(Scope call, Deque<Runnable> exits) {
        this.call = call;
        if (keep != null) {
            begun = Timer.systemNanoTime();
        }
        Object hold = lease != null ? lease : lock;
        Runnable exit = hold instanceof LockScope scope ? scope.enter() : null;
        if (exit != null) {
            exits.push(exit);
        }
    }

    /**
     * Refuses a call that cannot yield.
     *
     * @param newest whether the thread holds the locks of the call once, and has acquired no other since
     */
    void requireYieldable(boolean newest, boolean inTransaction) {
        refuseIf(keep != null, "it is kept after the method, by keepFor or atLeastFor");
        refuseIf(!newest, "its thread must hold it once, as its newest lock, and the call must not be asynchronous");
        refuseIf(inTransaction, "a transaction is active, whose changes others would not see; yield after its end");
        refuseIf(waitTime().isZero(), "its waitTime is zero, so the call would not get it back");
        fencingToken(); // throws if it was lost
    }

    private void refuseIf(boolean obstacle, String why) {
        if (obstacle) {
            throw new IllegalStateException("lock '" + LockNames.printable(name()) + "' cannot be yielded: " + why);
        }
    }

    /** If the thread has lost its lock, only the exception has the token. */
    LockLostException lost(String reason) {
        try {
            return new LockLostException(name(), fencingToken(), reason);
        } catch (LockLostException lost) {
            return new LockLostException(name(), lost.getFencingToken(), reason);
        }
    }

    LockContext onAnyThread() {
        return lease != null ? this : new LockContext(lock, lock.asLease());
    }

    /**
     * Begins to release the lock, or to keep it for the rest of its time. {@return completes the release; throws the
     * failure of its beginning}
     */
    Runnable beginRelease(boolean succeeded) {
        try {
            return release(lease, left(succeeded));
        } catch (RuntimeException | Error failure) {
            return () -> {
                throw Futures.unchecked(failure);
            };
        }
    }

    private Runnable release(@Nullable Lease held, Duration stay) {
        if ((held != null ? held : lock) instanceof LockScope scope) {
            return scope.beginRelease(stay);
        } else if (held == null) {
            return lock::unlock;
        }
        return stay.isZero() || isLost(held) ? held::close : () -> held.closeAfter(stay);
    }

    /** If the lock cannot tell, this assumes that it is held: the release reports a loss. */
    private static boolean isLost(Lease lease) {
        try {
            return !lease.isValid();
        } catch (RuntimeException | Error unknown) {
            return false;
        }
    }

    /** Releases the lock, or keeps it for the rest of its time, and does not block. Only for a lease. */
    CompletableFuture<Void> releaseLater(boolean succeeded) {
        try {
            Duration left = left(succeeded);
            CompletableFuture<Void> closed = Objects.requireNonNull(lease).closeAfter(left);
            return left.isZero() || lease instanceof LockScope ? closed : CompletableFuture.completedFuture(null);
        } catch (RuntimeException | Error failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    /** How much longer the lock is kept. */
    private Duration left(boolean succeeded) {
        Long since = begun;
        if (keep == null || since == null || keep.onlyOnSuccess() && !succeeded) {
            return Duration.ZERO;
        }
        Duration left = keep.time().minusNanos(Timer.systemNanoTime() - since);
        return left.isNegative() ? Duration.ZERO : left;
    }
}
