package io.github.lockboot;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Stopwatch;
import org.jspecify.annotations.Nullable;

/**
 * Takes several locks, all of them or none, one after the other in the given order; the order of their names, if callers with
 * names in common must not wait for each other. The one way in which {@link LockRegistry#allOf}, {@link LockTemplate} and the
 * annotation take locks. Not for applications.
 *
 * <p>A lease may run out while the next lock is waited for. So when all have been taken all must still be held, or everything is
 * released and taken again, as long as there is time.
 */
public final class LockSet {

    private static final CompletableFuture<Boolean> MORE = CompletableFuture.completedFuture(true);
    private static final CompletableFuture<Boolean> DECIDED = CompletableFuture.completedFuture(false);

    /**
     * One of the locks.
     *
     * @param lock a handle
     * @param leasing acquires a lease of it, waiting at most that long, if the hold is to belong to the call; null if to the thread
     * @param keep how long it stays at least; null for no longer than the call
     */
    public record Wanted(
            NamedLock lock,
            @Nullable Function<Duration, CompletableFuture<Lease>> leasing,
            @Nullable Keep keep) {

        private Duration waitTime() {
            return Objects.requireNonNull(lock.options().waitTime());
        }
    }

    /**
     * How long a lock stays at least.
     *
     * @param time counted from when it was taken
     * @param onlyOnSuccess whether an action that fails gives it back at once
     */
    public record Keep(Duration time, boolean onlyOnSuccess) {}

    /** How the calling thread takes a lock that will be its own. */
    interface Taking {

        boolean take(NamedLock lock) throws InterruptedException;
    }

    private final List<Wanted> wanted;
    private final boolean onThread;
    private final @Nullable Taking untimed;
    private final Stopwatch since = Stopwatch.start();
    private final CompletableFuture<HeldLocks> result = new CompletableFuture<>();
    private HeldLocks held = new HeldLocks();
    private Duration waited = Duration.ZERO;
    private volatile @Nullable CompletableFuture<Lease> asking;

    /**
     * @param onThread whether the calling thread waits
     * @param untimed how it waits; null for the wait time of each lock's options, counted from now
     */
    private LockSet(List<Wanted> wanted, boolean onThread, @Nullable Taking untimed) {
        this.wanted = wanted;
        this.onThread = onThread;
        this.untimed = untimed;
    }

    /**
     * Takes all locks on the calling thread, each waiting at most as its options say from the beginning.
     *
     * @param wanted in the order in which they are taken
     * @return the locks, or a refusal if another held one of them
     * @throws LockNotAcquiredException if the thread was interrupted, which is no contention; its flag is set again
     * @throws LockLostException if one was lost on the way and there is no time to take all again
     * @throws LockUnavailableException if Redis could not be asked
     */
    public static HeldLocks take(List<Wanted> wanted) {
        LockSet set = new LockSet(wanted, true, null);
        try {
            return set.takeAll();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            String name = wanted.get(set.held.size()).lock().getName();
            throw new LockNotAcquiredException(name, set.since.elapsed(), interrupt);
        }
    }

    /** Takes all locks on the calling thread in that way, again and again if one is lost meanwhile. */
    static HeldLocks take(List<Wanted> wanted, Taking untimed) throws InterruptedException {
        return new LockSet(wanted, true, untimed).takeAll();
    }

    /**
     * As {@link #take(List)}, without a thread that waits. All holds belong to the call.
     *
     * @param wanted in the order in which they are taken
     * @return completes with the locks or a refusal; cancelling it gives back what has been taken by then
     */
    public static CompletableFuture<HeldLocks> takeAsync(List<Wanted> wanted) {
        LockSet set = new LockSet(wanted, false, null);
        set.result.whenComplete((held, failure) -> set.stopAskingIfDecided());
        set.goOn();
        return set.result;
    }

    private HeldLocks takeAll() throws InterruptedException {
        goOn();
        try {
            return result.join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof InterruptedException interrupt) {
                throw interrupt;
            }
            throw Futures.unchecked(failure);
        }
    }

    /** Step by step; one that completes elsewhere goes on there. */
    private void goOn() {
        while (true) {
            CompletableFuture<Boolean> step = held.size() < wanted.size() ? takeNext() : check();
            if (!step.isDone()) {
                step.thenAccept(more -> {
                    if (more) {
                        goOn();
                    }
                });
                return;
            }
            if (!step.join()) {
                return;
            }
        }
    }

    private CompletableFuture<Boolean> takeNext() {
        Wanted next = wanted.get(held.size());
        CompletableFuture<Lease> request = request(next);
        asking = request;
        stopAskingIfDecided();
        return request.handle((lease, failure) -> {
                    if (failure != null) {
                        return giveUp(Futures.unwrap(failure));
                    }
                    held.add(lease, next.keep());
                    waited = wanted.size() > 1 ? since.elapsed() : waited;
                    return MORE;
                })
                .thenCompose(Function.identity());
    }

    private CompletableFuture<Lease> request(Wanted next) {
        try {
            return onThread
                    ? CompletableFuture.completedFuture(takeNow(next))
                    : Objects.requireNonNull(next.leasing()).apply(leftOf(next));
        } catch (InterruptedException | RuntimeException | Error failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private Lease takeNow(Wanted next) throws InterruptedException {
        NamedLock lock = next.lock();
        Function<Duration, CompletableFuture<Lease>> leasing = next.leasing();
        if (leasing != null) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return Futures.await(leasing.apply(leftOf(next)));
        }
        boolean taken = untimed != null
                ? untimed.take(lock)
                : lock.tryLock(TimeUnit.NANOSECONDS.convert(leftOf(next)), TimeUnit.NANOSECONDS);
        if (!taken) {
            throw new LockNotAcquiredException(lock.getName(), since.elapsed());
        }
        return new ThreadHold(lock);
    }

    private Duration leftOf(Wanted next) {
        Duration left = next.waitTime().minus(waited);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Whether all that have been taken are still held. */
    private CompletableFuture<Boolean> check() {
        LockLostException lost = held.size() < 2
                ? null
                : held.findLoss("before all locks of the call were held, so the method has not run");
        if (lost != null) {
            return giveBack(lost).thenApply(none -> takeAgain(lost));
        }
        if (!result.complete(held)) {
            held.releaseLater(false);
        }
        return DECIDED;
    }

    private boolean takeAgain(LockLostException lost) {
        waited = since.elapsed();
        if (untimed == null && wanted.stream().anyMatch(next -> leftOf(next).isZero())) {
            result.completeExceptionally(lost);
            return false;
        }
        held = new HeldLocks();
        return true;
    }

    private CompletableFuture<Boolean> giveUp(Throwable failure) {
        return giveBack(failure).thenApply(none -> {
            if (failure instanceof LockNotAcquiredException refusal) {
                result.complete(new HeldLocks(refusal, held.size()));
            } else {
                result.completeExceptionally(failure);
            }
            return false;
        });
    }

    private CompletableFuture<Void> giveBack(Throwable failure) {
        if (!onThread) {
            return held.releaseLaterAfter(failure);
        }
        held.releaseAfter(failure);
        return CompletableFuture.completedFuture(null);
    }

    /** It may be decided by a cancellation; what is granted all the same is given back. */
    private void stopAskingIfDecided() {
        CompletableFuture<Lease> request = asking;
        if (request != null && result.isDone()) {
            request.cancel(false);
        }
    }
}
