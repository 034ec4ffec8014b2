package io.github.lockboot;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.lockboot.LockContext.Wanted;
import io.github.lockboot.internal.Failures;
import io.github.lockboot.internal.Futures;
import io.github.lockboot.internal.HeldByThread;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of acquiring some locks: the locks that are held, or a refusal and no lock. Runs code under the locks, and
 * releases them. Not for applications.
 */
public final class HeldLocks extends HeldByThread implements LockContext.Scope {

    /** What runs under the locks. */
    public interface Body<T extends @Nullable Object, E extends Throwable> {

        T run() throws E;
    }

    private final LockSet locks;

    /** Whether the code that runs under them sees them as {@link LockContext}s. */
    private boolean shown;

    HeldLocks(LockSet locks) {
        this.locks = locks;
    }

    /**
     * Acquires all locks on the current thread, or none. Each has the wait time of its options, counted from now.
     *
     * @return the locks, or the refusal if another holds one of them
     * @throws LockNotAcquiredException if the thread was interrupted; its flag is set again
     * @throws LockLostException if one was lost meanwhile and there is no time to acquire all again
     * @throws LockUnavailableException if the store is not available
     */
    public static HeldLocks acquire(List<Wanted> wanted) {
        LockSet locks = new LockSet(wanted);
        locks.acquire();
        return new HeldLocks(locks);
    }

    /**
     * Acquires all locks as {@link #acquire} does, but blocks no thread. All holds belong to the call.
     *
     * @return completes with the locks or the refusal; if it is cancelled, all locks are released
     */
    public static CompletableFuture<HeldLocks> acquireAsync(List<Wanted> wanted) {
        CompletableFuture<HeldLocks> result = new CompletableFuture<>();
        LockSet locks = new LockSet(wanted);
        locks.acquireAsync(result, new HeldLocks(locks));
        return result;
    }

    public int size() {
        return locks.held.size();
    }

    /** Null if all locks are held. */
    public @Nullable LockNotAcquiredException refusal() {
        return locks.refusal;
    }

    /** The position of the lock that was refused. */
    public int refusedAt() {
        return locks.at;
    }

    /** The lock that was acquired last; null if there is none. */
    public @Nullable LockContext innermost() {
        return locks.held.peek();
    }

    @Override
    public @Nullable LockLostException findLoss(String reason) {
        return locks.findLoss(reason);
    }

    /**
     * Passes the holds to a receiver, which may release them on any thread. If that fails, they are released.
     *
     * @throws LockLostException if one was lost
     */
    public void passTo(Consumer<HeldLocks> receiver) {
        List<LockContext> passed = new ArrayList<>(locks.held);
        try {
            passed.replaceAll(LockContext::onAnyThread);
            receiver.accept(new HeldLocks(LockSet.of(passed)));
        } catch (Throwable failure) {
            LockSet.of(passed).releaseAfter(failure);
            throw failure;
        }
    }

    // --- running ----------------------------------------------------------------------------------------------

    /**
     * Runs a body under the locks.
     *
     * @param visible whether each is a {@link LockContext} of the thread meanwhile
     */
    public <T extends @Nullable Object, E extends Throwable> T call(boolean visible, Body<T, E> body) throws E {
        shown = visible;
        Deque<Runnable> exits = new ArrayDeque<>(size());
        begin();
        try {
            locks.held.descendingIterator().forEachRemaining(each -> each.enter(exits));
            return body.run();
        } finally {
            exits.forEach(exit -> Failures.runAndLog("when the scopes of listeners ended", exit));
            end();
        }
    }

    /** The innermost first. */
    @Override
    public Stream<LockContext> shown() {
        return shown ? locks.held.stream() : Stream.empty();
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
            locks.releaseAfter(failure);
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
        Futures.cancelWith(result, acquiring).whenComplete((held, failure) -> {
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
     * Releases all locks in reverse order, even if a release fails. A lock that is kept stays until its time is over.
     *
     * @throws RuntimeException the first failure, with the others suppressed
     */
    public void release(boolean succeeded) {
        locks.release(succeeded);
    }

    /** Releases all locks as {@link #release} does, but does not block. */
    public CompletableFuture<Void> releaseLater(boolean succeeded) {
        return locks.releaseLater(succeeded);
    }

    /** As {@link #releaseLater}, after a failure, to which a failure of the release is added as a suppressed exception. */
    public CompletableFuture<Void> releaseLaterAfter(Throwable failure) {
        return locks.releaseLaterAfter(failure);
    }
}
