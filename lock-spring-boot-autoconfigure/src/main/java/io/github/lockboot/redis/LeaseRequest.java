package io.github.lockboot.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;

/** A wait for a lease by a future. What decides it runs on a worker, because the future's dependents do too. */
final class LeaseRequest {

    private final LockEngine engine;
    private final String name;
    private final long start;
    private final CompletableFuture<Lease> future = new CompletableFuture<>();
    private final Waiter waiter;

    private LeaseRequest(LockEngine engine, String name, Terms terms, long maxHoldNanos, Waiter.Patience patience) {
        this.engine = engine;
        this.name = name;
        this.start = engine.nanoTime();
        this.waiter = Waiter.callback(terms, maxHoldNanos, patience, () -> engine.runLater(this::onDecision));
    }

    static CompletableFuture<Lease> make(
            LockEngine engine, String name, Terms terms, long maxHoldNanos, long waitNanos) {
        Waiter.Patience patience = waitNanos <= 0 ? Waiter.Patience.ONCE : Waiter.Patience.LIMITED;
        LeaseRequest request = new LeaseRequest(engine, name, terms, maxHoldNanos, patience);
        LocalQueue queue = engine.enter(name, request.waiter);
        if (patience == Waiter.Patience.LIMITED) {
            Timer.Task timeout = engine.schedule(waitNanos, () -> queue.leaveAtDeadline(request.waiter));
            request.future.whenComplete((lease, failure) -> timeout.cancel());
        }
        request.future.whenComplete((lease, failure) -> queue.leave(request.waiter));
        return request.future;
    }

    private void onDecision() {
        Waiter.Outcome outcome = waiter.outcome();
        if (outcome instanceof Hold granted) {
            onGrant(granted);
        } else if (outcome instanceof Waiter.Failure failure) {
            future.completeExceptionally(new LockUnavailableException(name, failure.reason(), failure.cause()));
        } else if (outcome == Waiter.Plain.REFUSED) {
            Duration waited = Duration.ofNanos(engine.nanoTime() - start);
            future.completeExceptionally(new LockNotAcquiredException(name, waited));
        }
    }

    private void onGrant(Hold granted) {
        if (granted.isOver()) {
            granted.queue().takeBackOverdue(waiter, granted);
        } else if (granted.claim() && !future.complete(granted)) {
            granted.queue().release(granted);
        }
    }
}
