package io.github.lockboot.aop;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.github.lockboot.LockContext;
import io.github.lockboot.LockLostException;
import io.github.lockboot.LockTemplate.Action;
import org.jspecify.annotations.Nullable;

/** All locks of a call, in the order in which they were taken. */
final class HeldLocks implements Attempt {

    private final List<HeldLock> locks;

    /** Holds none yet; {@link #add} follows in the order of names. */
    HeldLocks(int expected) {
        locks = new ArrayList<>(expected);
    }

    void add(HeldLock lock) {
        locks.add(lock);
    }

    boolean isEmpty() {
        return locks.isEmpty();
    }

    /**
     * The same holds, which any thread may release.
     *
     * @throws io.github.lockboot.LockLostException if one was lost
     */
    HeldLocks onAnyThread() {
        HeldLocks same = new HeldLocks(locks.size());
        locks.forEach(lock -> same.add(lock.onAnyThread()));
        return same;
    }

    /** The last one taken; null if there is none. */
    @Nullable
    LockContext innermost() {
        return locks.isEmpty() ? null : locks.get(locks.size() - 1).context();
    }

    /** One that may have been lost; null if all are held. */
    @Nullable
    LockContext firstInvalid() {
        for (HeldLock lock : locks) {
            if (!lock.context().isValid()) {
                return lock.context();
            }
        }
        return null;
    }

    /**
     * Looks whether one of several was lost while the next was waited for.
     *
     * @throws LockLostException if so
     */
    void checkBeforeUse() {
        LockContext lost = locks.size() > 1 ? firstInvalid() : null;
        if (lost != null) {
            throw lossOf(lost);
        }
    }

    private static LockLostException lossOf(LockContext lost) {
        String reason = "before all locks of the call were held, so the method has not run";
        try {
            return new LockLostException(lost.name(), lost.fencingToken(), reason);
        } catch (LockLostException told) {
            return new LockLostException(told.getLockName(), told.getFencingToken(), reason);
        }
    }

    /** Runs the action with all of them as its context. */
    <T extends @Nullable Object, E extends Throwable> T call(Action<T, E> action) throws E {
        return call(0, action);
    }

    private <T extends @Nullable Object, E extends Throwable> T call(int index, Action<T, E> action) throws E {
        if (index == locks.size()) {
            return action.run();
        }
        return locks.get(index).call(index == locks.size() - 1 ? action : () -> call(index + 1, action));
    }

    /**
     * Gives all back, the last taken first, whatever becomes of one.
     *
     * @throws RuntimeException the first failure, with the others suppressed
     */
    void release(boolean succeeded) {
        RuntimeException failure = null;
        for (HeldLock lock : reversed()) {
            try {
                lock.release(succeeded);
            } catch (RuntimeException next) {
                failure = with(failure, next);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Gives all back after a failure, to which what goes wrong now is added. */
    void releaseAfter(Throwable failure) {
        try {
            release(false);
        } catch (RuntimeException releaseFailure) {
            failure.addSuppressed(releaseFailure);
        }
    }

    @Override
    public CompletableFuture<Void> releaseLater(boolean succeeded) {
        CompletableFuture<?>[] released =
                reversed().stream().map(lock -> lock.releaseLater(succeeded)).toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(released);
    }

    /** As {@link #releaseAfter}, without blocking. */
    CompletableFuture<Void> releaseLaterAfter(Throwable failure) {
        return releaseLater(false).exceptionally(releaseFailure -> {
            failure.addSuppressed(unwrap(releaseFailure));
            return null;
        });
    }

    static Throwable unwrap(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : null;
        return cause != null ? cause : failure;
    }

    private List<HeldLock> reversed() {
        List<HeldLock> reversed = new ArrayList<>(locks);
        Collections.reverse(reversed);
        return reversed;
    }

    private static RuntimeException with(@Nullable RuntimeException first, RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }
}
