package io.github.lockboot;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.HeldByThread;
import io.github.lockboot.internal.Unexpected;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of acquiring some locks: the locks that are held, or a refusal and no lock. Runs code under the locks, and
 * releases them. Not for applications.
 */
public final class HeldLocks extends HeldByThread implements LockContext.Scope {

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
            LockContext.@Nullable Keep keep) {

        Wanted(NamedLock lock, @Nullable Function<Duration, CompletableFuture<Lease>> leasing) {
            this(lock, null, leasing, null);
        }
    }

    /** What runs under the locks. */
    public interface Body<T extends @Nullable Object, E extends Throwable> {

        T run() throws E;
    }

    /** The last one taken comes first. */
    private final Deque<LockContext> holds = new ArrayDeque<>(1);

    /** Whether the code that runs under them can ask for them. */
    private boolean shown;

    private final @Nullable LockNotAcquiredException refusal;
    private final int refusedAt;

    HeldLocks() {
        this(null, -1);
    }

    HeldLocks(@Nullable LockNotAcquiredException refusal, int refusedAt) {
        this.refusal = refusal;
        this.refusedAt = refusedAt;
    }

    void add(LockContext hold) {
        holds.push(hold);
    }

    /** Removes all but the first ones that were acquired. {@return the others} */
    HeldLocks removeAllBut(int first) {
        HeldLocks others = new HeldLocks();
        while (holds.size() > first) {
            others.holds.add(holds.pop());
        }
        return others;
    }

    public int size() {
        return holds.size();
    }

    /** Null if all locks are held. */
    public @Nullable LockNotAcquiredException refusal() {
        return refusal;
    }

    /** The position of the lock that was refused. */
    public int refusedAt() {
        return refusedAt;
    }

    /** The lock that was taken last; null if there is none. */
    public @Nullable LockContext innermost() {
        return holds.peek();
    }

    @Override
    public @Nullable LockLostException findLoss(String reason) {
        for (LockContext hold : holds) {
            if (!hold.isValid()) {
                return hold.lost(reason);
            }
        }
        return null;
    }

    /**
     * Gives the holds to an owner who may release them on any thread. If that fails, they are released.
     *
     * @throws LockLostException if one was lost
     */
    public void giveTo(Consumer<HeldLocks> owner) {
        HeldLocks given = new HeldLocks();
        given.holds.addAll(holds);
        try {
            for (LockContext hold : holds) {
                given.holds.add(hold.onAnyThread());
                given.holds.remove();
            }
            owner.accept(given);
        } catch (Throwable failure) {
            given.releaseAfter(failure);
            throw failure;
        }
    }

    // --- running ----------------------------------------------------------------------------------------------

    /** Runs a body under the locks; each is then a {@link LockContext} of the thread. */
    public <T extends @Nullable Object, E extends Throwable> T call(Body<T, E> body) throws E {
        shown = true;
        return callInside(body);
    }

    /** As {@link #call}, without a {@link LockContext} of the thread. */
    <T extends @Nullable Object, E extends Throwable> T callInside(Body<T, E> body) throws E {
        Deque<Runnable> exits = new ArrayDeque<>(holds.size());
        begin();
        try {
            holds.descendingIterator().forEachRemaining(hold -> hold.enter(exits));
            return body.run();
        } finally {
            exits.forEach(exit -> Unexpected.attempt("when the scopes of listeners ended", exit));
            end();
        }
    }

    /** The innermost first. */
    @Override
    public Stream<LockContext> shown() {
        return shown ? holds.stream() : Stream.empty();
    }

    /**
     * Runs a body and then releases all locks. What the body throws has a failure of the release as a suppressed exception.
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
     * Starts a stage once the locks are taken, and releases them when the stage has ended.
     *
     * @return completes after the release, as the stage did; cancelling it cancels the wait or the stage
     */
    public static <T extends @Nullable Object> CompletableFuture<T> runAndReleaseAsync(
            CompletableFuture<HeldLocks> taking, Function<HeldLocks, ? extends CompletionStage<T>> body) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Futures.cancelWith(result, taking).whenComplete((held, failure) -> {
            if (failure != null) {
                result.completeExceptionally(Futures.unwrap(failure));
            } else {
                held.runAndRelease(result, body);
            }
        });
        return result;
    }

    private <T extends @Nullable Object> void runAndRelease(
            CompletableFuture<T> result, Function<HeldLocks, ? extends CompletionStage<T>> body) {
        CompletableFuture<T> work = new CompletableFuture<>();
        work.whenComplete((value, failure) -> {
            CompletableFuture<Void> released = failure == null ? releaseLater(true) : releaseLaterAfter(failure);
            released.whenComplete((none, loss) -> Futures.complete(result, value, failure != null ? failure : loss));
        });
        if (result.isDone()) {
            work.cancel(false);
            return;
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
    }

    // --- releasing --------------------------------------------------------------------------------------------

    /**
     * Releases all locks in reverse order, even if a release fails: begins each before it waits for the first answer. A lock that is kept
     * stays until its time is over.
     *
     * @throws RuntimeException the first failure, with the others suppressed
     */
    public void release(boolean succeeded) {
        Throwable first = null;
        holds.forEach(hold -> hold.beginRelease(succeeded));
        for (LockContext hold : holds) {
            try {
                hold.release();
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
    public void releaseAfter(Throwable failure) {
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
        return CompletableFuture.allOf(
                holds.stream().map(hold -> hold.releaseLater(succeeded)).toArray(CompletableFuture<?>[]::new));
    }

    /** Releases all locks as {@link #releaseAfter} does, but does not block. */
    public CompletableFuture<Void> releaseLaterAfter(Throwable failure) {
        return releaseLater(false).exceptionally(releaseFailure -> {
            suppress(Futures.unwrap(releaseFailure), failure);
            return null;
        });
    }
}
