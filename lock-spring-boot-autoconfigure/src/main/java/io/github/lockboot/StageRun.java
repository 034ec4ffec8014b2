package io.github.lockboot;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.github.lockboot.internal.Futures;
import org.jspecify.annotations.Nullable;

/**
 * One asynchronous action under a hold: acquire, act, release, and only then the result. However the result is completed, the
 * hold is released, and only once the stage or its wait has ended.
 *
 * @param <H> the hold
 * @param <T> what the stage completes with
 */
final class StageRun<H, T extends @Nullable Object> {

    private final Function<H, ? extends CompletionStage<T>> action;
    private final BiFunction<H, Boolean, CompletableFuture<Void>> release;
    private final CompletableFuture<T> result = new CompletableFuture<>();

    private StageRun(
            Function<H, ? extends CompletionStage<T>> action, BiFunction<H, Boolean, CompletableFuture<Void>> release) {
        this.action = action;
        this.release = release;
    }

    /** @param release releases a hold after success or failure, without blocking */
    static <H, T extends @Nullable Object> CompletableFuture<T> of(
            CompletableFuture<H> acquiring,
            Function<H, ? extends CompletionStage<T>> action,
            BiFunction<H, Boolean, CompletableFuture<Void>> release) {
        StageRun<H, T> run = new StageRun<>(action, release);
        acquiring.whenComplete((hold, failure) -> {
            if (failure != null) {
                run.result.completeExceptionally(Futures.unwrap(failure));
            } else {
                run.act(hold);
            }
        });
        run.result.whenComplete((value, failure) -> acquiring.cancel(false));
        return run.result;
    }

    private void act(H hold) {
        CompletableFuture<T> work = new CompletableFuture<>();
        work.whenComplete((value, failure) -> release(hold, value, failure));
        if (result.isDone()) {
            work.cancel(false);
            return;
        }
        try {
            CompletionStage<T> stage =
                    Objects.requireNonNull(action.apply(hold), "the action returned null for a stage");
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

    private void release(H hold, @Nullable T value, @Nullable Throwable failure) {
        CompletableFuture<Void> released;
        try {
            released = release.apply(hold, failure == null);
        } catch (RuntimeException | Error thrown) {
            released = CompletableFuture.failedFuture(thrown);
        }
        released.whenComplete((none, releaseFailure) -> {
            if (failure != null && releaseFailure != null) {
                failure.addSuppressed(Futures.unwrap(releaseFailure));
            }
            complete(result, value, failure != null ? failure : releaseFailure);
        });
    }

    private static <T extends @Nullable Object> void complete(
            CompletableFuture<T> future, @Nullable T value, @Nullable Throwable failure) {
        if (failure == null) {
            future.complete(value);
        } else {
            future.completeExceptionally(Futures.unwrap(failure));
        }
    }
}
