package io.github.lockboot;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * One asynchronous action under a lease: acquire, act, release, and only then the result. However the result is completed, the
 * lease is released, and only once the stage or its wait has ended.
 */
final class LeasedStage<T extends @Nullable Object> {

    private final Supplier<? extends CompletionStage<T>> action;
    private final Function<Lease, CompletableFuture<Void>> whenDone;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    private LeasedStage(
            Supplier<? extends CompletionStage<T>> action, Function<Lease, CompletableFuture<Void>> whenDone) {
        this.action = action;
        this.whenDone = whenDone;
    }

    /** @param whenDone releases the lease after a result, without blocking; after a failure it is closed */
    static <T extends @Nullable Object> CompletableFuture<T> run(
            CompletableFuture<Lease> acquiring,
            Supplier<? extends CompletionStage<T>> action,
            Function<Lease, CompletableFuture<Void>> whenDone) {
        LeasedStage<T> call = new LeasedStage<>(action, whenDone);
        acquiring.whenComplete((lease, failure) -> {
            if (failure != null) {
                call.result.completeExceptionally(Steps.unwrap(failure));
            } else {
                call.act(lease);
            }
        });
        call.result.whenComplete((value, failure) -> acquiring.cancel(false));
        return call.result;
    }

    private void act(Lease lease) {
        CompletableFuture<T> work = new CompletableFuture<>();
        work.whenComplete((value, failure) -> release(lease, value, failure));
        if (result.isDone()) {
            work.cancel(false);
            return;
        }
        try {
            CompletionStage<T> stage = Objects.requireNonNull(
                    LockRuntime.<CompletionStage<T>, RuntimeException>scoped(lease, action::get),
                    "the action returned null for a stage");
            stage.whenComplete((value, failure) -> complete(work, value, failure));
            result.whenComplete((value, failure) -> cancel(stage, work));
        } catch (Throwable failure) {
            work.completeExceptionally(failure);
        }
    }

    /** Does nothing to a stage that has completed. */
    private void cancel(CompletionStage<T> stage, CompletableFuture<T> work) {
        try {
            if (stage instanceof Future<?> future) {
                future.cancel(true);
            }
        } finally {
            work.cancel(false); // a future may refuse, as a minimal stage does
        }
    }

    private void release(Lease lease, @Nullable T value, @Nullable Throwable failure) {
        release(lease, failure == null).whenComplete((none, releaseFailure) -> {
            if (failure != null && releaseFailure != null) {
                failure.addSuppressed(Steps.unwrap(releaseFailure));
            }
            complete(result, value, failure != null ? failure : releaseFailure);
        });
    }

    /** Does not block: the stage may have completed on a thread on which the answer to the release arrives. */
    private CompletableFuture<Void> release(Lease lease, boolean succeeded) {
        try {
            return succeeded ? whenDone.apply(lease) : lease.closeAfter(Duration.ZERO);
        } catch (RuntimeException | Error failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private static <T extends @Nullable Object> void complete(
            CompletableFuture<T> future, @Nullable T value, @Nullable Throwable failure) {
        if (failure == null) {
            future.complete(value);
        } else {
            future.completeExceptionally(Steps.unwrap(failure));
        }
    }
}
