package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.lockboot.LockContext.Wanted;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Acquires all of several locks or none, and releases them. {@link LockRegistry#allOf}, {@link LockTemplate} and the annotation acquire
 * locks this way.
 *
 * <p>First each lock is tried once, without waiting for one answer before the next lock is tried: one round trip, however many there are.
 * If one is refused, those after it are released, and it and they are acquired one after the other in the given order. Callers with names in
 * common do not deadlock if that is the order of the names. If one has been lost when the last is acquired, all are released and acquired
 * again, as long as there is time.
 */
final class LockSet {

    /** How the current thread acquires a lock. */
    interface Acquirer {

        boolean acquire(NamedLock lock) throws InterruptedException;
    }

    private final List<Wanted> wanted;
    private final long since = Timer.systemNanoTime();

    /** The locks that are held. The last one acquired comes first. */
    Deque<LockContext> held = new ArrayDeque<>(1);

    private Duration waited = Duration.ZERO;

    /** The position of the lock that was requested last, or of the first that could not be acquired. */
    int at;

    /** Null if all locks are held. */
    @Nullable
    LockNotAcquiredException refusal;

    LockSet(List<Wanted> wanted) {
        this.wanted = wanted;
    }

    /** Makes a set of locks that are held. */
    static LockSet of(Collection<LockContext> held) {
        LockSet set = new LockSet(List.of());
        set.held.addAll(held);
        return set;
    }

    @Nullable
    LockLostException findLoss(String reason) {
        for (LockContext each : held) {
            if (!each.isValid()) {
                return each.lost(reason);
            }
        }
        return null;
    }

    // --- acquisition ------------------------------------------------------------------------------------------

    /**
     * Acquires all locks on the current thread. Each has the wait time of its options, counted from now.
     *
     * @throws LockNotAcquiredException if the thread was interrupted; its flag is set again
     * @throws LockLostException if one was lost meanwhile and there is no time to acquire all again
     * @throws LockUnavailableException if the store is not available
     */
    void acquire() {
        try {
            acquire(null, true);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException(wanted.get(at).lock().getName(), elapsed(), interrupt);
        }
    }

    /**
     * @param acquirer null for the wait time of each lock
     * @param interruptible whether {@code acquirer} is
     * @return false if another holds one of the locks
     */
    boolean acquire(@Nullable Acquirer acquirer, boolean interruptible) throws InterruptedException {
        while (true) {
            LockLostException lost;
            try {
                tryAtOnce(interruptible);
                for (at = held.size(); at < wanted.size(); at++) {
                    Wanted next = wanted.get(at);
                    add(next, acquire(next, acquirer));
                }
                lost = findLoss();
            } catch (LockNotAcquiredException refused) {
                releaseAfter(refused);
                held = new ArrayDeque<>(0);
                refusal = refused;
                return false;
            } catch (Throwable failure) {
                releaseAfter(failure);
                throw failure;
            }
            if (lost == null) {
                return true;
            }
            releaseAfter(lost);
            if (!beginAgain() && acquirer == null) {
                throw lost;
            }
        }
    }

    /** Acquires one lock. Returns null if the hold belongs to the thread. */
    private @Nullable Lease acquire(Wanted next, @Nullable Acquirer acquirer) throws InterruptedException {
        NamedLock lock = next.lock();
        if (next.leasing() != null) {
            return Futures.await(() -> lease(next));
        }
        boolean acquired = acquirer != null
                ? acquirer.acquire(lock)
                : lock.tryLock(TimeUnit.NANOSECONDS.convert(left(next)), TimeUnit.NANOSECONDS);
        if (!acquired) {
            throw new LockNotAcquiredException(lock.getName(), elapsed());
        }
        return null;
    }

    /**
     * Acquires all locks as {@link #acquire()} does, but blocks no thread. All holds belong to the call.
     *
     * <p>The JDK completes a chain of stages without recursion, even if thousands of locks are free at once.
     *
     * @param result completes with the outcome once all locks are held or one is refused; if it is cancelled, all locks are released
     */
    <T> void acquireAsync(CompletableFuture<T> result, T outcome) {
        CompletableFuture<Void> acquired = tryAtOnceAsync(result);
        for (int i = 0; i < wanted.size(); i++) {
            int next = i;
            acquired = acquired.thenCompose(none -> acquireNext(next, result));
        }
        acquired.thenApply(none -> findLoss())
                .handle((lost, failure) -> failure == null ? lost : Futures.unwrap(failure))
                .thenCompose(trouble -> trouble == null
                        ? complete(result, outcome)
                        : releaseLaterAfter(trouble).thenRun(() -> onReleased(trouble, result, outcome)))
                .exceptionally(failure -> {
                    result.completeExceptionally(Futures.unwrap(failure));
                    return null;
                });
    }

    private <T> CompletableFuture<Void> complete(CompletableFuture<T> result, T outcome) {
        return result.complete(outcome) ? CompletableFuture.completedFuture(null) : releaseLater(false);
    }

    /** Acquires the lock at this position, unless it was acquired with those before it. */
    private CompletableFuture<Void> acquireNext(int position, CompletableFuture<?> result) {
        if (position < held.size()) {
            return CompletableFuture.completedFuture(null);
        }
        at = position;
        Wanted next = wanted.get(position);
        return Futures.cancelWith(result, lease(next)).thenAccept(lease -> add(next, lease));
    }

    private <T> void onReleased(Throwable trouble, CompletableFuture<T> result, T outcome) {
        if (trouble instanceof LockNotAcquiredException refused) {
            held = new ArrayDeque<>(0);
            refusal = refused;
            result.complete(outcome);
        } else if (trouble instanceof LockLostException && beginAgain()) {
            acquireAsync(result, outcome);
        } else {
            result.completeExceptionally(trouble);
        }
    }

    private CompletableFuture<Lease> lease(Wanted next) {
        return Objects.requireNonNull(next.leasing()).apply(left(next));
    }

    private void add(Wanted acquired, @Nullable Lease lease) {
        try {
            held.push(new LockContext(acquired.lock(), lease, acquired.keep()));
        } catch (Throwable noMemory) { // nobody else knows that it is held
            if (lease != null) {
                lease.closeAfter(Duration.ZERO);
            } else {
                acquired.lock().unlock();
            }
            throw noMemory;
        }
        waited = wanted.size() > 1 ? elapsed() : waited;
    }

    private @Nullable LockLostException findLoss() {
        return held.size() < 2
                ? null
                : findLoss("detected before all locks of the call were held; the method has not run");
    }

    /** Returns false if there is no time for it. */
    private boolean beginAgain() {
        held = new ArrayDeque<>(wanted.size());
        waited = elapsed();
        return wanted.stream().noneMatch(each -> left(each).isZero());
    }

    private Duration left(Wanted each) {
        Duration whole = each.waitTime() != null
                ? each.waitTime()
                : each.lock().options().waitTime();
        Duration left = Objects.requireNonNull(whole).minus(waited);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Duration elapsed() {
        return Duration.ofNanos(Timer.systemNanoTime() - since);
    }

    // --- all at once ------------------------------------------------------------------------------------------

    /** Whether each lock can be tried without waiting for the answer. */
    private boolean canTryAtOnce() {
        return wanted.size() > 1 && wanted.stream().allMatch(each -> each.lock() instanceof LockScope);
    }

    /** Tries each lock once, and requests all before it waits for the first answer. Keeps those before the first one that was refused. */
    private void tryAtOnce(boolean interruptible) throws InterruptedException {
        if (!canTryAtOnce() || interruptible && Thread.currentThread().isInterrupted()) {
            return;
        }
        Throwable trouble = addAll(begin(next -> {
            LockScope lock = (LockScope) next.lock();
            if (next.leasing() == null) {
                return lock.attempt(interruptible);
            }
            CompletableFuture<Lease> lease = lock.attemptAsync();
            return () -> Futures.await(lease);
        }));
        if (trouble instanceof InterruptedException interrupt) {
            throw interrupt;
        } else if (trouble instanceof LockNotAcquiredException) {
            removeThoseFrom(at).releaseAfter(trouble);
            waited = elapsed();
        } else if (trouble != null) {
            throw Futures.unchecked(trouble);
        }
    }

    /** As {@link #tryAtOnce}, but does not block. */
    private CompletableFuture<Void> tryAtOnceAsync(CompletableFuture<?> result) {
        if (!canTryAtOnce()) {
            return CompletableFuture.completedFuture(null);
        }
        List<CompletableFuture<?>> requested = new ArrayList<>(wanted.size());
        List<Callable<@Nullable Lease>> attempts = begin(next -> {
            CompletableFuture<Lease> lease = Futures.cancelWith(result, ((LockScope) next.lock()).attemptAsync());
            requested.add(lease);
            return lease::join;
        });
        return CompletableFuture.allOf(requested.toArray(CompletableFuture<?>[]::new))
                .handle((none, any) -> Optional.ofNullable(addAll(attempts)))
                .thenCompose(trouble -> {
                    if (trouble.isEmpty()) {
                        return CompletableFuture.completedFuture(null);
                    } else if (trouble.get() instanceof LockNotAcquiredException refused) {
                        return removeThoseFrom(at).releaseLaterAfter(refused).thenRun(() -> waited = elapsed());
                    }
                    return CompletableFuture.failedFuture(trouble.get());
                });
    }

    /** Begins an attempt for each lock. If one cannot begin, it and those after it have none, and the last one returned throws why. */
    private List<Callable<@Nullable Lease>> begin(Function<Wanted, Callable<@Nullable Lease>> attempt) {
        List<Callable<@Nullable Lease>> begun = new ArrayList<>(wanted.size());
        try {
            wanted.forEach(next -> begun.add(attempt.apply(next)));
        } catch (RuntimeException | Error failure) {
            begun.add(() -> {
                throw Futures.unchecked(failure);
            });
        }
        return begun;
    }

    /** Adds each lock that was acquired. Returns why not all were; a refusal only if nothing else went wrong. */
    private @Nullable Throwable addAll(List<Callable<@Nullable Lease>> attempts) {
        Throwable trouble = null;
        for (int i = 0; i < attempts.size(); i++) {
            try {
                @Nullable Lease lease = attempts.get(i).call();
                add(wanted.get(i), lease);
            } catch (Throwable thrown) {
                Throwable failure = Futures.unwrap(thrown);
                if (failure instanceof InterruptedException) {
                    Thread.currentThread().interrupt(); // so that the waits for the other answers end, too
                }
                boolean refused = failure instanceof LockNotAcquiredException;
                if (trouble == null || trouble instanceof LockNotAcquiredException && !refused) {
                    trouble = failure;
                    at = i;
                }
            }
        }
        if (trouble instanceof InterruptedException) {
            Thread.interrupted(); // the caller throws it
        }
        return trouble;
    }

    /** Removes the locks from this position on. */
    private LockSet removeThoseFrom(int position) {
        LockSet removed = new LockSet(List.of());
        while (held.size() > position) {
            removed.held.add(held.pop());
        }
        return removed;
    }

    // --- release ----------------------------------------------------------------------------------------------

    /**
     * Releases all locks in reverse order, even if a release fails: begins each before it waits for the first answer. A lock that is kept
     * stays until its time is over.
     *
     * @throws RuntimeException the first failure, with the others suppressed
     */
    void release(boolean succeeded) {
        Throwable first = null;
        held.forEach(each -> each.beginRelease(succeeded));
        for (LockContext each : held) {
            try {
                each.release();
            } catch (RuntimeException | Error failure) {
                if (first == null) {
                    first = failure;
                } else {
                    suppress(failure, first);
                }
            }
        }
        if (first != null) {
            throw Futures.unchecked(first);
        }
    }

    /** Releases all locks. If that fails, its exception is suppressed and added to the failure. */
    void releaseAfter(Throwable failure) {
        try {
            release(false);
        } catch (RuntimeException | Error releaseFailure) {
            suppress(releaseFailure, failure);
        }
    }

    /** An exception cannot suppress itself, and the JVM may throw one OutOfMemoryError again and again. */
    private static void suppress(Throwable suppressed, Throwable failure) {
        if (suppressed != failure) {
            failure.addSuppressed(suppressed);
        }
    }

    /** Releases all locks as {@link #release} does, but does not block. */
    CompletableFuture<Void> releaseLater(boolean succeeded) {
        return CompletableFuture.allOf(
                held.stream().map(each -> each.releaseLater(succeeded)).toArray(CompletableFuture<?>[]::new));
    }

    /** Releases all locks as {@link #releaseAfter} does, but does not block. */
    CompletableFuture<Void> releaseLaterAfter(Throwable failure) {
        return releaseLater(false).exceptionally(releaseFailure -> {
            suppress(Futures.unwrap(releaseFailure), failure);
            return null;
        });
    }
}
