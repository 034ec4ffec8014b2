package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.lockboot.HeldLocks.Wanted;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Takes all of several locks or none. {@link LockRegistry#allOf}, {@link LockTemplate} and the annotation take locks this way.
 *
 * <p>First each lock is tried once, without waiting for one answer before the next lock is tried: one round trip, however many there are.
 * If one is refused, those after it are released, and it and they are acquired one after the other in the given order. Callers with names in
 * common do not deadlock if that is the order of the names. If one has been lost when the last is acquired, all are released and acquired
 * again, as long as there is time.
 */
final class LockSet {

    /** How the current thread takes a lock. */
    interface Taking {

        boolean take(NamedLock lock) throws InterruptedException;
    }

    private final List<Wanted> wanted;
    private final long since = Timer.systemNanoTime();
    private HeldLocks held = new HeldLocks();
    private Duration waited = Duration.ZERO;

    /** The position of the lock that was asked for last, or of the first that could not be taken. */
    private int at;

    LockSet(List<Wanted> wanted) {
        this.wanted = wanted;
    }

    /**
     * Takes all locks on the current thread. Each has the wait time of its options, counted from now.
     *
     * @return the locks, or the refusal if another holds one of them
     * @throws LockNotAcquiredException if the thread was interrupted; its flag is set again
     * @throws LockLostException if one was lost meanwhile and there is no time to take all again
     * @throws LockUnavailableException if Redis is not available
     */
    static HeldLocks take(List<Wanted> wanted) {
        LockSet set = new LockSet(wanted);
        try {
            return set.takeAll(null, true);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            String name = wanted.get(set.at).lock().getName();
            throw new LockNotAcquiredException(name, set.elapsed(), interrupt);
        }
    }

    /**
     * @param taking null for the wait time of each lock
     * @param interruptible whether {@code taking} is
     */
    HeldLocks takeAll(@Nullable Taking taking, boolean interruptible) throws InterruptedException {
        while (true) {
            LockLostException lost;
            try {
                tryAtOnce(interruptible);
                for (at = held.size(); at < wanted.size(); at++) {
                    Wanted next = wanted.get(at);
                    add(next, take(next, taking));
                }
                lost = findLoss();
            } catch (LockNotAcquiredException refusal) {
                held.releaseAfter(refusal);
                return new HeldLocks(refusal, held.size());
            } catch (Throwable failure) {
                held.releaseAfter(failure);
                throw failure;
            }
            if (lost == null) {
                return held;
            }
            held.releaseAfter(lost);
            if (!beginAgain() && taking == null) {
                throw lost;
            }
        }
    }

    // --- all at once ------------------------------------------------------------------------------------------

    /** Whether each lock can be tried without waiting for the answer. */
    private boolean canTryAtOnce() {
        return wanted.size() > 1 && wanted.stream().allMatch(each -> each.lock() instanceof LockScope);
    }

    /** Tries each lock once, and asks for all before it waits for the first answer. Keeps those before the first one that was refused. */
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
            held.removeAllBut(at).releaseAfter(trouble);
            waited = elapsed();
        } else if (trouble != null) {
            throw Futures.unchecked(trouble);
        }
    }

    /** As {@link #tryAtOnce}, but does not block. */
    private CompletableFuture<Void> tryAtOnceAsync(CompletableFuture<HeldLocks> result) {
        if (!canTryAtOnce()) {
            return CompletableFuture.completedFuture(null);
        }
        List<CompletableFuture<?>> asked = new ArrayList<>(wanted.size());
        List<Callable<@Nullable Lease>> attempts = begin(next -> {
            CompletableFuture<Lease> lease = Futures.cancelWith(result, ((LockScope) next.lock()).attemptAsync());
            asked.add(lease);
            return lease::join;
        });
        return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
                .handle((none, any) -> Optional.ofNullable(addAll(attempts)))
                .thenCompose(trouble -> {
                    if (trouble.isEmpty()) {
                        return CompletableFuture.completedFuture(null);
                    } else if (trouble.get() instanceof LockNotAcquiredException refusal) {
                        return held.removeAllBut(at).releaseLaterAfter(refusal).thenRun(() -> waited = elapsed());
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
                if (trouble == null || isWorse(failure, trouble)) {
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

    private static boolean isWorse(Throwable failure, Throwable trouble) {
        return trouble instanceof LockNotAcquiredException && !(failure instanceof LockNotAcquiredException);
    }

    // --- one after the other ----------------------------------------------------------------------------------

    /** Returns null if the hold belongs to the thread. */
    private @Nullable Lease take(Wanted next, @Nullable Taking taking) throws InterruptedException {
        NamedLock lock = next.lock();
        if (next.leasing() != null) {
            return Futures.await(() -> lease(next));
        }
        boolean taken = taking != null
                ? taking.take(lock)
                : lock.tryLock(TimeUnit.NANOSECONDS.convert(left(next)), TimeUnit.NANOSECONDS);
        if (!taken) {
            throw new LockNotAcquiredException(lock.getName(), elapsed());
        }
        return null;
    }

    /**
     * Takes all locks as {@link #take(List)} does, but blocks no thread. All holds belong to the call.
     *
     * @return completes with the locks or the refusal; if it is cancelled, all locks are released
     */
    static CompletableFuture<HeldLocks> takeAsync(List<Wanted> wanted) {
        CompletableFuture<HeldLocks> result = new CompletableFuture<>();
        new LockSet(wanted).takeAllAsync(result);
        return result;
    }

    /** The JDK completes a chain of stages without recursion, even if thousands of locks are free at once. */
    private void takeAllAsync(CompletableFuture<HeldLocks> result) {
        CompletableFuture<Void> taken = tryAtOnceAsync(result);
        for (int i = 0; i < wanted.size(); i++) {
            int next = i;
            taken = taken.thenCompose(none -> takeAsync(next, result));
        }
        taken.thenApply(none -> findLoss())
                .handle((lost, failure) -> failure == null ? lost : Futures.unwrap(failure))
                .thenCompose(trouble -> trouble == null
                        ? give(result)
                        : held.releaseLaterAfter(trouble).thenRun(() -> onReleased(result, trouble)))
                .exceptionally(failure -> {
                    result.completeExceptionally(Futures.unwrap(failure));
                    return null;
                });
    }

    private CompletableFuture<Void> give(CompletableFuture<HeldLocks> result) {
        return result.complete(held) ? CompletableFuture.completedFuture(null) : held.releaseLater(false);
    }

    /** Acquires the lock at this position, unless it was acquired with those before it. */
    private CompletableFuture<Void> takeAsync(int position, CompletableFuture<HeldLocks> result) {
        if (position < held.size()) {
            return CompletableFuture.completedFuture(null);
        }
        Wanted next = wanted.get(position);
        return Futures.cancelWith(result, lease(next)).thenAccept(lease -> add(next, lease));
    }

    private void onReleased(CompletableFuture<HeldLocks> result, Throwable trouble) {
        if (trouble instanceof LockNotAcquiredException refusal) {
            result.complete(new HeldLocks(refusal, held.size()));
        } else if (trouble instanceof LockLostException && beginAgain()) {
            takeAllAsync(result);
        } else {
            result.completeExceptionally(trouble);
        }
    }

    private CompletableFuture<Lease> lease(Wanted next) {
        return Objects.requireNonNull(next.leasing()).apply(left(next));
    }

    private void add(Wanted taken, @Nullable Lease lease) {
        try {
            held.add(new LockContext(taken.lock(), lease, taken.keep()));
        } catch (Throwable noMemory) { // nobody else knows that it is held
            if (lease != null) {
                lease.closeAfter(Duration.ZERO);
            } else {
                taken.lock().unlock();
            }
            throw noMemory;
        }
        waited = wanted.size() > 1 ? elapsed() : waited;
    }

    private @Nullable LockLostException findLoss() {
        return held.size() < 2
                ? null
                : held.findLoss("before all locks of the call were held, so the method has not run");
    }

    /** Returns false if there is no time for it. */
    private boolean beginAgain() {
        held = new HeldLocks();
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
}
