package io.github.lockboot;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * Takes all of several locks or none. {@link LockRegistry#allOf}, {@link LockTemplate} and the annotation take locks this way.
 * Not for applications.
 *
 * <p>If no other caller of this JVM uses any of them, one command takes all or none. Otherwise, or if one is not free, they are
 * taken one after the other in the given order. Callers with names in common do not deadlock if that is the order of the names. If one
 * has been lost when the last is taken, all are released and taken again, as long as there is time.
 */
public final class LockSet {

    /**
     * One of the locks.
     *
     * @param waitTime that of the lock; null if it has yet to be asked for it
     * @param leasing acquires a lease and waits at most the given time; null if the hold belongs to the thread
     * @param keep null for no longer than the call
     */
    public record Wanted(
            NamedLock lock,
            @Nullable Duration waitTime,
            @Nullable Function<Duration, CompletableFuture<Lease>> leasing,
            @Nullable Keep keep) {

        Wanted(NamedLock lock, @Nullable Function<Duration, CompletableFuture<Lease>> leasing) {
            this(lock, null, leasing, null);
        }
    }

    /**
     * How long a lock stays at least, counted from when the body began. Without a body it is not kept.
     *
     * @param onlyOnSuccess whether a call that fails releases it at once
     */
    public record Keep(Duration time, boolean onlyOnSuccess) {}

    /**
     * One or more locks that a thread has. Each thread has a list of them, the newest first: they enter it by {@link #begin} on that
     * thread, and leave it by {@link #end} on any thread. A transaction of the thread is committed only if none was lost.
     *
     * <p>A thread may outlast the application, so it does not keep its list: what is in the list keeps it. What holds, or has lost and
     * not released, is kept by its registry, and code that runs under locks by the thread's stack.
     */
    public abstract static class OfThread {

        private static final ThreadLocal<@Nullable WeakReference<ThreadList>> CURRENT = new ThreadLocal<>();

        private volatile @Nullable ThreadList list;
        private @Nullable OfThread newer;
        private @Nullable OfThread older;
        private volatile boolean ignored;

        /** An exception for a lock that may have been lost; null if there is none. */
        public abstract @Nullable LockLostException findLoss(String reason);

        /** Whether its lock was lost, and the thread need not release it any more. */
        protected boolean isGivenUp() {
            return false;
        }

        /** Called when it has entered the list of its thread, or left it. */
        protected void onListed() {}

        public final void begin() {
            ThreadList all = current();
            if (all == null) {
                all = new ThreadList();
                CURRENT.set(new WeakReference<>(all));
            }
            all.enter(this);
        }

        public final void end() {
            ThreadList entered = list;
            if (entered != null) { // else it belongs to no thread
                entered.leave(this);
            }
        }

        /** Whether it is in the list of its thread. */
        protected final boolean isListed() {
            return list != null;
        }

        /** Whether the thread has given it up for good. */
        protected final boolean isIgnored() {
            return ignored;
        }

        private static @Nullable ThreadList current() {
            WeakReference<ThreadList> known = CURRENT.get();
            return known == null ? null : known.get();
        }

        /** {@return the locks of the current thread, the newest first} */
        public static Stream<OfThread> all() {
            ThreadList all = current();
            return all == null ? Stream.empty() : all.copy().stream();
        }

        /** An exception for a lock that the current thread may have lost; null if there is none. */
        public static @Nullable LockLostException findAnyLoss(String reason) {
            return all().filter(each -> !each.ignored)
                    .map(each -> each.findLoss(reason))
                    .filter(Objects::nonNull)
                    .findFirst()
                    .orElse(null);
        }

        /** What the current thread begins now does not need the locks that it has given up. */
        public static void ignoreThoseGivenUp() {
            all().filter(OfThread::isGivenUp).forEach(each -> each.ignored = true);
        }
    }

    /** The locks of one thread, each linked to the next older one. */
    private static final class ThreadList {

        /** How many locks that were given up are remembered at least, in case the thread releases them after all. */
        private static final int REMEMBERED = 64;

        private @Nullable OfThread newest;
        private int size;

        /** Twice as many as were left: to look through all of them costs each that enters a fixed number of steps. */
        private int lookedThroughAt = 2 * REMEMBERED;

        void enter(OfThread lock) {
            synchronized (this) {
                if (size >= lookedThroughAt) {
                    forgetThoseGivenUp();
                    lookedThroughAt = Math.max(2 * REMEMBERED, 2 * size);
                }
                OfThread next = newest;
                if (next != null) {
                    next.newer = lock;
                }
                lock.older = next;
                newest = lock;
                size++;
                lock.list = this;
            }
            lock.onListed();
        }

        void leave(OfThread lock) {
            synchronized (this) {
                if (lock.list != this) {
                    return; // another thread was faster
                }
                OfThread after = lock.newer;
                OfThread before = lock.older;
                if (after == null) {
                    newest = before;
                } else {
                    after.older = before;
                }
                if (before != null) {
                    before.newer = after;
                }
                lock.newer = null;
                lock.older = null;
                lock.list = null;
                size--;
                lookedThroughAt = Math.min(lookedThroughAt, Math.max(2 * REMEMBERED, 2 * size));
            }
            lock.onListed();
        }

        private void forgetThoseGivenUp() {
            int remembered = 0;
            for (OfThread each : copy()) {
                if (++remembered > REMEMBERED && each.isGivenUp()) {
                    each.ignored = true;
                    leave(each);
                }
            }
        }

        synchronized List<OfThread> copy() {
            List<OfThread> all = new ArrayList<>(size);
            for (OfThread each = newest; each != null; each = each.older) {
                all.add(each);
            }
            return all;
        }
    }

    /** A lock of which several can be taken, or released, by one command. */
    public interface Member {

        /** Whether one command may take both: they are of one registry, and this one is exclusive and not in use there. */
        boolean canJoin(Member first);

        /**
         * Runs an action on this thread, and sends together what it asks about locks of this registry.
         *
         * @return false if that cannot be; then the action has not run
         */
        boolean together(Runnable asking);

        /**
         * Begins to ask once whether the lock is free for the current thread.
         *
         * @param interruptible whether an interrupt ends the wait for the answer; if not, the flag is set again
         * @return waits for the answer, and returns null or fails with {@link LockNotAcquiredException}
         */
        Callable<@Nullable Lease> attempt(boolean interruptible);

        /** Asks once whether the lock is free. {@return fails with {@link LockNotAcquiredException} if not} */
        CompletableFuture<Lease> attemptAsync();
    }

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
    public static HeldLocks take(List<Wanted> wanted) {
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
                if (!takeTogether(interruptible)) {
                    for (at = 0; at < wanted.size(); at++) {
                        Wanted next = wanted.get(at);
                        add(next, take(next, taking));
                    }
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

    // --- all by one command -----------------------------------------------------------------------------------

    /** Begins an attempt to take each lock, and sends all together. Returns none if that cannot be. */
    private List<Callable<@Nullable Lease>> attemptTogether(Function<Wanted, Callable<@Nullable Lease>> attempt) {
        List<Callable<@Nullable Lease>> begun = new ArrayList<>(wanted.size() + 1);
        if (wanted.size() > 1
                && wanted.get(0).lock() instanceof Member first
                && wanted.stream().allMatch(each -> each.lock() instanceof Member other && other.canJoin(first))) {
            try {
                first.together(() -> wanted.forEach(next -> begun.add(attempt.apply(next))));
            } catch (RuntimeException | Error failure) {
                begun.add(() -> {
                    throw Futures.unchecked(failure);
                });
            }
        }
        return begun;
    }

    /** Returns false if it has not; then none is held. */
    private boolean takeTogether(boolean interruptible) throws InterruptedException {
        if (Thread.currentThread().isInterrupted()) {
            return false;
        }
        List<Callable<@Nullable Lease>> attempts = attemptTogether(next -> {
            Member member = (Member) next.lock();
            if (next.leasing() == null) {
                return member.attempt(interruptible);
            }
            CompletableFuture<Lease> lease = member.attemptAsync();
            return () -> Futures.await(lease);
        });
        Throwable trouble = addAll(attempts);
        if (trouble instanceof InterruptedException interrupt) {
            Thread.interrupted();
            throw interrupt;
        } else if (trouble instanceof LockNotAcquiredException) {
            held.releaseAfter(trouble);
            beginAgain();
        } else if (trouble != null) {
            throw Futures.unchecked(trouble);
        }
        return trouble == null && !attempts.isEmpty();
    }

    /** As {@link #takeTogether}, but does not block. */
    private CompletableFuture<Boolean> takeTogetherAsync(CompletableFuture<HeldLocks> result) {
        List<CompletableFuture<?>> asked = new ArrayList<>();
        List<Callable<@Nullable Lease>> attempts = attemptTogether(next -> {
            CompletableFuture<Lease> lease = Futures.cancelWith(result, ((Member) next.lock()).attemptAsync());
            asked.add(lease);
            return lease::join;
        });
        return CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new))
                .handle((none, any) -> Optional.ofNullable(addAll(attempts)))
                .thenCompose(trouble -> {
                    if (trouble.isEmpty()) {
                        return CompletableFuture.completedFuture(!attempts.isEmpty());
                    } else if (trouble.get() instanceof LockNotAcquiredException refusal) {
                        return held.releaseLaterAfter(refusal).thenApply(none -> {
                            beginAgain();
                            return false;
                        });
                    }
                    return CompletableFuture.failedFuture(trouble.get());
                });
    }

    /** Adds each lock that was free. Returns why not all were; a refusal only if nothing else went wrong. */
    private @Nullable Throwable addAll(List<Callable<@Nullable Lease>> attempts) {
        Throwable trouble = null;
        for (int i = 0; i < attempts.size(); i++) {
            try {
                @Nullable Lease lease = attempts.get(i).call();
                add(wanted.get(i), lease);
            } catch (Throwable failure) {
                if (failure instanceof InterruptedException) {
                    Thread.currentThread().interrupt(); // so that the wait for the others ends, too
                }
                if (trouble == null || trouble instanceof LockNotAcquiredException) {
                    trouble = Futures.unwrap(failure);
                    at = i;
                }
            }
        }
        return trouble;
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
    public static CompletableFuture<HeldLocks> takeAsync(List<Wanted> wanted) {
        CompletableFuture<HeldLocks> result = new CompletableFuture<>();
        new LockSet(wanted).takeAllAsync(result);
        return result;
    }

    /** The JDK completes a chain of stages without recursion, even if thousands of locks are free at once. */
    private void takeAllAsync(CompletableFuture<HeldLocks> result) {
        CompletableFuture<Boolean> taken = takeTogetherAsync(result);
        for (Wanted next : wanted) {
            taken = taken.thenCompose(all -> all ? CompletableFuture.completedFuture(true) : takeAsync(next, result));
        }
        taken.thenApply(all -> findLoss())
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

    private CompletableFuture<Boolean> takeAsync(Wanted next, CompletableFuture<HeldLocks> result) {
        return Futures.cancelWith(result, lease(next)).thenApply(lease -> {
            add(next, lease);
            return false;
        });
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
