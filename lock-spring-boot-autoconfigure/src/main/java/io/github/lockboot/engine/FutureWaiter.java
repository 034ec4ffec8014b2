package io.github.lockboot.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.lockboot.Lease;
import io.github.lockboot.LockListener;
import io.github.lockboot.engine.Hold.HeldLease;
import io.github.lockboot.engine.LeaseTime.State;
import io.github.lockboot.engine.LockRequest.Transfer;
import io.github.lockboot.internal.CallSite;
import io.github.lockboot.internal.Timer;
import org.jspecify.annotations.Nullable;

/**
 * A future, which completes on a worker, because its dependents may block.
 *
 * <p>In words: once it is in the line, the future has a task at its deadline, which is repeated every command timeout
 * until the future is done. When the name has decided, a worker looks at the outcome. It claims an offered hold if the
 * lease still runs, and completes the future; otherwise the name takes the hold back, and the future waits again. If
 * the caller has cancelled the future meanwhile, the hold is released at once.
 *
 * <p>When the future is done in any other way, it leaves the line. If the name has decided it by then, it waits at most
 * for the answer that is under way.
 */
final class FutureWaiter extends Waiter {

    /** Null once it has the lease, because nothing may lead from a hold to its lease. */
    private volatile @Nullable CompletableFuture<Lease> future = new CompletableFuture<>();

    private final @Nullable Transfer transfer;

    /** Null if the lease is not renewed: then it need not be closed. */
    private final @Nullable Supplier<String> acquiredAt;

    /** @param transfer what it takes over; null if it acquires the lock */
    FutureWaiter(EngineContext context, LockRequest request, @Nullable UseNotifier use, @Nullable Transfer transfer) {
        super(context, request, use, null);
        this.transfer = transfer;
        this.acquiredAt = request.terms().renew() ? CallSite.current() : null;
    }

    @Override
    @Nullable
    Transfer transfer() {
        return transfer;
    }

    /** Called before it enters the line. */
    CompletableFuture<Lease> future() {
        return Objects.requireNonNull(future);
    }

    /** Waits in the line of the name that it has entered. */
    void start(CompletableFuture<Lease> future) {
        if (!future.isDone()) {
            long first = isWaiting() ? timeToDecide() : context.commandTimeout();
            Timer.Task atDeadline = context.repeat(first, context.commandTimeout(), this::onTime);
            future.whenComplete((value, failure) -> atDeadline.cancel());
        }
        future.whenComplete((value, failure) -> {
            if (!decider().leave(this)) {
                setLastCall();
            }
        });
    }

    private void onTime() {
        if (isWaiting()) {
            decider().leaveAtDeadline(this);
        } else {
            wake();
        }
    }

    @Override
    void wake() {
        context.runLater(this::checkOutcome);
    }

    private void checkOutcome() {
        CompletableFuture<Lease> waiting = future;
        if (waiting == null) {
            return;
        }
        try {
            Outcome decided = outcome();
            if (decided instanceof Hold granted) {
                onGrant(granted, waiting);
            } else if (decided != Plain.WAITING && waiting.isCancelled()) {
                report(use -> use.ended(LockListener::abandoned));
            } else if (decided != Plain.WAITING) {
                conclude();
                waiting.completeExceptionally(refusal());
            }
        } catch (Throwable thrown) {
            waiting.completeExceptionally(thrown);
            if (waiting.isCompletedExceptionally()) { // else its dependents have the lease
                withdraw();
            }
        }
    }

    private void onGrant(Hold granted, CompletableFuture<Lease> waiting) {
        if (granted.lease() != State.RUNNING) {
            decider().settleNow();
        } else if (granted.claim()) {
            conclude();
            future = null;
            if (!waiting.complete(lend(new HeldLease(granted)))) {
                granted.closeAfter(Duration.ZERO);
            }
        }
    }

    @Override
    String whyLost(String whyEnded) {
        return canUseLock() || acquiredAt == null
                ? whyEnded
                : "its lease was not closed and is no longer referenced: close the lease that is acquired at "
                        + acquiredAt.get();
    }
}
