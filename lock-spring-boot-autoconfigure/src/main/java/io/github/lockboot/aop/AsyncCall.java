package io.github.lockboot.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockboot.HeldLocks;
import io.github.lockboot.LockSet;
import io.github.lockboot.aop.LockDefinition.Needed;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * All locks of a call, held until the stage completes that the method returns.
 *
 * @param waits whether the calling thread is there to run the body, as that of {@code @Async} is, and waits for the locks
 */
record AsyncCall(boolean waits) implements CallStrategy {

    @Override
    public Object invoke(LockedCall call, MethodInvocation invocation) {
        CompletableFuture<HeldLocks> taking;
        List<Needed> needed;
        try {
            needed = call.needed(invocation);
            List<LockSet.Wanted> locks = Needed.locks(needed, true);
            taking = waits ? CompletableFuture.completedFuture(LockSet.take(locks)) : LockSet.takeAsync(locks);
        } catch (RuntimeException refused) {
            return CompletableFuture.failedFuture(refused);
        }
        return HeldLocks.<@Nullable Object>runAndReleaseAsync(taking, held -> stage(call, invocation, needed, held));
    }

    @SuppressWarnings("unchecked") // a stage of whatever the method gives
    private static CompletionStage<@Nullable Object> stage(
            LockedCall call, MethodInvocation invocation, List<Needed> needed, HeldLocks held) {
        try {
            Object stage = call.run(invocation, needed, held);
            return stage != null ? (CompletionStage<@Nullable Object>) stage : CompletableFuture.completedFuture(null);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }
}
