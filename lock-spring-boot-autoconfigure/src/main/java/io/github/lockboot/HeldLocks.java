package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.lockboot.LockContext.Keep;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a call. Acquires all of them or none, runs code under them, and releases them.
 * {@link LockRegistry#allOf}, {@link LockTemplate} and the annotation acquire locks this way. Not for applications.
 *
 * <p>If there are several, each is tried once first, without waiting for one answer before the next lock is tried: one
 * round trip for each 256 locks. If one is refused, the locks after it are released. Then the refused lock and the
 * released ones are acquired one after the other, in the given order. Callers with names in common do not deadlock if
 * this is the order of the names. If a lock has been lost when the last one is acquired, all are released and acquired
 * again, as long as there is time.
 *
 * <p>The outcome is either that all locks are held, or a refusal and no lock.
 */
public final class HeldLocks extends HeldByThread implements LockContext.Scope {

    /** What runs under the locks. */
    public interface Body<T extends @Nullable Object, E extends Throwable> {

        T run() throws E;
    }

    /** How the current thread acquires a lock. */
    interface Acquirer {

        boolean acquire(NamedLock lock) throws InterruptedException;
    }

    /**
     * The maximum number of commands of one call at a time, because all other commands, such as renewals, wait behind
     * them.
     */
    static final int MOST_AT_ONCE = 256;

    private final List<LockContext> wanted;
    private final long since = Timer.systemNanoTime();

    /** The locks that are held. The last one acquired comes first. */
    private final Deque<LockContext> held;

    private Duration waited = Duration.ZERO;

    /** The position of the lock that was requested last, or of the first that could not be acquired. */
    private int at;

    private @Nullable LockNotAcquiredException refusal;

    /** Null if the code that runs under them does not see them as {@link LockContext}s. */
    private @Nullable BooleanSupplier inTransaction;

    HeldLocks(List<LockContext> wanted) {
        this.wanted = wanted;
        this.held = new ArrayDeque<>(wanted.size()); // no lock is lost by an array that cannot grow
    }

    /** Makes a set of locks that are held, the innermost first. */
    static HeldLocks of(Collection<LockContext> held) {
        HeldLocks locks = new HeldLocks(List.of());
        locks.held.addAll(held);
        return locks;
    }

    /**
     * Makes a lock that can be acquired, with the wait time of its options.
     *
     * @param leasing acquires a lease and waits at most the given time; null if the hold is to belong to the thread
     * @param keep null for no longer than the call
     */
    public static LockContext wanted(
            NamedLock lock, @Nullable Function<Duration, CompletableFuture<Lease>> leasing, @Nullable Keep keep) {
        return new LockContext(lock, leasing, keep);
    }

    // --- outcome ----------------------------------------------------------------------------------------------

    public int size() {
        return held.size();
    }

    /** Null if all locks are held. */
    public @Nullable LockNotAcquiredException refusal() {
        return refusal;
    }

    /** The position of the lock that was refused. */
    public int refusedAt() {
        return at;
    }

    /** The lock that was acquired last; null if there is none. */
    public @Nullable LockContext innermost() {
        return held.peek();
    }

    @Override
    public @Nullable LockLostException findLoss(String reason) {
        for (LockContext each : held) {
            if (!each.isValid()) {
                return each.lost(reason);
            }
        }
        return null;
    }

    // --- acquisition ------------------------------------------------------------------------------------------

    /**
     * Acquires all locks on the current thread, or none. Each has the wait time of its options, counted from now.
     *
     * @param wanted made by {@link #wanted}, in the order in which they are acquired
     * @return the locks, or the refusal if another caller holds one of them
     * @throws LockNotAcquiredException if the thread was interrupted; its flag is set again
     * @throws LockLostException if one was lost meanwhile and there is no time to acquire all again
     * @throws LockUnavailableException if the store is not available
     */
    public static HeldLocks acquire(List<LockContext> wanted) {
        HeldLocks locks = new HeldLocks(wanted);
        try {
            locks.acquire(null, true);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new LockNotAcquiredException(wanted.get(locks.at).name(), locks.elapsed(), interrupt);
        }
        return locks;
    }

    /**
     * @param acquirer null for the wait time of each lock
     * @param interruptible whether {@code acquirer} is
     * @return false if another caller holds one of the locks
     */
    boolean acquire(@Nullable Acquirer acquirer, boolean interruptible) throws InterruptedException {
        while (true) {
            LockLostException lost;
            try {
                tryAtOnce(interruptible);
                for (at = held.size(); at < wanted.size(); at++) {
                    LockContext next = wanted.get(at);
                    add(next, acquire(next, acquirer));
                }
                lost = findLossBeforeTheCall();
            } catch (LockNotAcquiredException refused) {
                releaseAfter(refused);
                held.clear();
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
    private @Nullable Lease acquire(LockContext next, @Nullable Acquirer acquirer) throws InterruptedException {
        if (next.needsLease()) {
            return Futures.await(() -> next.lease(left(next)));
        }
        NamedLock lock = next.lock();
        LockNotAcquiredException refused;
        if (acquirer == null && lock instanceof LockScope.OfLock ours) {
            refused = ours.tryAcquire(left(next));
        } else {
            boolean acquired = acquirer != null
                    ? acquirer.acquire(lock)
                    : lock.tryLock(TimeUnit.NANOSECONDS.convert(left(next)), TimeUnit.NANOSECONDS);
            refused = acquired ? null : new LockNotAcquiredException(lock.getName(), elapsed());
        }
        if (refused != null) {
            throw refusal(refused);
        }
        return null;
    }

    /** Names the newest lock that the thread holds besides. */
    private LockNotAcquiredException refusal(LockNotAcquiredException refused) {
        Optional<String> newest = HeldByThread.all()
                .filter(Lease.class::isInstance)
                .map(held -> ((Lease) held).name())
                .findFirst();
        return new LockNotAcquiredException(refused, elapsed(), newest.orElse(null));
    }

    /**
     * Acquires all locks as {@link #acquire} does, but blocks no thread. All holds belong to the call.
     *
     * @return completes with the locks or the refusal; if it is cancelled, all locks are released
     */
    public static CompletableFuture<HeldLocks> acquireAsync(List<LockContext> wanted) {
        CompletableFuture<HeldLocks> result = new CompletableFuture<>();
        new HeldLocks(wanted).acquireAsync(result);
        return result;
    }

    /** The JDK completes a chain of stages without recursion, even if thousands of locks are free at once. */
    private void acquireAsync(CompletableFuture<HeldLocks> result) {
        CompletableFuture<Void> acquired = tryAtOnceAsync(result);
        for (int i = 0; i < wanted.size(); i++) {
            int next = i;
            acquired = acquired.thenCompose(none -> acquireNext(next, result));
        }
        acquired.thenApply(none -> findLossBeforeTheCall())
                .handle((lost, failure) -> failure == null ? lost : Futures.unwrap(failure))
                .thenCompose(trouble -> trouble == null
                        ? complete(result)
                        : releaseLaterAfter(trouble).thenRun(() -> onReleased(trouble, result)))
                .exceptionally(failure -> {
                    result.completeExceptionally(Futures.unwrap(failure));
                    return null;
                });
    }

    private CompletableFuture<Void> complete(CompletableFuture<HeldLocks> result) {
        return result.complete(this) ? CompletableFuture.completedFuture(null) : releaseLater(false);
    }

    /** Acquires the lock at this position, unless it was acquired with those before it. */
    private CompletableFuture<Void> acquireNext(int position, CompletableFuture<HeldLocks> result) {
        if (position < held.size()) {
            return CompletableFuture.completedFuture(null);
        }
        at = position;
        LockContext next = wanted.get(position);
        return Futures.cancelWith(result, next.lease(left(next))).thenAccept(lease -> add(next, lease));
    }

    private void onReleased(Throwable trouble, CompletableFuture<HeldLocks> result) {
        if (trouble instanceof LockNotAcquiredException refused) {
            held.clear();
            refusal = refused;
            result.complete(this);
        } else if (trouble instanceof LockLostException && beginAgain()) {
            acquireAsync(result);
        } else {
            result.completeExceptionally(trouble);
        }
    }

    private void add(LockContext acquired, @Nullable Lease lease) {
        acquired.hold(lease);
        held.push(acquired);
        waited = wanted.size() > 1 ? elapsed() : waited;
    }

    private @Nullable LockLostException findLossBeforeTheCall() {
        return held.size() < 2
                ? null
                : findLoss("detected before all locks of the call were held; the method has not run");
    }

    /** Returns false if there is no time for it. */
    private boolean beginAgain() {
        held.clear();
        waited = elapsed();
        return wanted.stream().noneMatch(each -> left(each).isZero());
    }

    private Duration left(LockContext each) {
        Duration left = each.waitTime().minus(waited);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Duration elapsed() {
        return Duration.ofNanos(Timer.systemNanoTime() - since);
    }

    // --- all at once ------------------------------------------------------------------------------------------

    /** Whether each lock can be tried without waiting for the answer. */
    private boolean canTryAtOnce() {
        return wanted.size() > 1 && wanted.stream().allMatch(each -> each.lock() instanceof LockScope.OfLock);
    }

    /**
     * Tries each lock once, and requests a part before it waits for the first answer. Keeps the locks before the first
     * refused one.
     */
    private void tryAtOnce(boolean interruptible) throws InterruptedException {
        if (!canTryAtOnce() || interruptible && Thread.currentThread().isInterrupted()) {
            return;
        }
        Throwable trouble = null;
        while (trouble == null && held.size() < wanted.size()) {
            trouble = addAll(begin(nextPart(), next -> next.attempt(interruptible)));
        }
        if (trouble instanceof InterruptedException interrupt) {
            Thread.interrupted();
            throw interrupt;
        } else if (trouble instanceof LockNotAcquiredException) {
            removeThoseFrom(at).releaseAfter(trouble);
            waited = elapsed();
        } else if (trouble != null) {
            throw Futures.unchecked(trouble);
        }
    }

    /** As {@link #tryAtOnce}, but does not block. */
    private CompletableFuture<Void> tryAtOnceAsync(CompletableFuture<HeldLocks> result) {
        if (!canTryAtOnce() || held.size() == wanted.size()) {
            return CompletableFuture.completedFuture(null);
        }
        return tryNextPartAsync(result).thenCompose(trouble -> {
            if (trouble instanceof LockNotAcquiredException) {
                return removeThoseFrom(at).releaseLaterAfter(trouble).thenRun(() -> waited = elapsed());
            }
            return trouble == null ? tryAtOnceAsync(result) : CompletableFuture.failedFuture(trouble);
        });
    }

    private CompletableFuture<@Nullable Throwable> tryNextPartAsync(CompletableFuture<HeldLocks> result) {
        List<CompletableFuture<?>> requested = new ArrayList<>();
        List<Callable<@Nullable Lease>> attempts = begin(nextPart(), next -> {
            CompletableFuture<Lease> lease = Futures.cancelWith(result, next.attemptAsync());
            requested.add(lease);
            return lease::join;
        });
        return CompletableFuture.allOf(requested.toArray(CompletableFuture<?>[]::new))
                .handle((none, any) -> addAll(attempts));
    }

    /** The next locks that are not held. */
    private List<LockContext> nextPart() {
        return wanted.subList(held.size(), Math.min(held.size() + MOST_AT_ONCE, wanted.size()));
    }

    /**
     * Requests the locks in order. If a request fails to begin, the locks after it are not requested, and the last
     * element returned throws the failure.
     */
    private static List<Callable<@Nullable Lease>> begin(
            List<LockContext> part, Function<LockContext, Callable<@Nullable Lease>> attempt) {
        List<Callable<@Nullable Lease>> begun = new ArrayList<>(part.size());
        try {
            part.forEach(next -> begun.add(attempt.apply(next)));
        } catch (RuntimeException | Error failure) {
            begun.add(() -> {
                throw Futures.unchecked(failure);
            });
        }
        return begun;
    }

    /**
     * Adds each lock of the next part that was acquired. Returns the failure if not all were acquired; a refusal only
     * if there is no other failure. Sets the flag if interrupted.
     */
    private @Nullable Throwable addAll(List<Callable<@Nullable Lease>> attempts) {
        Throwable trouble = null;
        int first = held.size();
        for (int i = 0; i < attempts.size(); i++) {
            try {
                @Nullable Lease lease = attempts.get(i).call();
                add(wanted.get(first + i), lease);
            } catch (Throwable thrown) {
                Throwable failure = Futures.unwrap(thrown);
                if (failure instanceof InterruptedException) {
                    Thread.currentThread().interrupt(); // so that the waits for the other answers end, too
                }
                boolean refused = failure instanceof LockNotAcquiredException;
                if (trouble == null || trouble instanceof LockNotAcquiredException && !refused) {
                    trouble = failure;
                    at = first + i;
                }
            }
        }
        return trouble;
    }

    /** Removes the locks from this position on. */
    private HeldLocks removeThoseFrom(int position) {
        HeldLocks removed = new HeldLocks(List.of());
        while (held.size() > position) {
            removed.held.add(held.pop());
        }
        return removed;
    }

    // --- running ----------------------------------------------------------------------------------------------

    /**
     * Runs a body under the locks.
     *
     * @param inTransaction tells whether the thread is in a transaction; null if the locks are no {@link LockContext}s
     *     of the thread meanwhile
     */
    public <T extends @Nullable Object, E extends Throwable> T call(
            @Nullable BooleanSupplier inTransaction, Body<T, E> body) throws E {
        this.inTransaction = inTransaction;
        Deque<Runnable> exits = new ArrayDeque<>(size());
        begin();
        try {
            held.descendingIterator().forEachRemaining(each -> each.enter(this, exits));
            return body.run();
        } finally {
            exits.forEach(exit -> Failures.runAndLog("when the scopes of listeners ended", exit));
            end();
        }
    }

    /** The innermost first. */
    @Override
    public Stream<LockContext> shown() {
        return inTransaction != null ? held.stream() : Stream.empty();
    }

    /** If the locks cannot be acquired again, none is left, so that nothing is released or reported twice. */
    @Override
    public boolean yieldIfOthersWait() {
        List<String> names = shown().map(LockContext::name).toList();
        List<HeldByThread> newest =
                HeldByThread.all().filter(Lease.class::isInstance).limit(size()).toList();
        List<@Nullable Boolean> othersWait =
                newest.stream().map(HeldByThread::othersWait).toList();
        boolean alone = !names.isEmpty()
                && names.equals(
                        newest.stream().map(each -> ((Lease) each).name()).toList())
                && othersWait.stream().allMatch(Objects::nonNull);
        boolean transaction = Objects.requireNonNull(inTransaction).getAsBoolean();
        wanted.forEach(each -> each.requireYieldable(alone, transaction));
        if (!othersWait.contains(true)) {
            return false;
        }
        HeldLocks before = of(held);
        held.clear();
        before.release(true);
        HeldLocks after = acquire(wanted);
        if (after.refusal != null) {
            throw after.refusal;
        }
        held.addAll(after.held);
        return true;
    }

    /**
     * Runs a body and then releases all locks. What the body throws has a failure of the release as a suppressed
     * exception.
     *
     * @throws LockLostException if the body returned but a lock was lost while it ran
     */
    public <T extends @Nullable Object, E extends Throwable> T runAndRelease(Body<T, E> body) throws E {
        T result;
        try {
            result = body.run();
        } catch (Throwable failure) {
            releaseAfter(failure);
            throw failure;
        }
        release(true);
        return result;
    }

    /**
     * Starts a stage once the locks are acquired, and releases them when the stage has ended.
     *
     * @return completes after the release, as the stage did; cancelling it cancels the wait or the stage
     */
    public static <T extends @Nullable Object> CompletableFuture<T> runAndReleaseAsync(
            CompletableFuture<HeldLocks> acquiring, Function<HeldLocks, ? extends CompletionStage<T>> body) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Futures.cancelWith(result, acquiring)
                .thenCompose(held -> held.release(held.start(body, result)))
                .whenComplete((value, failure) -> Futures.complete(result, value, failure));
        return result;
    }

    /**
     * Starts a stage, unless the result is cancelled by then. {@return the work, which ends with the stage or the
     * result}
     */
    private <T extends @Nullable Object> CompletableFuture<T> start(
            Function<HeldLocks, ? extends CompletionStage<T>> body, CompletableFuture<T> result) {
        CompletableFuture<T> work = new CompletableFuture<>();
        if (result.isDone()) {
            work.cancel(false);
            return work;
        }
        try {
            CompletionStage<T> stage = Objects.requireNonNull(body.apply(this), "the action returned null for a stage");
            stage.whenComplete((value, failure) -> Futures.complete(work, value, failure));
            result.whenComplete((value, failure) -> {
                try {
                    Futures.cancel(stage);
                } finally {
                    work.cancel(false); // a future may refuse, as a minimal stage does
                }
            });
        } catch (Throwable failure) {
            work.completeExceptionally(failure);
        }
        return work;
    }

    /** {@return completes after the release, as the work did} */
    private <T extends @Nullable Object> CompletableFuture<T> release(CompletableFuture<T> work) {
        return work.handle((value, failure) -> failure == null ? releaseLater(true) : releaseLaterAfter(failure))
                .thenCompose(released -> released.thenCompose(none -> work));
    }

    /**
     * Passes the holds to a receiver, which may release them on any thread. If that fails, they are released.
     *
     * @throws LockLostException if one was lost
     */
    public void passTo(Consumer<HeldLocks> receiver) {
        List<LockContext> passed = new ArrayList<>(held);
        try {
            passed.replaceAll(LockContext::onAnyThread);
            receiver.accept(of(passed));
        } catch (Throwable failure) {
            of(passed).releaseAfter(failure);
            throw failure;
        }
    }

    // --- release ----------------------------------------------------------------------------------------------

    /**
     * Releases all locks in reverse order, even if a release fails: begins a part before it waits for the first answer.
     * A lock that is kept stays until its time is over.
     *
     * @throws RuntimeException the first failure, with the others suppressed
     */
    public void release(boolean succeeded) {
        Throwable first = null;
        Iterator<LockContext> left = held.iterator();
        while (left.hasNext()) {
            List<Runnable> begun = new ArrayList<>(Math.min(size(), MOST_AT_ONCE));
            while (left.hasNext() && begun.size() < MOST_AT_ONCE) {
                begun.add(left.next().beginRelease(succeeded));
            }
            for (Runnable each : begun) {
                try {
                    each.run();
                } catch (RuntimeException | Error failure) {
                    if (first == null) {
                        first = failure;
                    } else {
                        suppress(failure, first);
                    }
                }
            }
        }
        if (first != null) {
            throw Futures.unchecked(first);
        }
    }

    /** Releases all locks. If that fails, its exception is suppressed and added to the failure. */
    private void releaseAfter(Throwable failure) {
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
    public CompletableFuture<Void> releaseLater(boolean succeeded) {
        List<LockContext> all = List.copyOf(held);
        CompletableFuture<Void> released = CompletableFuture.completedFuture(null);
        for (int from = 0; from < all.size(); from += MOST_AT_ONCE) {
            List<LockContext> part = all.subList(from, Math.min(from + MOST_AT_ONCE, all.size()));
            CompletableFuture<Void> before = released;
            released = before.handle((none, failure) -> releaseLater(part, succeeded))
                    .thenCompose(Function.identity())
                    .thenCompose(none -> before);
        }
        return released;
    }

    private static CompletableFuture<Void> releaseLater(List<LockContext> part, boolean succeeded) {
        return CompletableFuture.allOf(
                part.stream().map(each -> each.releaseLater(succeeded)).toArray(CompletableFuture<?>[]::new));
    }

    /**
     * As {@link #releaseLater}, after a failure, to which a failure of the release is added as a suppressed exception.
     */
    public CompletableFuture<Void> releaseLaterAfter(Throwable failure) {
        return releaseLater(false).exceptionally(releaseFailure -> {
            suppress(Futures.unwrap(releaseFailure), failure);
            return null;
        });
    }
}
