package io.github.lockboot.redis;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.github.lockboot.Lease;
import io.github.lockboot.LockNotAcquiredException;
import io.github.lockboot.LockUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * A wait for a lease by a future. What decides it runs on a worker, because the future's dependents do too.
 *
 * @param <T> what the future completes with: the lease, or for one who follows nothing if a holder has completed
 */
final class LeaseRequest<T> {

    private final LockEngine engine;
    private final String name;
    private final long start;
    private final CompletableFuture<T> future = new CompletableFuture<>();
    private final Function<Optional<Lease>, T> result;
    private final Waiter waiter;
    private final AtomicInteger decisions = new AtomicInteger();
    private int looks;

    private LeaseRequest(
            LockEngine engine,
            String name,
            @Nullable String group,
            Terms terms,
            long maxHoldNanos,
            Waiter.Patience patience,
            boolean follows,
            Function<Optional<Lease>, T> result) {
        Headroom.check();
        this.engine = engine;
        this.name = name;
        this.start = engine.nanoTime();
        this.result = result;
        Watch watch = engine.listeners().requested(name, group, null);
        this.waiter = Waiter.callback(terms, maxHoldNanos, patience, watch, follows, this::tell);
    }

    static CompletableFuture<Lease> make(
            LockEngine engine, String name, @Nullable String group, Terms terms, long maxHoldNanos, long waitNanos) {
        return new LeaseRequest<>(
                        engine, name, group, terms, maxHoldNanos, patience(waitNanos), false, Optional::orElseThrow)
                .enter(waitNanos);
    }

    /** As {@link #make}, but empty once a holder has completed. */
    static CompletableFuture<Optional<Lease>> follow(
            LockEngine engine, String name, @Nullable String group, Terms terms, long maxHoldNanos, long waitNanos) {
        engine.followChannel();
        return new LeaseRequest<Optional<Lease>>(
                        engine, name, group, terms, maxHoldNanos, patience(waitNanos), true, Function.identity())
                .enter(waitNanos);
    }

    private static Waiter.Patience patience(long waitNanos) {
        return waitNanos <= 0 ? Waiter.Patience.ONCE : Waiter.Patience.LIMITED;
    }

    private CompletableFuture<T> enter(long waitNanos) {
        try {
            LocalQueue queue = engine.enter(name, waiter);
            if (waiter.isWaiting()) {
                long timeout = engine.commandTimeout();
                Timer.Task looking = engine.repeat(
                        waiter.triesOnce() ? timeout : waitNanos, timeout, () -> lookAtDeadlineAndAfter(queue));
                future.whenComplete((lease, failure) -> looking.cancel());
            }
            future.whenComplete((lease, failure) -> queue.abandon(waiter));
            return future;
        } catch (Throwable thrown) { // the caller has no future that would ever tell
            withdraw(thrown);
            waiter.watch().unavailable();
            throw thrown;
        }
    }

    private void withdraw(Throwable thrown) {
        waiter.gone = true;
        engine.withdraw(name, waiter, thrown);
    }

    /** A future is told how it was decided; should that be lost with something that was thrown, it is found out here. */
    private void lookAtDeadlineAndAfter(LocalQueue queue) {
        int before = looks++;
        if (future.isDone()) {
            return;
        }
        if (!waiter.isWaiting()) {
            if (before > 0) {
                tell();
            }
        } else if (before >= (waiter.triesOnce() ? 1 : 2)) {
            queue.giveUp(waiter);
        } else if (!waiter.triesOnce()) {
            queue.leaveAtDeadline(waiter);
        }
    }

    /** There may be many followers, and what they do next is quick. */
    private void tell() {
        if (waiter.outcome() == Waiter.Plain.COMPLETED) {
            engine.runInTurn(this::decide);
        } else {
            engine.runLater(this::decide);
        }
    }

    /** Each time it is told so, one after the other. */
    private void decide() {
        if (decisions.getAndIncrement() > 0) {
            return;
        }
        try {
            do {
                onDecision();
            } while (decisions.decrementAndGet() > 0);
        } catch (Throwable thrown) {
            decisions.set(0);
            if (future.completeExceptionally(thrown)) {
                withdraw(thrown);
                waiter.watch().unavailable();
            }
        }
    }

    private void onDecision() {
        Waiter.Outcome outcome = waiter.outcome();
        if (outcome instanceof Hold granted) {
            onGrant(granted);
        } else if (outcome == Waiter.Plain.COMPLETED) {
            waiter.watch().followed();
            future.complete(result.apply(Optional.empty()));
        } else if (outcome instanceof Waiter.Failure failure) {
            waiter.watch().unavailable();
            engine.log().unavailable(name, failure.reason());
            future.completeExceptionally(new LockUnavailableException(name, failure.reason(), failure.cause()));
        } else if (outcome == Waiter.Plain.REFUSED) {
            if (future.isCancelled()) {
                waiter.watch().abandoned();
                return;
            }
            waiter.watch().notAcquired();
            engine.log().notAcquired(name);
            Duration waited = Duration.ofNanos(engine.nanoTime() - start);
            future.completeExceptionally(new LockNotAcquiredException(name, waited));
        }
    }

    private void onGrant(Hold granted) {
        if (!granted.isCertain()) {
            granted.queue().takeBackOverdue(waiter, granted);
        } else if (granted.claim()) {
            waiter.watch().acquired(granted);
            if (!future.complete(result.apply(Optional.of(granted)))) {
                granted.closeAfter(Duration.ZERO);
            }
        }
    }
}
