package io.github.lockboot;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** Stages one after the other towards a result. A stage that fails ends them; cancelling the result cancels the one under way. */
final class Steps<T> {

    /** For what may block, after stages that complete on threads which must not. */
    static final Executor ELSEWHERE = Steps::runElsewhere;

    /** As many threads as are needed. Those of the common pool may all wait for what happens here. */
    private static final Executor WORKERS =
            new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(task, "lock-async");
                thread.setDaemon(true);
                return thread;
            });

    private final CompletableFuture<T> result = new CompletableFuture<>();
    private volatile @Nullable CompletionStage<?> underWay;

    Steps() {
        result.whenComplete((value, failure) -> cancel(underWay));
    }

    private static void runElsewhere(Runnable task) {
        try {
            WORKERS.execute(task);
        } catch (OutOfMemoryError noThread) {
            task.run();
        }
    }

    CompletableFuture<T> result() {
        return result;
    }

    /** Starts a stage and goes on where that completes. */
    <V extends @Nullable Object> void await(Supplier<? extends CompletionStage<V>> step, Consumer<? super V> next) {
        await(step, Runnable::run, next);
    }

    <V extends @Nullable Object> void await(
            Supplier<? extends CompletionStage<V>> step, Executor where, Consumer<? super V> next) {
        try {
            CompletionStage<V> stage = Objects.requireNonNull(step.get(), "null was returned for a stage");
            underWay = stage;
            stage.whenCompleteAsync((value, failure) -> goOn(value, failure, next), where);
            if (result.isDone()) {
                cancel(stage);
            }
        } catch (Throwable failure) {
            result.completeExceptionally(failure);
        }
    }

    private <V extends @Nullable Object> void goOn(
            @Nullable V value, @Nullable Throwable failure, Consumer<? super V> next) {
        if (failure != null) {
            result.completeExceptionally(unwrap(failure));
            return;
        }
        try {
            next.accept(value);
        } catch (Throwable thrown) {
            result.completeExceptionally(thrown);
        }
    }

    /** Does nothing to a stage that has completed. */
    private static void cancel(@Nullable CompletionStage<?> stage) {
        if (stage instanceof Future<?> future) {
            future.cancel(true);
        }
    }

    static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
