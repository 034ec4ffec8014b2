package io.github.lockboot.redis.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import io.github.lockboot.internal.Timer;
import io.github.lockboot.redis.protocol.StackReserve;

/**
 * A wait by a future. What decides it runs on a worker, because the future's dependents do too.
 *
 * @param <T> what the future completes with: the lease, or for one who follows nothing if a holder has completed
 */
final class FutureWait<T> {

    private final LockEngine engine;
    private final EngineContext context;
    private final long start;
    private final CompletableFuture<T> future = new CompletableFuture<>();
    private final Function<Optional<Lease>, T> result;
    private final Waiter waiter;
    private final AtomicInteger decisions = new AtomicInteger();
    private int looks;

    private FutureWait(LockEngine engine, LockRequest request, Function<Optional<Lease>, T> result) {
        StackReserve.check();
        this.engine = engine;
        this.context = engine.context();
        this.start = context.nanoTime();
        this.result = result;
        this.waiter = Waiter.callback(request, engine.requested(request, null), this::onWakeUp);
    }

    static CompletableFuture<Lease> acquire(LockEngine engine, LockRequest request) {
        return new FutureWait<>(engine, request, Optional::orElseThrow).enter();
    }

    /** As {@link #acquire}, but empty once a holder has completed. */
    static CompletableFuture<Optional<Lease>> acquireOrFollow(LockEngine engine, LockRequest request) {
        return new FutureWait<Optional<Lease>>(engine, request.following(), Function.identity()).enter();
    }

    private CompletableFuture<T> enter() {
        try {
            LocalQueue queue = engine.enter(waiter);
            if (waiter.isWaiting()) {
                long timeout = context.commandTimeout();
                long first = waiter.request().triesOnce()
                        ? timeout
                        : waiter.request().waitNanos();
                Timer.Task looking = context.repeat(first, timeout, () -> lookAtDeadlineAndAfter(queue));
                future.whenComplete((lease, failure) -> looking.cancel());
            }
            future.whenComplete((lease, failure) -> queue.abandon(waiter));
            return future;
        } catch (Throwable thrown) { // the caller has no future that would ever tell
            withdraw(thrown);
            throw thrown;
        }
    }

    private void withdraw(Throwable thrown) {
        waiter.leaveBehind();
        engine.withdraw(waiter, thrown);
        waiter.concludeThrown();
    }

    /** A future learns how it was decided from a worker; should that be lost with something that was thrown, it is found out here. */
    private void lookAtDeadlineAndAfter(LocalQueue queue) {
        boolean triesOnce = waiter.request().triesOnce();
        int before = looks++;
        if (future.isDone()) {
            return;
        }
        if (!waiter.isWaiting()) {
            if (before > 0) {
                onWakeUp();
            }
        } else if (before >= (triesOnce ? 1 : 2)) {
            queue.giveUp(waiter);
        } else if (!triesOnce) {
            queue.leaveAtDeadline(waiter);
        }
    }

    /** There may be many followers, and what they do next is quick. */
    private void onWakeUp() {
        if (waiter.outcome() == Waiter.Plain.COMPLETED) {
            context.runInTurn(this::lookAtOutcome);
        } else {
            context.runLater(this::lookAtOutcome);
        }
    }

    /** Once for each wake-up, one after the other. */
    private void lookAtOutcome() {
        if (decisions.getAndIncrement() > 0) {
            return;
        }
        try {
            do {
                onDecision();
            } while (decisions.decrementAndGet() > 0);
        } catch (Throwable thrown) {
            decisions.set(0);
            future.completeExceptionally(thrown);
            if (future.isCompletedExceptionally()) { // else its dependents have the lease
                withdraw(thrown);
            }
        }
    }

    private void onDecision() {
        Waiter.Outcome outcome = waiter.outcome();
        if (outcome == Waiter.Plain.WAITING) {
            return;
        }
        if (outcome instanceof Hold granted) {
            onGrant(granted);
        } else if (outcome == Waiter.Plain.COMPLETED) {
            waiter.use().followed();
            future.complete(result.apply(Optional.empty()));
        } else if (outcome == Waiter.Plain.REFUSED && future.isCancelled()) {
            waiter.use().abandoned();
        } else {
            future.completeExceptionally(failure());
        }
    }

    private RuntimeException failure() {
        try {
            waiter.conclude(context.log());
            Duration waited = Duration.ofNanos(context.nanoTime() - start);
            return new LockNotAcquiredException(waiter.request().name(), waited);
        } catch (LockUnavailableException unavailable) {
            return unavailable;
        }
    }

    private void onGrant(Hold granted) {
        if (!granted.isCertain()) {
            granted.takeBackFrom(waiter);
        } else if (granted.claim()) {
            waiter.conclude(context.log());
            if (!future.complete(result.apply(Optional.of(granted)))) {
                granted.closeAfter(Duration.ZERO);
            }
        }
    }
}
