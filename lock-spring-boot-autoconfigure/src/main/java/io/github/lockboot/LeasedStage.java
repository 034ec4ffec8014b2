package io.github.lockboot;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * One asynchronous action under a lease: acquire, act, release, and only then the result. However the result is completed, the
 * lease is released, and only once the stage or its wait has ended.
 */
final class LeasedStage<T extends @Nullable Object> {

    private final Supplier<? extends CompletionStage<T>> action;
    private final Consumer<Lease> whenDone;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    private LeasedStage(Supplier<? extends CompletionStage<T>> action, Consumer<Lease> whenDone) {
        this.action = action;
        this.whenDone = whenDone;
    }

    /** @param whenDone how the lease is released after a result; after a failure it is closed */
    static <T extends @Nullable Object> CompletableFuture<T> run(
            CompletableFuture<Lease> acquiring,
            Supplier<? extends CompletionStage<T>> action,
            Consumer<Lease> whenDone) {
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
        // A release may wait for Redis, on whose thread the stage may have completed.
        work.whenCompleteAsync((value, failure) -> release(lease, value, failure));
        if (result.isDone()) {
            work.cancel(false);
            return;
        }
        try {
            CompletionStage<T> stage = Objects.requireNonNull(
                    lease.<CompletionStage<T>, RuntimeException>call(action::get),
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
        Throwable outcome = failure;
        try {
            if (failure == null) {
                whenDone.accept(lease);
            } else {
                lease.close();
            }
        } catch (RuntimeException releaseFailure) {
            if (outcome == null) {
                outcome = releaseFailure;
            } else {
                outcome.addSuppressed(releaseFailure);
            }
        }
        complete(result, value, outcome);
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
