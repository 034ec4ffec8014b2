package io.github.lockboot.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** All locks of a call, held until the stage completes that the method returns. */
final class AsyncCall implements CallStrategy {

    private final boolean waits;

    /** @param waits whether the calling thread is there to run the body, as that of {@code @Async} is, and waits for the lock */
    AsyncCall(boolean waits) {
        this.waits = waits;
    }

    @Override
    public Object invoke(LockedCall call, MethodInvocation invocation) {
        CompletableFuture<Attempt> acquisition;
        try {
            List<WantedLock> wanted = call.wanted(invocation);
            acquisition = waits ? AsyncAcquisition.await(wanted) : AsyncAcquisition.begin(wanted);
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
        CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
        cancelWith(result, acquisition);
        acquisition.whenComplete((attempt, failure) -> {
            if (failure != null) {
                result.completeExceptionally(HeldLocks.unwrap(failure));
            } else if (result.isDone()) {
                attempt.releaseLater(false);
            } else {
                follow(call, invocation, attempt, result);
            }
        });
        return result;
    }

    private static void follow(
            LockedCall call, MethodInvocation invocation, Attempt attempt, CompletableFuture<@Nullable Object> result) {
        CompletableFuture<?> body = body(call, invocation, attempt);
        cancelWith(result, body);
        body.whenComplete((value, failure) -> attempt.releaseLater(failure == null)
                .whenComplete((released, releaseFailure) -> {
                    Throwable first = failure != null ? failure : releaseFailure;
                    if (first == null) {
                        result.complete(value);
                        return;
                    }
                    Throwable cause = HeldLocks.unwrap(first);
                    if (failure != null && releaseFailure != null) {
                        cause.addSuppressed(HeldLocks.unwrap(releaseFailure));
                    }
                    result.completeExceptionally(cause);
                }));
    }

    private static CompletableFuture<?> body(LockedCall call, MethodInvocation invocation, Attempt attempt) {
        try {
            Object stage = attempt instanceof Attempt.Refusal refusal
                    ? refusal.resolve(invocation)
                    : call.proceed(invocation, (HeldLocks) attempt);
            return stage != null
                    ? ((CompletionStage<?>) stage).toCompletableFuture()
                    : CompletableFuture.completedFuture(null);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private static void cancelWith(CompletableFuture<?> result, CompletableFuture<?> underWay) {
        result.whenComplete((value, failure) -> {
            if (result.isCancelled()) {
                underWay.cancel(true);
            }
        });
    }
}
