package io.github.lockboot.aop;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** All locks of a call, taken by a thread that waits for them, for the time of the call. */
final class BlockingCall implements CallStrategy {

    @Override
    public @Nullable Object invoke(LockedCall call, MethodInvocation invocation) throws Throwable {
        Attempt attempt = BlockingAcquisition.take(call.wanted(invocation));
        if (attempt instanceof Attempt.Refusal refusal) {
            return refusal.resolve(invocation);
        }
        HeldLocks held = (HeldLocks) attempt;
        if (!held.isEmpty() && Transactions.isActive()) {
            handOver(call, held);
            return call.proceed(invocation, held);
        }
        Object result;
        try {
            result = call.proceed(invocation, held);
        } catch (Throwable failure) {
            held.releaseAfter(failure);
            throw failure;
        }
        held.release(true);
        return result;
    }

    private static void handOver(LockedCall call, HeldLocks held) {
        try {
            call.warnOfTransaction();
            Transactions.holdUntilCompletion(held);
        } catch (RuntimeException | Error failure) {
            held.releaseAfter(failure);
            throw failure;
        }
    }
}
