package io.github.lockboot.aop;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockContext;
import io.github.lockboot.LockRuntime;
import io.github.lockboot.LockTemplate.Action;
import io.github.lockboot.NamedLock;
import org.jspecify.annotations.Nullable;

/** A lock that a call holds, until it is released once. */
sealed interface HeldLock {

    LockContext context();

    /** Runs the action as part of the hold. */
    <T extends @Nullable Object, E extends Throwable> T call(Action<T, E> action) throws E;

    /** The same hold, which any thread may release. */
    HeldLock onAnyThread();

    /**
     * Gives it back, or leaves it for as long as it is to be kept.
     *
     * @throws io.github.lockboot.LockLostException if it was lost
     */
    void release(boolean succeeded);

    /** As {@link #release}, without blocking where that is possible; a loss is in the future. */
    CompletableFuture<Void> releaseLater(boolean succeeded);

    /** Held by the thread; released by it. */
    record ByThread(NamedLock lock, LockContext context) implements HeldLock {

        @Override
        public <T extends @Nullable Object, E extends Throwable> T call(Action<T, E> action) throws E {
            return LockRuntime.call(context, action);
        }

        @Override
        public HeldLock onAnyThread() {
            return ByCall.of(lock.asLease(), null);
        }

        @Override
        public void release(boolean succeeded) {
            lock.unlock();
        }

        @Override
        public CompletableFuture<Void> releaseLater(boolean succeeded) {
            lock.unlock();
            return CompletableFuture.completedFuture(null);
        }
    }

    /** Held by the call. */
    record ByCall(
            Lease lease, LockContext context, @Nullable Keep keep, long since) implements HeldLock {

        static ByCall of(Lease lease, @Nullable Keep keep) {
            return new ByCall(lease, LockRuntime.contextOf(lease), keep, System.nanoTime());
        }

        @Override
        public <T extends @Nullable Object, E extends Throwable> T call(Action<T, E> action) throws E {
            return LockRuntime.call(context, action);
        }

        @Override
        public HeldLock onAnyThread() {
            return this;
        }

        @Override
        public void release(boolean succeeded) {
            Duration left = left(succeeded);
            if (left.isZero()) {
                lease.close();
            } else {
                lease.closeAfter(left);
            }
        }

        @Override
        public CompletableFuture<Void> releaseLater(boolean succeeded) {
            Duration left = left(succeeded);
            CompletableFuture<Void> closed = lease.closeAfter(left);
            return left.isZero() ? closed : CompletableFuture.completedFuture(null);
        }

        /** How much longer it is kept; a lock that was lost is released at once, which tells of the loss. */
        private Duration left(boolean succeeded) {
            return keep == null || !lease.isValid() ? Duration.ZERO : keep.left(since, succeeded);
        }
    }
}
