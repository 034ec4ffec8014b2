package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.github.lockboot.LockScope.Body;
import io.github.lockboot.LockSet.Keep;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.Stopwatch;
import org.jspecify.annotations.Nullable;

/**
 * What came of taking a {@link LockSet}: the locks that are held, in the order in which they were taken, or a refusal, without
 * any lock. Not for applications.
 */
public final class HeldLocks {

    private final List<Hold> holds = new ArrayList<>(1);
    private final @Nullable LockNotAcquiredException refusal;
    private final int refusedAt;

    HeldLocks() {
        this(null, -1);
    }

    HeldLocks(@Nullable LockNotAcquiredException refusal, int refusedAt) {
        this.refusal = refusal;
        this.refusedAt = refusedAt;
    }

    private record Hold(Lease lease, @Nullable Keep keep, Stopwatch since) {

        /** How much longer it is kept. A lock that was lost is released at once, which throws. */
        private Duration left(boolean succeeded) {
            return keep == null || keep.onlyOnSuccess() && !succeeded || !lease.isValid()
                    ? Duration.ZERO
                    : since.leftOf(keep.time());
        }

        void release(boolean succeeded) {
            Duration left = left(succeeded);
            if (left.isZero()) {
                lease.close();
            } else {
                lease.closeAfter(left);
            }
        }

        CompletableFuture<Void> releaseLater(boolean succeeded) {
            Duration left = left(succeeded);
            CompletableFuture<Void> closed = lease.closeAfter(left);
            return left.isZero() ? closed : CompletableFuture.completedFuture(null);
        }

        Hold onAnyThread() {
            return lease instanceof ThreadHold own ? new Hold(own.lock().asLease(), keep, since) : this;
        }
    }

    void add(Lease lease, @Nullable Keep keep) {
        holds.add(new Hold(lease, keep, Stopwatch.start()));
    }

    int size() {
        return holds.size();
    }

    /** {@return why none is held; null if all are} */
    public @Nullable LockNotAcquiredException refusal() {
        return refusal;
    }

    /** {@return the position of the lock that was refused} */
    public int refusedAt() {
        return refusedAt;
    }

    /** {@return whether none is held} */
    public boolean isEmpty() {
        return holds.isEmpty();
    }

    /** {@return the last one taken; null if there is none} */
    public @Nullable LockContext innermost() {
        return holds.isEmpty() ? null : new LockContext(holds.get(holds.size() - 1).lease);
    }

    /**
     * {@return an exception for the first lock that may have been lost; null if all are held}
     *
     * @param reason of the exception
     */
    public @Nullable LockLostException findLoss(String reason) {
        for (Hold hold : holds) {
            Lease lease = hold.lease;
            if (!lease.isValid()) {
                try {
                    return new LockLostException(lease.name(), lease.fencingToken(), reason);
                } catch (LockLostException lost) {
                    return new LockLostException(lost.getLockName(), lost.getFencingToken(), reason);
                }
            }
        }
        return null;
    }

    /**
     * {@return the same holds, which any thread may release}
     *
     * @throws LockLostException if one was lost
     */
    public HeldLocks onAnyThread() {
        HeldLocks same = new HeldLocks();
        holds.forEach(hold -> same.holds.add(hold.onAnyThread()));
        return same;
    }

    // --- running under them -----------------------------------------------------------------------------------

    /**
     * Runs the action as part of all holds; each is then a {@link LockContext} of the thread.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param action what runs
     * @return what the action returns
     * @throws E what the action throws
     */
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> action) throws E {
        Body<T, E> all = action;
        for (Hold hold : lastFirst()) {
            Body<T, E> inner = all;
            all = () -> new LockContext(hold.lease).call(inner);
        }
        return all.run();
    }

    /** Runs the action as part of the only hold. */
    <T extends @Nullable Object, E extends Throwable> T scoped(Body<T, E> action) throws E {
        return LockScope.call(holds.get(0).lease, action);
    }

    /**
     * Runs the action and then releases all.
     *
     * @param <T> what the action returns
     * @param <E> what the action throws
     * @param action what runs
     * @return what the action returns
     * @throws LockLostException if the action returned but a lock was lost while it ran
     * @throws E what the action throws, with a failure of the release suppressed
     */
    public <T extends @Nullable Object, E extends Throwable> T runAndRelease(Body<T, E> action) throws E {
        T result;
        try {
            result = action.run();
        } catch (Throwable failure) {
            releaseAfter(failure);
            throw failure;
        }
        release(true);
        return result;
    }

    /**
     * Starts the action once the locks are taken, and releases them when its stage has ended, and only then completes.
     *
     * @param <T> what the stage completes with
     * @param taking completes with the locks or a refusal; cancelled with the result
     * @param action starts the work
     * @return completes with what the stage does; cancelling it cancels the wait or the stage
     */
    public static <T extends @Nullable Object> CompletableFuture<T> runAndReleaseAsync(
            CompletableFuture<HeldLocks> taking, Function<HeldLocks, CompletionStage<T>> action) {
        return StageRun.of(taking, action, HeldLocks::releaseLater);
    }

    // --- giving them back -------------------------------------------------------------------------------------

    /**
     * Gives all back, the last taken first, whatever becomes of one; or leaves it for as long as it is to be kept.
     *
     * @param succeeded whether what ran under them did
     * @throws RuntimeException the first failure, with the others suppressed
     */
    public void release(boolean succeeded) {
        RuntimeException first = null;
        for (Hold hold : lastFirst()) {
            try {
                hold.release(succeeded);
            } catch (RuntimeException failure) {
                if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /**
     * Gives all back after a failure.
     *
     * @param failure to which what goes wrong now is added
     */
    public void releaseAfter(Throwable failure) {
        try {
            release(false);
        } catch (RuntimeException releaseFailure) {
            failure.addSuppressed(releaseFailure);
        }
    }

    /**
     * As {@link #release}, without blocking.
     *
     * @param succeeded whether what ran under them did
     * @return completes when all are released, exceptionally if one was lost
     */
    public CompletableFuture<Void> releaseLater(boolean succeeded) {
        return CompletableFuture.allOf(
                lastFirst().stream().map(hold -> hold.releaseLater(succeeded)).toArray(CompletableFuture<?>[]::new));
    }

    /**
     * As {@link #releaseAfter}, without blocking.
     *
     * @param failure to which what goes wrong now is added
     * @return completes when all are released
     */
    public CompletableFuture<Void> releaseLaterAfter(Throwable failure) {
        return releaseLater(false).exceptionally(releaseFailure -> {
            failure.addSuppressed(Futures.unwrap(releaseFailure));
            return null;
        });
    }

    private List<Hold> lastFirst() {
        if (holds.size() < 2) {
            return holds;
        }
        List<Hold> reversed = new ArrayList<>(holds);
        Collections.reverse(reversed);
        return reversed;
    }
}
